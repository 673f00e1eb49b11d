exec { "/bin/sh -c 'printf \"# mine\\na = 1 # old\\n\\nb = 2\\ngone = 3\\n\" > WORK/rows'": creates => 'WORK/rows' }
-> row { 'a': ensure => present, val => '9' }
-> row { 'b': ensure => present, val => '2', note => 'new' }
-> row { 'gone': ensure => absent }
-> row { 'c': ensure => present, val => 'x', target => 'WORK/others' }
