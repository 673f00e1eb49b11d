require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'api_line',
  docs: 'A line of WORK/lines.',
  features: %w[canonicalize simple_get_filter],
  attributes: {
    ensure: { type: 'Enum[present, absent]', desc: 'Whether it is there.', default: 'present' },
    name: { type: 'Pattern[/\A\w+\z/]', desc: 'Its name.', behaviour: :namevar },
    text: { type: 'String', desc: 'What it says.' },
    count: { type: 'Integer[0, 9]', desc: 'A number.', default: 1 },
    flags: { type: 'Optional[Array[String]]', desc: 'Some words.' },
    on: { type: 'Boolean', desc: 'A switch.', default: false },
    kind: { type: 'Optional[Enum[a, b]]', desc: 'Set once.', behaviour: :init_only },
    how: { type: 'Optional[Variant[Integer, String]]', desc: 'A parameter.', behaviour: :parameter },
    seen: { type: 'Optional[Integer]', desc: 'How often.', behaviour: :read_only },
    secret: { type: 'Optional[Sensitive[String]]', desc: 'Hidden.' },
  },
  autorequire: { file: '$text', notify: ['early', '$kind'] },
)
