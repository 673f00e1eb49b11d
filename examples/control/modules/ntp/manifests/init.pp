# @param servers whom to ask for the time
# @param root where the files go, so that the example changes nothing of the machine
class ntp (
  Array[String[1]] $servers = ['0.pool.ntp.org', '1.pool.ntp.org'],
  String[1] $root = '/tmp/bunraku-try',
) {
  file { [$root, "${root}/etc"]:
    ensure => directory,
  }

  file { "${root}/etc/ntp.conf":
    ensure  => file,
    mode    => '0644',
    content => epp('ntp/ntp.conf.epp', { 'servers' => $servers }),
  }
}
