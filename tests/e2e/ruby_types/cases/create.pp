thing { 'a': ensure => present, size => 3, notify => Exec['e'] }
thing { 'b': ensure => present, size => 4, mode => 'loud', subscribe => Thing['a'] }
thing { 'z': ensure => present, loglevel => warning, alias => 'last' }
exec { 'e': command => '/bin/echo hi', refreshonly => true, require => Thing['last'] }
