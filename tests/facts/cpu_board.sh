# A board with little data in /proc/cpuinfo; the rest is in the kernel's sysfs tree. Red Hat's `uname -p`.
# facts: processors processorcount physicalprocessorcount memory.system.total memory.swap
put /srv/cpuinfo "$(for n in 0 1 2 3; do
    printf 'processor\t: %s\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\nCPU part\t: 0xd08\n\n' "$n"
done)"$'\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n'
mount --bind /srv/cpuinfo /proc/cpuinfo
put /srv/meminfo $'MemTotal:         948304 kB\nMemFree:          100000 kB\nMemAvailable:     500000 kB\nSwapTotal:            0 kB\nSwapFree:             0 kB\n'
mount --bind /srv/meminfo /proc/meminfo
cpu_tree 0:0:1 0:1:2 0:2:4 0:3:8
