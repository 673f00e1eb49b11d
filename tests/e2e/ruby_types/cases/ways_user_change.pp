exec { '/bin/sh -c "printf \'x:1:c:/bin/x:old\ny:2::/bin/x:\n\' >WORK/users; touch WORK/once"': creates => 'WORK/once' }
-> user { 'x': uid => 30, comment => 'new', shell => 'no', password => 'new' }
-> user { 'y': uid => 5 }
user { 'z': ensure => present, uid => 9, managehome => true }
