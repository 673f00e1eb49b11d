# Every node exports a resource, and every node collects all of them.
$root = $facts['scale_out']

@@host { $trusted['certname']:
  ip     => '192.0.2.1',
  target => "${root}/hosts",
  tag    => 'fleet',
}
file { "${root}/motd":
  content => "${trusted['certname']}\n",
}
Host <<| tag == 'fleet' |>> {
  target => "${root}/hosts",
}
