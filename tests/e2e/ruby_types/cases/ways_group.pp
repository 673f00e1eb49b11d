group { 'one': gid => 7, members => ['b', 'a'], provider => pigeon }
-> exec { '/bin/sh -c "echo 8 c >WORK/group-one; touch WORK/once"': creates => 'WORK/once' }
group { 'gone': ensure => absent, provider => pigeon }
