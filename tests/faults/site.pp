# Fifty resources, most of which change something. $top is the folder that a run has to itself.
filebucket { 'own': path => "${top}/bucket" }
File { backup => false }
$old = "${top}/old"
$new = "${top}/new"
file { $new:
  ensure => directory,
  mode   => '0750',
}
['a', 'b', 'c', 'd'].each |$n| {
  file { "${new}/${n}":
    content => "new ${n}\n",
    mode    => '0640',
  }
  file { "${old}/${n}": content => "changed ${n}\n" }
}
file { "${new}/big": content => String(Integer[1, 20000].reduce('') |$m, $i| { if $i % 100 == 0 { "${m}line ${i}\n" } else { $m } }) }
file { "${old}/empty": content => '' }
file { "${old}/kept":
  content => "as it is\n",
  mode    => '0644',
}
file { "${old}/mode": mode => '0600' }
file { "${old}/backed":
  content => "after\n",
  backup  => '.before',
}
file { "${old}/bucketed":
  content => "after\n",
  backup  => 'own',
}
file { "${old}/gone": ensure => absent }
file { "${old}/gone.d":
  ensure  => absent,
  force   => true,
  recurse => true,
}
file { "${old}/never": ensure => absent }
file { "${new}/link":
  ensure => link,
  target => "${old}/kept",
}
file { "${old}/link":
  ensure => link,
  target => "${old}/mode",
}
file { "${old}/becomes_link":
  ensure => link,
  target => 'kept',
}
file { "${old}/becomes_dir":
  ensure => directory,
  force  => true,
}
file { "${new}/touched": ensure => file }
file { "${new}/copied": source => "${top}/source/one" }
file { "${new}/tree":
  source  => "${top}/source/tree",
  recurse => true,
}
file { "${old}/purged":
  ensure  => directory,
  recurse => true,
  purge   => true,
  force   => true,
}
file { "${old}/purged/stays": content => "mine\n" }
file { "${new}/module": source => 'puppet:///modules/faults/file' }
exec { 'make':
  command => "/bin/sh -c 'echo made > ${new}/made.tmp && mv ${new}/made.tmp ${new}/made'",
  creates => "${new}/made",
  require => File[$new],
}
exec { 'not needed':
  command => '/bin/false',
  unless  => '/bin/true',
}
exec { 'refreshed':
  command     => "/bin/sh -c 'echo once > ${new}/refreshed'",
  refreshonly => true,
  subscribe   => File["${new}/a"],
}
['one', 'two'].each |$n| {
  host { "${n}.example.com":
    ip     => '10.0.0.1',
    target => "${old}/hosts",
  }
  mailalias { $n:
    recipient => ['root', "${n}@example.com"],
    target    => "${old}/aliases",
  }
  sshkey { $n:
    type   => 'ssh-ed25519',
    key    => 'AAAAC3NzaC1lZDI1NTE5AAAA',
    target => "${old}/known",
  }
}
host { 'away.example.com':
  ensure => absent,
  target => "${old}/hosts",
}
tidy { "${old}/tidied":
  recurse => true,
  matches => '*.tmp',
}
