file { 'WORK/pairs': content => "x y 4\nv w\n" }
-> api_pair { 'some': left => 'x', right => 'y', ensure => present, value => 5 }
-> api_pair { 'v/w': ensure => absent }
