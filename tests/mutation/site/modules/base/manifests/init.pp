# What every machine has.
class base (
  String $manager = 'none',
  Array[String] $package_list = [],
) {
  include base::motd
  $package_list.each |$name| {
    package { $name:
      ensure   => installed,
      provider => $manager ? { 'none' => undef, default => $manager },
    }
  }
  if $facts['virtual'] == 'physical' {
    include base::hardware
  }
  File { owner => 'root' }
  Package <| title == 'vim' |> { ensure => latest }
}

# Not on virtual machines.
class base::hardware {
  package { 'smartmontools': ensure => installed }
}
