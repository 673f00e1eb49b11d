# Bridges, interface pairs, addresses of all scopes, DHCP leases of all kinds.
# facts: networking.interfaces networking.ip networking.ip6 networking.primary networking.mac networking.mtu
# facts: networking.netmask networking.netmask6 networking.network networking.network6 networking.scope6
# facts: networking.dhcp interfaces dhcp_servers ipaddress ipaddress_br0 ipaddress6_br0 netmask_br0 mtu_left
# facts: macaddress_left network_br0 network6_br0 scope6_br0 netmask6_br0 macaddress netmask network
mount -t sysfs sysfs /sys
link() { ip link add "$1" address "$2" type bridge; }
link br0 02:00:00:00:00:01
link br1 02:00:00:00:00:02
link quiet 02:00:00:00:00:03
link six 02:00:00:00:00:04
link wan-0.5 02:00:00:00:00:05
ip link add left address 02:00:00:00:00:10 type veth peer name right address 02:00:00:00:00:11
ip link set left mtu 9000
ip link set lo up
for name in br0 br1 six wan-0.5; do
    echo 0 >"/proc/sys/net/ipv6/conf/$name/accept_dad" || true
    ip link set "$name" addrgenmode none up
done
address() { ip address add "$1" dev "$2" "${@:3}"; }
address 169.254.7.1/16 br0
address 10.20.30.40/20 br0 broadcast +
address 10.20.30.41/20 br0
address 192.0.2.1/32 br0 label br0:web
address 172.16.0.1/30 br1
address fe80::1/64 br0 nodad
address fd00:1::5/48 br0 nodad
address 2001:db8:1::5/64 br0 nodad
address ::10.1.2.3/96 br1 nodad
address fec0::7/64 br1 nodad
address fd00:2::1/64 six nodad
address 2001:db8:2::1/128 six nodad preferred_lft 0
address 198.51.100.9/24 wan-0.5
ip route add 203.0.113.0/24 dev br1 src 10.20.30.41
index=$(cat /sys/class/net/br0/ifindex)
put "/run/systemd/netif/leases/$index" $'# a lease\nADDRESS=10.20.30.40\nSERVER_ADDRESS=10.20.16.1\n'
put /var/lib/dhcp/dhclient.br1.leases 'lease {
  interface "br1";
  fixed-address 172.16.0.1;
  option dhcp-server-identifier 172.16.0.2;
}
'
put /var/lib/NetworkManager/internal-0a-wan-0.5.lease $'SERVER_ADDRESS=198.51.100.1\n'
