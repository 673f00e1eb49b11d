# The host name includes the domain.
# facts: networking.hostname networking.domain networking.fqdn hostname domain fqdn
hostname box.sub.example.org
put /etc/hosts $'127.0.0.1 localhost\n'
rm -f /etc/resolv.conf
put /etc/resolv.conf $'domain other.example.net\n'
