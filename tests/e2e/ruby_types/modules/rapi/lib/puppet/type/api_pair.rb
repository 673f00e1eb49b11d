require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'api_pair',
  desc: 'Two names.',
  title_patterns: [
    { pattern: %r{^(?<left>.*)/(?<right>.*)$}, desc: 'Both in one.' },
    { pattern: %r{^(?<left>.*)$}, desc: 'One.' },
  ],
  attributes: {
    ensure: { type: 'Enum[present, absent]', desc: 'Whether it is there.' },
    left: { type: 'String', desc: 'One name.', behaviour: :namevar },
    right: { type: 'String', desc: 'The other.', behaviour: :namevar },
    value: { type: 'Optional[Integer]', desc: 'A number.' },
  },
)
