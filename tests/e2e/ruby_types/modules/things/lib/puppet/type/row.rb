# A line of a file.
Puppet::Type.newtype(:row) do
  ensurable
  newparam(:name, namevar: true)
  newproperty(:val)
  newproperty(:note)
  newproperty(:target) { defaultto { "#{ENV.fetch('WORK')}/rows" } }
end
