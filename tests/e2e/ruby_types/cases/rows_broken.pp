exec { "/bin/sh -c 'echo nonsense > WORK/rows'": creates => 'WORK/rows' }
-> row { 'a': ensure => present, val => '9' }
-> notify { 'after': }
