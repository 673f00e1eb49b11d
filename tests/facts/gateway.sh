# The default route uses the second interface.
# facts: networking.ip networking.primary networking.mac networking.netmask networking.network ipaddress
for name in br0 br1; do ip link add "$name" address "02:00:00:00:01:0${name#br}" type bridge; done
ip address add 192.0.2.10/24 dev br0
ip address add 198.51.100.10/24 dev br1
ip link set br0 addrgenmode none up
ip link set br1 addrgenmode none up
ip route add default via 198.51.100.1 dev br1
