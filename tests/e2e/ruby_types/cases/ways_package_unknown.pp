package { 'x': ensure => installed, provider => nobody }
