service { 'one': ensure => running, enable => true, provider => kept }
service { 'two': ensure => stopped, provider => kept }
service { 'three': enable => true, provider => kept }
notify { 'poke': }
~> service { 'four': ensure => running, hasrestart => true, provider => kept, require => Service['one'] }
notify { 'poke again': require => Service['four'] }
~> Service['one']
service { 'five': ensure => running, start => '/bin/false', provider => kept }
