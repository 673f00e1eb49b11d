file { 'WORK/plain': content => "plain\n", mode => '0640' }
-> served { ['WORK/plain', 'file://WORK/plain', 'WORK', 'puppet:///modules/heard/x', 'WORK/none', 'file://WORK/none']: told => 'done' }
