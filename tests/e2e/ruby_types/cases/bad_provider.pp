thing { 'a': ensure => present, provider => 'many' }
