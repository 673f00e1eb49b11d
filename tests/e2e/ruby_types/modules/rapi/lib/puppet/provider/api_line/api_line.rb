require 'json'
require 'puppet/resource_api/simple_provider'

class Puppet::Provider::ApiLine::ApiLine < Puppet::ResourceApi::SimpleProvider
  def file = "#{ENV['WORK']}/lines"
  def lines = File.exist?(file) ? JSON.parse(File.read(file), symbolize_names: true) : []

  def canonicalize(_context, resources)
    resources.each { |r| r[:text] = r[:text].downcase if r[:text].is_a?(String) }
  end

  def get(context, names = nil)
    context.debug("get #{names.inspect}")
    lines
  end

  def write(list) = File.write(file, JSON.generate(list.sort_by { |l| l[:name] }))

  def plain(should)
    should = should.transform_values { |v| v.respond_to?(:unwrap) ? v.unwrap : v }
    raise 'secret is no Sensitive' if should.key?(:secret) && !should[:secret].is_a?(String)

    should.reject { |k, _| %i[how secret].include?(k) }
  end

  def create(context, name, should)
    context.notice(name, "is made of #{should.keys.sort.join(' ')} #{should[:on].inspect} #{should[:secret].class}")
    raise 'it broke' if should[:text] == 'break'

    write(lines + [plain(should)])
  end

  def update(context, name, should)
    context.attribute_changed(name, :text, lines.find { |l| l[:name] == name }[:text], should[:text])
    write(lines.reject { |l| l[:name] == name } + [plain(should)])
  end

  def delete(_context, name) = write(lines.reject { |l| l[:name] == name })
end
