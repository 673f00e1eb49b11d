# An unprivileged user.
# facts: identity id gid
as='setpriv --reuid 65534 --regid 65534 --clear-groups'
