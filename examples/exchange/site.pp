# Two kinds of nodes that share exported resources. Each web node exports a line for a hosts file
# and a check of its service. The monitoring node collects the resources that the web nodes have
# exported.
#
#   FACTER_scratch=/tmp/try bunraku apply --storeconfigs --statedir /tmp/try/state \
#       --certname web1.example.org examples/exchange/site.pp

$root = "${facts['scratch']}/${trusted['certname']}"

file { $root:
  ensure => directory,
}

# The resources that every web node exports.
class web (
  String $address,
  Integer $port = 80,
) {
  $name_here = $trusted['certname']

  @@host { $name_here:
    ensure       => present,
    ip           => $address,
    host_aliases => [$name_here.split('\.')[0]],
    tag          => 'inventory',
  }

  @@file { "${facts['scratch']}/monitor.example.org/checks/${name_here}.cfg":
    content => "check_http -H ${address} -p ${port}\n",
    tag     => 'check',
  }
}

# Collects the resources of the web nodes.
class monitor {
  $here = "${facts['scratch']}/${trusted['certname']}"

  file { "${here}/checks":
    ensure  => directory,
    purge   => true,
    recurse => true,
  }

  Host <<| tag == 'inventory' |>> {
    target => "${here}/hosts",
  }

  File <<| tag == 'check' |>>
}

node /^web(\d+)\./ {
  class { 'web':
    address => "192.0.2.1${1}",
    port    => 8080,
  }
}

node 'monitor.example.org' {
  include monitor
}

node default {
  notice("Nothing to do for ${trusted['certname']}")
}
