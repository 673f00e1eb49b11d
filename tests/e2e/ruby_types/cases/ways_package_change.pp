exec { '/bin/sh -c "echo x 1.0 >WORK/boxes; echo y 1.0 >>WORK/boxes; echo z 1 >>WORK/boxes; touch WORK/once"': creates => 'WORK/once' }
-> package { 'x': ensure => '2.0', provider => box }
package { 'y': ensure => latest, provider => box, require => Package['x'] }
package { 'z': ensure => absent, provider => box, require => Package['x'] }
