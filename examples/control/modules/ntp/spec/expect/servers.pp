# `bunraku test` compiles this with every set of facts, and holds class expect against the catalog.
class { 'ntp':
  servers => ['time.example.org'],
  root    => '/srv',
}

class expect {
  file { '/srv/etc/ntp.conf':
    ensure  => file,
    mode    => '0644',
    content => /^server time\.example\.org/,
  }
  @package { 'chrony': } # must not be there
}
