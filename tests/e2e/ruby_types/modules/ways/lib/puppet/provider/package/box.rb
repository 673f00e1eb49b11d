require 'puppet/provider/package'

# Packages are the lines "NAME VERSION" of a file. The newest version is 3.0.
Puppet::Type.type(:package).provide :box, parent: Puppet::Provider::Package do
  has_feature :versionable, :install_options

  def self.file = "#{ENV.fetch('WORK')}/boxes"
  def self.lines = File.exist?(file) ? File.readlines(file, chomp: true).map(&:split) : []
  def self.instances = lines.map { |name, version| new(name: name, ensure: version, provider: name()) }

  def query
    found = self.class.lines.assoc(@resource[:name])
    found && { name: found[0], ensure: found[1] }
  end

  def keep(version)
    others = self.class.lines.reject { |name, _| name == @resource[:name] }
    others << [@resource[:name], version, *join_options(@resource[:install_options])] if version
    File.write(self.class.file, others.map { |line| "#{line.join(' ')}\n" }.join)
  end

  def install
    raise Puppet::Error, 'the box is shut' if @resource[:source] == 'shut'

    keep(@resource.should(:ensure).is_a?(Symbol) ? '1.0' : @resource.should(:ensure))
  end

  def uninstall = keep(nil)
  def latest = '3.0'
  def update = keep('3.0')
end
