# A small node: a dozen resources of a class with parameters.
class small (
  String $package = 'ntp',
  Array[String] $servers = ['a.example.org', 'b.example.org'],
) {
  package { $package: ensure => installed }
  file { '/etc/ntp.conf':
    content => $servers.map |$s| { "server ${s} iburst\n" }.join(''),
    mode    => '0644',
    require => Package[$package],
    notify  => Service['ntp'],
  }
  service { 'ntp': ensure => running, enable => true }
  ['ann', 'ben', 'cem'].each |$name| {
    user { $name: ensure => present, home => "/home/${name}", managehome => true }
    file { "/home/${name}/.profile": content => "export WHO=${name}\n", owner => $name }
  }
}
include small
