entry { 'one': ensure => present, members => ['a', 'b'], on => true }
entry { 'two': ensure => present, members => 'c', on => false, colour => 'red', shape => 'round' }
