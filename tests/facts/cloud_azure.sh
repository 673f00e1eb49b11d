# An Azure virtual machine.
# facts: az_metadata cloud virtual hypervisors is_virtual
# Facter calls virt-what, which would examine the processor of the real machine.
put /usr/local/sbin/virt-what $'#!/bin/sh\necho hyperv\n'
chmod +x /usr/local/sbin/virt-what
cloud 'Microsoft Corporation' 'American Megatrends Inc.' 'Virtual Machine' <<'END'
/metadata/instance?api-version=2020-09-01 {"compute":{"azEnvironment":"AzurePublicCloud","location":"westeurope","name":"web1","tagsList":[],"vmId":"13f56399-bd52-4150-9748-7190aae1ff21","storageProfile":{"osDisk":{"diskSizeGB":"30"}}},"network":{"interface":[{"ipv4":{"ipAddress":[{"privateIpAddress":"10.0.0.4","publicIpAddress":""}]},"macAddress":"000D3A12AB34"}]}}
END
put /sys/class/dmi/id/chassis_asset_tag $'7783-7084-3265-9085-8269-3286-77\n'
