class base::motd {
  file { '/etc/motd':
    content => epp('base/motd.epp', { 'text' => lookup('motd') }),
    mode    => '0644',
  }
}
