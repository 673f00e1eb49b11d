require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'web_key',
  docs: <<-DOC,
    @summary A key, of the newer kind.
    It opens things.
  DOC
  features: [],
  attributes: {
    ensure: { type: 'Enum[present, absent]', desc: 'There or not.', default: 'present' },
    name: { type: 'Pattern[/\A\w+\z/]', desc: 'Its name.', behaviour: :namevar },
    bits: { type: 'Integer', desc: 'How long.', behaviour: :parameter, default: 2048 },
  },
)
