# A type that evaluates the probes of the sections `type`, `provider`, `property` and `parameter`.
Puppet::Type.newtype(:probe) do
  @doc = 'Probes.'
  feature :featured, 'A feature.'
  feature :by_method, 'A feature by its methods.', methods: %i[special]
  ensurable
  newparam(:name, namevar: true) { desc 'The name.' }
  newparam(:script)
  newparam(:flag, boolean: true, parent: Puppet::Parameter::Boolean)
  newparam(:reference)
  newparam(:path_like, parent: Puppet::Parameter::Path)
  newparam(:choice) do
    desc 'A choice.'
    newvalues(:one, :two, /^three/)
    aliasvalue(:uno, :one)
    defaultto :two
  end
  newproperty(:run) do
    def retrieve = 'no'
    def probe(text) = eval(text)
    def insync?(is)
      is == should
    end
  end
  newproperty(:list, array_matching: :all) do
    def retrieve = %w[a b]
    def probe(text) = eval(text)
  end
  newproperty(:number) { munge { |v| Integer(v) } }
  newproperty(:featured_only, required_features: :featured)
  autorequire(:file) { ['/probe'] }
  validate { raise Puppet::Error, 'no x here' if self[:name] == 'x' }
  def probe(text) = eval(text)
  def self.probe(text) = eval(text)
end
