class app (
  App::Port $port,
  Hash $settings = {},
  Array[String] $users = [],
  Optional[String] $note = undef,
) {
  require base
  $lines = app::lines($settings)
  file { '/etc/app.conf':
    content => template('app/app.conf.erb'),
    notify  => Service['app'],
  }
  service { 'app': ensure => running }
  $users.each |$i, $user| {
    app::user { $user: number => 1000 + $i }
  }
  file { '/etc/app.key': content => file('app/missing.key', 'app/default.key') }
  if defined('app::extra') {
    include app::extra
  }
  if $facts.dig('memory', 'system', 'total') =~ /GiB/ {
    notify { 'much': message => "memory ${facts['memory']['system']['total']}" }
  }
  $mode = getvar('facts.app_mode')
  if $mode {
    notify { "mode ${mode}": }
  }
}
