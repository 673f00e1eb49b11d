thing { 'c': ensure => present }
-> thing { 'a': ensure => present, size => 5 }
~> thing { 'b': ensure => present, size => 'x', audit => 'size' }
-> notify { 'after': }
