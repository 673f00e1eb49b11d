taken { 'WORK/text': ensure => present, source => 'puppet:///modules/ways/text' }
