# The address of a site; the port is left out where browsers know it.
function webserver::url(String $host, Integer $port) >> String {
  $port ? {
    80      => "http://${host}/",
    443     => "https://${host}/",
    default => "http://${host}:${port}/",
  }
}
