# A Google Compute Engine virtual machine.
# facts: gce cloud virtual is_virtual
put /etc/hosts $'127.0.0.1 localhost\n169.254.169.254 metadata.google.internal metadata\n'
cloud Google Google 'Google Compute Engine' <<'END'
/computeMetadata/v1/?recursive=true&alt=json {"instance":{"attributes":{"ssh-keys":"a:ssh-rsa A\\nb:ssh-rsa B","x":"1"},"id":123456789012345678,"image":"projects/debian-cloud/global/images/debian-12","machineType":"projects/1/machineTypes/e2-micro","networkInterfaces":[{"ip":"10.1.0.2","network":"projects/1/networks/default"},{"network":"projects/1/networks/other"}],"zone":"projects/1/zones/us-east1-b","tags":[],"preempted":"FALSE","scheduling":{"automaticRestart":true}},"oslogin":{"authenticate":{"sessions":{}}},"project":{"attributes":{"sshKeys":"c:ssh-rsa C\\n"},"numericProjectId":1,"projectId":"p"}}
END
