
case $::osfamily { debian: { } 'x': { case 1 { default: { } } } }
[1, 2 ].each |$k ,$v|{ notify{ "${k}": } }
Package['a'] ->
Class ['::b'] <- File[C]
node web { exec { 'd': command => '/bin/true' } }
