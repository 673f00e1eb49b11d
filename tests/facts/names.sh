# Host name, domain and time zone.
# environment: TZ=Asia/Kathmandu
# facts: networking.hostname networking.domain networking.fqdn hostname domain fqdn timezone
hostname box-7
put /etc/hostname $'box-7\n'
put /etc/hosts $'127.0.0.1 localhost\n'
rm -f /etc/resolv.conf
put /etc/resolv.conf $'search lan.example.net example.net\nnameserver 192.0.2.53\n'
