require 'net/ftp' # defines the module Net, to which other code may add

# Logs its message at the loglevel of the resource.
Puppet::Type.newtype(:talker) do
  def initialize(*args)
    super
    self[:message] = "#{self[:message]}!"
  end
  newparam(:name, namevar: true) do
    validate { |name| raise ArgumentError, "no talker: #{name}" unless name.match?(TALKER_NAME) }
  end
  autorequire(:class) { 'around' }
  newproperty(:message) do
    defaultto { resource[:name] }
    def retrieve = :absent
    def insync?(_is) = false
    def sync
      # A fact without a value still exists.
      said = [resource[:noop].inspect, resource.noop?, resource[:audit].inspect, Facter.fact(:unsaid).value.inspect, Facter.fact(:nosuch).inspect]
      Puppet.send(resource[:loglevel], "#{should} #{said.join(" ")}")
    end
  end
end
