define app::export (
  Integer $port,
) {
  notify { "${title}:${port} on ${trusted['certname']}": }
}
