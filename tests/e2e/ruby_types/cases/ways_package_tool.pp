package { 'x': ensure => installed, provider => absent_tool }
notify { 'y': }
