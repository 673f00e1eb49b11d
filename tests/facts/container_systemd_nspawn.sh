# A container of systemd-nspawn, detected by the environment of its first process.
# environment: container=systemd-nspawn
# facts: virtual is_virtual
rm -f /.dockerenv
put /etc/machine-id $'0123456789abcdef0123456789abcdef\n'
