# Everything by Ruby.
class plug (
  String $own = 'unnamed',
  String $first = 'no first',
  String $second = 'no second',
  String $third = 'no third',
  Array $list = [],
) {
  $found = lookup('plug::name')
  $items = ['a', 'b', $first, $second, $third] + $list
  $notes = "${module_directory('plug')}/files/notes"
  notify { 'scoped': message => plug::scoped('one', { role => $facts['role'], zones => $facts['zones'] }) }
  notify { 'memo': message => plug::memo($notes) }
  notify { 'absent': message => plug::memo("${notes}.none") }
  notify { 'old': message => plug_old('given', 'more') }
  notify { 'block': message => plug::called($list) |$x| { "${x} of ${facts['networking']['hostname']}" } }
  notify { 'plain': message => plug::called(['p', 'q']) }
  notify { 'deep': message => lookup('plug::deep.a.b.1') }
  notify { 'alias': message => lookup('plug::alias', { default_value => 'none' }) }
  notify { 'nothing': message => lookup('plug::nothing', { default_value => 'nothing' }) }
  file { '/etc/plug': content => template('plug/by_ruby.erb') }
  file { '/etc/plain': content => template('plug/plain.erb') }
}
