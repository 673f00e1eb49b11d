file { 'WORK/entries.broken': ensure => file }
-> entry { 'one': ensure => present, members => ['a'], on => true }
-> notify { 'after': }
