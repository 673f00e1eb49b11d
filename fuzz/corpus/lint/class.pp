# lint:ignore:140chars lint:ignore:hard_tabs reason
# @param a  text
class foo::Bar-x (
  Optional[String] $a = undef, Integer $b = lookup('c'), $d = [1, { e => 2 }],
) inherits ::foo::params {
	file { ['/a', "${b}/c"]:
    ensure => '/x', mode => 644, target => $e ? { f => g, default => h };
  'i':
    require  =>File [j], mode => 0644, mode => 'u=rw',
  }
}
# lint:endignore
