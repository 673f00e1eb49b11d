if $facts["kernel"] {
  include app
}
