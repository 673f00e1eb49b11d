# Whose provider does what none should.
Puppet::Type.newtype(:crasher) do
  newparam(:name, namevar: true)
  newproperty(:how)
end
