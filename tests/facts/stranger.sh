# Somebody who may do little.
# facts: identity id gid
as='setpriv --reuid 65534 --regid 65534 --clear-groups'
