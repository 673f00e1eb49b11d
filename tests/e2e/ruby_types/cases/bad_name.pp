thing { 'a': ensure => present, nothing => 1 }
