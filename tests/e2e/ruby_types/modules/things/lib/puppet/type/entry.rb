# A type whose instances are read together (prefetch) and written at the end (flush).
Puppet::Type.newtype(:entry) do
  ensurable
  feature :colourful, 'Has colours.'
  feature :shapely, 'Has shapes.', methods: [:shape]
  newparam(:name, namevar: true)
  newproperty(:members, array_matching: :all) { def insync?(is) = is.is_a?(Array) && is.sort == should.sort }
  newproperty(:colour, required_features: :colourful)
  newproperty(:shape, required_features: :shapely)
  newproperty(:on) { newvalues(:true, :false) }
end
