package { 'x': ensure => purged, provider => box }
