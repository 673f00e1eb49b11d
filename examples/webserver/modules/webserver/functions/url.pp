# Returns the URL of a site, without the port if it is the default one.
function webserver::url(String $host, Integer $port) >> String {
  $port ? {
    80      => "http://${host}/",
    443     => "https://${host}/",
    default => "http://${host}:${port}/",
  }
}
