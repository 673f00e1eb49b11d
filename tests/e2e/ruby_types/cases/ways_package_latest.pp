package { 'x': ensure => latest, provider => crate }
