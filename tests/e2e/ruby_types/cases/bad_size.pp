thing { 'a': ensure => present, size => 'many' }
