exec { "/bin/sh -c 'echo 1 > WORK/e; echo 22 > WORK/f'": creates => 'WORK/f' }
-> thing { 'e': ensure => absent }
-> thing { 'f': ensure => present, size => 33 }
-> thing { 'g': ensure => present, noop => true }
-> thing { 'h': ensure => present, size => Sensitive('7') }
