# An instance of Amazon EC2.
# facts: ec2_metadata ec2_userdata cloud virtual hypervisors is_virtual
cloud 'Amazon EC2' 'Amazon EC2' 't3.micro' <<'END'
/latest/meta-data/ ami-id\nhostname\niam/\nnetwork/\npublic-keys/\nplacement/
/latest/meta-data/ami-id ami-0abc
/latest/meta-data/hostname ip-10-0-0-5.ec2.internal
/latest/meta-data/iam/ info\nsecurity-credentials/
/latest/meta-data/iam/info {\n  "Code" : "Success"\n}
/latest/meta-data/iam/security-credentials/ role
/latest/meta-data/iam/security-credentials/role not to be shown
/latest/meta-data/network/ interfaces/
/latest/meta-data/network/interfaces/ macs/
/latest/meta-data/network/interfaces/macs/ 02:00:00:00:00:01/
/latest/meta-data/network/interfaces/macs/02:00:00:00:00:01/ device-number\nlocal-ipv4s
/latest/meta-data/network/interfaces/macs/02:00:00:00:00:01/device-number 0
/latest/meta-data/network/interfaces/macs/02:00:00:00:00:01/local-ipv4s 10.0.0.5
/latest/meta-data/public-keys/ 0=mine
/latest/meta-data/public-keys/0/ openssh-key
/latest/meta-data/public-keys/0/openssh-key ssh-rsa AAAA mine
/latest/meta-data/placement/ availability-zone
/latest/meta-data/placement/availability-zone eu-west-1a
/latest/user-data/ #!/bin/sh\necho hello\n
END
