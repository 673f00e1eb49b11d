notify { 'early': }
api_line { 'one': text => 'Hello', count => 3, flags => ['x', 'y'], on => true, kind => 'a', how => 4 }
-> api_line { 'two': text => 'World', secret => Sensitive('pw') }
-> api_line { 'gone': ensure => absent, text => 'x' }
api_line { 'broken': text => 'break' }
notify { 'after broken': require => Api_line['broken'] }
