Puppet::Type.newtype(:web_site) do
  @doc = <<-DOC
    @summary A site on the machine.
    Of the older kind.

    @example
      web_site { 'x': ensure => present }
  DOC

  feature :vhosts, "Knows more than
    one name."

  ensurable do
    desc 'Whether it is there.'
    defaultvalues
  end

  newparam(:name) do
    desc 'The name of it, which is told in a line that is much longer than a hundred and twenty characters, so that it is broken.'
    isnamevar
  end

  newparam(:force, boolean: true, parent: Puppet::Parameter::Boolean) do
    desc 'No questions.'
    defaultto false
  end

  newproperty(:mode, required_features: :vhosts) do
    desc "How."
    newvalues(:fast, /^s.*w$/)
    aliasvalue(:quick, :fast)
    defaultto :fast
  end

  newproperty(:root) do
    defaultto ''
  end
end
