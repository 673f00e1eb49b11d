package { 'a': provider => box }
package { 'b': ensure => '2.5', provider => box, install_options => ['x', { 'q' => 'r', 'p' => '1 2' }] }
package { 'c': ensure => latest, provider => 'box' }
package { 'd': ensure => absent, provider => box }
package { 'f': provider => box, source => 'shut' }
package { 'g': ensure => '1', provider => box, source => 'shut' }
notify { 'after': require => Package['f'] }
