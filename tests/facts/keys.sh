# Host keys of every kind, one of them damaged.
# facts: ssh sshrsakey sshecdsakey sshed25519key sshdsakey sshfp_rsa sshfp_ed25519 sshfp_ecdsa
rm -f /etc/ssh/ssh_host_*
mkdir -p /etc/ssh /usr/local/etc/ssh
key() { put "/etc/ssh/ssh_host_$1_key.pub" "$2 $3 root@machine"$'\n'; }
key ed25519 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBYQQuTPIFbTkNmTGWmSBIZbFxTvfRNvPFIDXGiMTJcc
key ecdsa ecdsa-sha2-nistp256 \
    AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBJDzlMa2Yeu4rUGVwoDCOKcmL8rw1NMTkJXFq+LCkgtZMfxFCkuYAV5UpIvtkN3pdHAtPWXDnBdaXzMJ4K2Rjcg=
key rsa ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7vbqajDw4o6gJy8UtmIbkcpnkO3Kwc4qsEnSZp/TR+fQi62F79RHWmwKOtFmwteURgLbj7D/WGuNLGOfa/2vse3G2eHnHl5CB8ruRX9fBl/KgwCVr2JaEuUm66bBQeP5XeBotdR4cvX38uPYivCDdPjJ1QWPdspTBKcxeFbccDw==
put /usr/local/etc/ssh/ssh_host_dsa_key.pub "ssh-dss AAAAB3NzaC1kc3MAAACBAJ"$'\n'
