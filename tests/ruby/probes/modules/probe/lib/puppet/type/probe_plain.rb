# A type with one parameter.
Puppet::Type.newtype(:probe_plain) do
  newparam(:name, namevar: true)
  newparam(:items)
end
