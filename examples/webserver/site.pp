# A small web server role. All files are below $facts['scratch'], so that it can be applied
# without root:
#
#   FACTER_scratch=/tmp/try bunraku apply --modulepath examples/webserver/modules examples/webserver/site.pp

$root = $facts['scratch'] ? {
  undef   => fail('Say where to work: FACTER_scratch=/some/folder'),
  default => $facts['scratch'],
}

file { $root:
  ensure => directory,
}

class { 'webserver':
  root    => "${root}/www",
  workers => 4,
}

$sites = {
  'shop.example.org' => { port => 8080, aliases => ['www.shop.example.org'] },
  'docs.example.org' => { port => 8081 },
  'old.example.org'  => { ensure => absent, port => 8082 },
}

$sites.each |$name, $attributes| {
  webserver::site { $name:
    * => $attributes,
  }
}

# Virtual files are created only if the code below realizes or collects them.
@file { "${root}/users":
  ensure => directory,
}

['ann', 'ben', 'eve'].each |$user| {
  @file { "${root}/users/${user}":
    content => "home of ${user}\n",
    mode    => '0600',
    tag     => $user ? { 'eve' => 'guest', default => 'admin' },
  }
}

realize(File["${root}/users"])
File <| tag == 'admin' |>
