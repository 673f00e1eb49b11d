Puppet::Type.newtype(:taken) do
  @doc = 'A file whose content comes from where Puppet has its own, as archive takes it.'
  newparam(:path, namevar: true)
  newparam(:source)
  newproperty(:ensure) do
    newvalue(:present) do
      found = Puppet::FileServing::Content.indirection.find(resource[:source])
      raise Puppet::Error, "nothing at #{resource[:source]}" unless found

      File.binwrite(resource[:path], found.content)
    end
    def retrieve = File.exist?(resource[:path]) ? :present : :absent
  end
end
