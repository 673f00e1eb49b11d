notify { 'first': message => 'hello' }
probe_function($probe_runner, Notify['first'])
$three = probe_function3($probe_runner)
probe { 'p':
  ensure    => present,
  script    => $probe_runner,
  flag      => true,
  run       => 'yes',
  list      => ['a', 'b'],
  number    => '3',
  reference => Notify['first'],
  require   => Notify['first'],
  tag       => ['mine'],
}
