exec { "/bin/sh -c 'echo x a true > WORK/entries'": creates => 'WORK/entries' }
-> entry { 'x': ensure => present, members => ['a'], audit => all }
-> entry { 'y': ensure => present, members => ['b'], on => true, audit => all }
