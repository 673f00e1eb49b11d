class Puppet::Provider::ApiPair::ApiPair
  def file = "#{ENV['WORK']}/pairs"

  def get(_context)
    return [] unless File.exist?(file)

    File.readlines(file, chomp: true).map do |line|
      left, right, value = line.split
      { title: "#{left}/#{right}", ensure: 'present', left: left, right: right, value: value&.to_i }
    end
  end

  def set(context, changes)
    changes.each do |name, change|
      context.notice("#{name.inspect}: #{change[:is].inspect} -> #{change[:should].inspect}")
      list = get(context).reject { |r| r[:left] == name[:left] && r[:right] == name[:right] }
      list << change[:should] if change[:should][:ensure] == 'present'
      File.write(file, list.map { |r| "#{r[:left]} #{r[:right]} #{r[:value]}\n" }.join)
    end
  end
end
