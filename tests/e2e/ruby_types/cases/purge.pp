exec { "/bin/sh -c 'echo x a,b true > WORK/entries; echo y c false >> WORK/entries; echo gone d true >> WORK/entries'": creates => 'WORK/entries' }
-> entry { 'x': ensure => present, members => ['b', 'a'], on => false }
-> entry { 'y': ensure => absent }
resources { 'entry': purge => true }
resources { 'thing': purge => true }
