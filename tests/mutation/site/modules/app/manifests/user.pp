define app::user (
  Integer $number,
  String $shell = '/bin/sh',
) {
  user { $title:
    uid   => $number,
    shell => $shell,
  }
  File <| title == '/etc/app.conf' |> -> User[$title]
}
