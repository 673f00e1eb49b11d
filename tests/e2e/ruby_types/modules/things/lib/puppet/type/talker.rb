require 'net/ftp' # opens the module Net, in whose name more may wait

# Says what it is to say, at the level of its resource.
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
      # A fact without a value is one all the same.
      said = [resource[:noop].inspect, resource.noop?, resource[:audit].inspect, Facter.fact(:unsaid).value.inspect, Facter.fact(:nosuch).inspect]
      Puppet.send(resource[:loglevel], "#{should} #{said.join(" ")}")
    end
  end
end
