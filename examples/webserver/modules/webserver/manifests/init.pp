# The server: its folders, its main configuration, and a reload when the configuration changes.
#
# @param root The folder that contains everything.
# @param workers How many processes serve requests.
# @param log_level What the server logs.
class webserver (
  Webserver::Path $root,
  Integer[1] $workers = 2,
  Enum['debug', 'info', 'warn'] $log_level = 'info',
) {
  $conf = "${root}/conf"
  $sites = "${conf}/sites"
  $htdocs = "${root}/htdocs"

  file { [$root, $conf, $sites, $htdocs]:
    ensure => directory,
    mode   => '0755',
  }

  file { "${conf}/server.conf":
    content => epp('webserver/server.conf.epp', {
      'workers'   => $workers,
      'log_level' => $log_level,
      'sites'     => $sites,
    }),
    notify  => Exec['reload webserver'],
  }

  # Stands for `systemctl reload`: leaves a mark, once for any number of changes.
  exec { 'reload webserver':
    command     => "/bin/sh -c 'date >> ${root}/reloads'",
    refreshonly => true,
  }
}
