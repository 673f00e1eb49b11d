$domain_of = $facts['networking']['domain']

node 'web.example.org' {
  include base
  include app
}

node /^db\d*\./ {
  class { 'base': manager => 'none' }
  @@app::export { 'db': port => 5432 }
}

node default {
  include base
}
