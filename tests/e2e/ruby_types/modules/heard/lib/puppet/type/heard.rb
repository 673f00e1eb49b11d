# Logs the source of its messages, and the class of a reference.
Puppet::Type.newtype(:heard) do
  newparam(:name, namevar: true)
  newparam(:p) do
    validate do |value|
      resource.warning('of the resource, in validate')
      Puppet.warning('of nobody')
      warning("of the parameter, #{value}")
    end
    munge do |value|
      warning('in munge')
      value
    end
  end
  newparam(:reference)
  newparam(:many)
  newproperty(:q) do
    def retrieve
      warning('in retrieve')
      'x'
    end

    def insync?(_is)
      # A log call returns a true value.
      warning('in insync?')
    end
  end
  newproperty(:told) do
    def retrieve
      [resource[:reference], resource[:many]].inspect
      one = resource[:reference]
      Puppet.notice("#{one.class} #{one.type} #{one.title} #{one.ref} #{resource[:many].map { |k, v| [k, v.map(&:to_s)] }}")
      Puppet.notice("#{resource[:require].map(&:to_s)} #{resource[:tag]} #{resource.tagged?('mine')} #{resource.tagged?('other')}")
      Puppet.notice(resource.pathbuilder.inspect)
      Puppet.notice(one.to_manifest.lines.first)
      'done'
    end
  end
  validate { warning('in validate of all') }
end
