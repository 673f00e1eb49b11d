# Hardware data of firmware and kernel.
# facts: dmi disks partitions bios_vendor bios_version bios_release_date boardmanufacturer boardproductname
# facts: boardserialnumber boardassettag chassistype chassisassettag manufacturer productname productversion
# facts: serialnumber uuid blockdevice_sda_size blockdevice_sda_model blockdevice_sda_vendor
bare /sys/class
id() { put "/sys/class/dmi/id/$1" "$2"$'\n'; }
id bios_vendor 'American Megatrends Inc.'
id bios_version '3.4 '
id bios_date 10/30/2020
id board_vendor Supermicro
id board_name X11DPi-N
id board_serial ' VM197S001'
id board_asset_tag 'Base Board Asset Tag'
id chassis_type 23
id chassis_asset_tag 'Rack 7'
id sys_vendor Supermicro
id product_name SYS-6029P-TR
id product_version 0123456789
id product_serial A1234
id product_uuid 00000000-0000-0000-0000-ac1f6b8ca4a6
bare /sys/block
disk() { put "/sys/block/$1" "$2"$'\n'; }
disk sda/size 7814037168
disk sda/device/model 'ST4000NM0035-1V4'
disk sda/device/vendor 'ATA     '
disk sda/queue/rotational 1
disk sda/sda1/size 2048
disk sda/sda1/partition 1
disk sda/sda2/size 7814033072
disk sda/sda2/partition 2
disk nvme0n1/size 1953525168
disk nvme0n1/device/model 'SAMSUNG MZQL2960HCJR-00A07              '
disk nvme0n1/queue/rotational 0
disk nvme0n1/nvme0n1p1/size 1050624
disk nvme0n1/nvme0n1p1/partition 1
disk sr0/size 2097151
disk sr0/device/model 'DVD-ROM DVS0   '
disk sr0/device/vendor 'TEAC    '
disk sr0/queue/rotational 1
disk dm-0/size 1048576
disk dm-0/dm/name vg-root
disk dm-1/size 2048
disk dm-1/dm/name ''
disk loop3/size 8192
disk loop3/loop/backing_file '/srv/disk image.img'
disk loop4/size 0
disk ram0/size 8192
