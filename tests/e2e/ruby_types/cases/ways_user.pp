user { 'ann': uid => 100, comment => 'Ann', shell => '/bin/sh', password => 'secret' }
user { 'bob': ensure => present, uid => '200', managehome => false, provider => listed }
-> exec { '/bin/sed -i s/:200:/:201:/ WORK/users': unless => '/usr/bin/test -e WORK/once' }
-> exec { '/usr/bin/touch WORK/once': creates => 'WORK/once' }
user { 'carl': ensure => absent }
