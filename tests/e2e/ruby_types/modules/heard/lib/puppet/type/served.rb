# Reads files through the functions of Puppet's file server.
Puppet::Type.newtype(:served) do
  newparam(:name, namevar: true)
  newproperty(:told) do
    def retrieve
      source = resource[:name]
      content = Puppet::FileServing::Content.indirection.find(source)
      metadata = Puppet::FileServing::Metadata.indirection.find(source)
      Puppet.notice("#{source}: #{content && metadata.ftype != 'directory' ? content.content.inspect : content.class}")
      if metadata
        checksum = metadata.ftype == 'directory' ? metadata.checksum.class : metadata.checksum
        Puppet.notice("#{metadata.ftype} #{metadata.checksum_type} #{metadata.mode.to_s(8)} #{checksum}")
      else
        Puppet.notice('no metadata')
      end
      'done'
    end
  end
end
