# Two thousand resources: defines, defaults, virtual resources, collectors with overrides, edges.
define vhost (Integer $port, Array[String] $aliases = [], String $owner = 'www') {
  file { "/srv/${title}": ensure => directory, owner => $owner }
  file { "/srv/${title}/index.html":
    content => "<h1>${title}</h1>\n",
    owner   => $owner,
    require => File["/srv/${title}"],
  }
  file { "/etc/web/${title}.conf":
    content => inline_epp('listen <%= $port %>; names <%= $names.join(" ") %>', {
      'port' => $port, 'names' => [$title] + $aliases }),
    notify  => Service['web'],
  }
  @notify { "checked ${title}": message => "vhost ${title}", tag => "port${$port % 4}" }
}

File { mode => '0644' }
service { 'web': ensure => running }
file { '/etc/web': ensure => directory, purge => true, recurse => true }

Integer[1, 400].each |$n| {
  vhost { "site${n}.example.org":
    port    => 8000 + $n,
    aliases => ["www.site${n}.example.org", "site${n}"],
  }
}
Notify <| tag == 'port1' or tag == 'port3' |> { withpath => true }
Vhost <| |> -> Service['web']
