# What all nodes get; see ../README.md.
node default {
  include ntp

  @@host { $trusted['certname']:
    ip  => $facts['networking']['ip'],
    tag => 'known',
  }
}
