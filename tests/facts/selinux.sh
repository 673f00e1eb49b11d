# SELinux, as far as files determine it.
# facts: os.selinux selinux selinux_config_mode selinux_config_policy selinux_current_mode selinux_enforced
# facts: selinux_policyversion
put /etc/selinux/config $'# SELINUX= can take one of these three values\nSELINUX=enforcing\n#x\nSELINUXTYPE=targeted \n'
mkdir -p /srv/selinux
mount -t tmpfs selinuxfs /srv/selinux
put /srv/selinux/enforce 1
put /srv/selinux/policyvers 33
