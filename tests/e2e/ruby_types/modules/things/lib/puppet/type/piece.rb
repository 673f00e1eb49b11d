# A part of a `joined`, as concat_fragment is a part of concat_file.
Puppet::Type.newtype(:piece) do
  newparam(:name, namevar: true)
  newparam(:content)
end
