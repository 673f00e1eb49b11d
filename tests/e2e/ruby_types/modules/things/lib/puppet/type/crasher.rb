# A type whose provider misbehaves.
Puppet::Type.newtype(:crasher) do
  newparam(:name, namevar: true)
  newproperty(:how)
end
