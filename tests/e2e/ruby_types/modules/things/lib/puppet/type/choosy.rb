# With providers of which one is right.
Puppet::Type.newtype(:choosy) do
  newparam(:name, namevar: true)
  newproperty(:by) { defaultto 'whom' }
end
