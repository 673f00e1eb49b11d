require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'api_sync',
  desc: 'Decides by itself.',
  features: ['custom_insync', 'supports_noop', 'odd'],
  attributes: {
    name: { type: 'String', desc: 'Its name.', behavior: :namevar },
    mode: { type: 'String', desc: 'What to say.', behaviour: :parameter, default: 'in' },
  },
)
