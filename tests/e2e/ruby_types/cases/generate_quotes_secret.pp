piece { 'a': content => Sensitive('key: hunter22') }
piece { 'b': content => 'key: open' }
joined { 'j': }
