require 'net/ftp' # opens the module Net, in whose name more may wait

# Says what it is to say, at the level of its resource.
Puppet::Type.newtype(:talker) do
  newparam(:name, namevar: true) do
    validate { |name| raise ArgumentError, "no talker: #{name}" unless name.match?(TALKER_NAME) }
  end
  autorequire(:class) { 'around' }
  newproperty(:message) do
    defaultto { resource[:name] }
    def retrieve = :absent
    def insync?(_is) = false
    def sync = Puppet.send(resource[:loglevel], "#{should} #{resource[:noop].inspect} #{resource.noop?}")
  end
end
