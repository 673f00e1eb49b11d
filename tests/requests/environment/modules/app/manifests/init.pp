class app (
  String $greeting = "hello",
  Integer[0, 5] $n = 1,
) {
  notify { "n $n": message => $greeting }
  file { "/tmp/motd": source => "puppet:///modules/app/motd" }
}
