file { 'WORK/lines': content => '[{"name":"one","ensure":"present","text":"old","count":1,"on":true},{"name":"two","ensure":"present","text":"keep","count":1,"on":false},{"name":"three","ensure":"present","text":"x","count":1,"on":false,"kind":"b"}]', replace => false }
-> api_line { 'one': text => 'new', count => 2, flags => [] }
-> api_line { 'two': ensure => absent, text => 'keep' }
-> api_line { 'three': text => 'x', kind => 'a', on => false }
