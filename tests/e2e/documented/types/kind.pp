type Web::Kind = Variant[
  Enum['a'],
  Struct[{ x => Integer }],
]
