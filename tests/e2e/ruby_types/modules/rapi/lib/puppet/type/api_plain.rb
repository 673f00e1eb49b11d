require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'api_plain',
  desc: 'What a provider may do wrong.',
  attributes: {
    name: { type: 'String', desc: 'Its name.', behaviour: :namevar },
    size: { type: 'Integer', desc: 'A number.' },
    need: { type: 'Boolean', desc: 'Wanted.' },
  },
)
