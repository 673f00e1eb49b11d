# Configures NTP. Each node has its own folder, so that several nodes fit on one machine.
#
# @param servers
#   The servers to ask for the time.
class ntp (
  Array[String[1]] $servers = ['ntp1.example.org'],
) {
  file { "${facts['folder']}/${trusted['certname']}/ntp.conf":
    content => $servers.map |$server| { "server ${server}\n" }.join,
  }
}
