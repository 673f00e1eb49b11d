thing { 'a': ensure => present, mode => 'nonsense' }
