thing { 'a': ensure => present, mode => loud }
