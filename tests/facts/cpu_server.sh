# Two processor sockets, and the memory data of an old kernel.
# facts: processors processorcount physicalprocessorcount processor0 processor3 hardwareisa memory.system.total_bytes
# facts: memory.system.available_bytes memory.system.capacity memory.system.available memory.swap memorysize
# facts: memorysize_mb memoryfree memoryfree_mb swapsize swapsize_mb swapfree swapfree_mb filesystems fips_enabled
cpu() {
    printf 'processor\t: %s\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\n' "$1"
    printf 'cpu MHz\t\t: 2100.000\nphysical id\t: %s\nsiblings\t: 2\ncore id\t\t: 0\ncpu cores\t: 1\n' "$2"
    printf 'flags\t\t: fpu cx8 cmov mmx fxsr sse sse2 syscall lm cx16 sse4_1 sse4_2 ssse3 popcnt lahf_lm\n\n'
}
replace_file() {
    put "/srv$1" "$2"
    mount --bind "/srv$1" "$1"
}
replace_file /proc/cpuinfo "$(cpu 0 0; cpu 1 0; cpu 2 1; cpu 3 1)"$'\n'
replace_file /proc/meminfo 'MemTotal:       32780412 kB
MemFree:         1234567 kB
Buffers:          223344 kB
Cached:         20123456 kB
SwapCached:          100 kB
SwapTotal:       8388604 kB
SwapFree:        8380000 kB
SReclaimable:     900000 kB
'
replace_file /proc/filesystems $'nodev\tsysfs\nnodev\tproc\n\text3\n\text4\n\tfuseblk\n\txfs\n\tsquashfs\nnodev\tnfs4\n\tvfat\n'
cpu_tree 0:0:3 0:0:3 1:0:c 1:0:c
