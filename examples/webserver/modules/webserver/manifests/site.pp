# One site: its configuration and its first page.
#
# @param port The port of the site.
# @param ensure Whether the site exists.
# @param aliases Further names of the site.
define webserver::site (
  Integer[1, 65535] $port,
  Enum['present', 'absent'] $ensure = 'present',
  Array[String] $aliases = [],
) {
  include webserver

  $directory = $ensure ? {
    'present' => directory,
    default   => absent,
  }

  file { "${webserver::sites}/${title}.conf":
    ensure  => $ensure,
    content => epp('webserver/site.conf.epp', {
      'name'    => $title,
      'port'    => $port,
      'aliases' => $aliases,
      'htdocs'  => "${webserver::htdocs}/${title}",
    }),
    notify  => Exec['reload webserver'],
  }

  file { "${webserver::htdocs}/${title}":
    ensure => $directory,
    force  => true,
  }

  if $ensure == 'present' {
    file { "${webserver::htdocs}/${title}/index.html":
      content => @("PAGE"),
        <h1>${title.split('\.')[0].capitalize}</h1>
        <p>Served at ${webserver::url($title, $port)} by ${facts['os']['name']}.</p>
        | PAGE
    }
  }
}
