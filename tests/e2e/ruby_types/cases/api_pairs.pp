api_pair { 'a/b': ensure => present, value => 1 }
-> api_pair { 'c': right => 'd', ensure => present }
-> api_pair { 'e/f': ensure => absent }
