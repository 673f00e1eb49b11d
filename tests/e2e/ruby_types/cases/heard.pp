class heard::all {
  notify { 'first': }
  heard { 'n':
    p         => 1,
    q         => 'y',
    told      => 'done',
    reference => Notify['first'],
    many      => { 'a' => [File['/tmp'], Class['heard::all']] },
    require   => Notify['first'],
    tag       => 'mine',
  }
}
include heard::all
