# A type with several providers, of which one is suitable.
Puppet::Type.newtype(:choosy) do
  newparam(:name, namevar: true)
  newproperty(:by) { defaultto 'whom' }
end
