Puppet::Type.type(:entry).provide(:list) do
  mk_resource_methods

  def self.file = "#{ENV.fetch('WORK')}/entries"

  def self.instances
    return [] unless File.exist?(file)

    File.readlines(file, chomp: true).map do |line|
      name, members, on = line.split(' ')
      new(name: name, ensure: :present, members: members.split(','), on: on.to_sym)
    end
  end

  def self.prefetch(resources)
    raise Puppet::Error, 'the list cannot be read' if File.exist?("#{file}.broken")

    instances.each { |i| resources[i.name].provider = i if resources[i.name] }
  end

  def exists? = @property_hash[:ensure] == :present
  def create = @property_hash = { name: resource[:name], ensure: :present, members: resource[:members], on: resource[:on] }
  def destroy = @property_hash[:ensure] = :absent

  def flush
    rest = self.class.instances.reject { |i| i.name == resource[:name] }.map { |i| i.instance_variable_get(:@property_hash) }
    rest << @property_hash if @property_hash[:ensure] == :present
    File.write(self.class.file, rest.map { |h| "#{h[:name] || resource[:name]} #{Array(h[:members]).join(',')} #{h[:on]}\n" }.sort.join)
  end
end
