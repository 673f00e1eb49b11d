# Shared by the scenes: creates a machine that is a copy of this one, and adds files to it.

# make PLACE DIR...: creates a copy of `/` that includes these outside folders, and changes the root
# to it.
make() {
    local part mine=
    # The root user of a user namespace is not the root user of the machine.
    [ "$(tr -s ' ' </proc/self/uid_map)" = ' 0 0 4294967295' ] || mine=,userxattr
    mount --make-rprivate /
    mkdir "$1/root"
    mount -t tmpfs scene "$1/root"
    mkdir "$1"/root/{upper,work,all}
    mount -t overlay overlay -o "lowerdir=/,upperdir=$1/root/upper,workdir=$1/root/work$mine" "$1/root/all"
    for part in dev sys proc; do mount --rbind "/$part" "$1/root/all/$part"; done
    for part; do
        mkdir -p "$1/root/all$part"
        mount --bind "$part" "$1/root/all$part"
    done
    cd "$1/root/all"
}

# put FILE TEXT: writes a file and creates its folders.
put() {
    mkdir -p "${1%/*}"
    printf '%s' "$2" >"$1"
}

# bare DIR: replaces a folder with an empty one.
bare() { mount -t tmpfs scene "$1"; }

# cpu_tree PACKAGE:CORE:THREADS...: creates the kernel's processor tree; THREADS is the mask of the
# threads in a core.
cpu_tree() {
    local tree=/sys/devices/system/cpu number=0 one place
    local -A packages
    for one; do packages[${one%%:*}]=$((${packages[${one%%:*}]:-0} | 1 << number++)); done
    number=0
    bare "$tree"
    for one; do
        place=$tree/cpu$((number++))/topology
        put "$place/physical_package_id" "${one%%:*}"$'\n'
        put "$place/core_id" "$(cut -d: -f2 <<<"$one")"$'\n'
        put "$place/thread_siblings" "${one##*:}"$'\n'
        put "$place/core_siblings" "$(printf %x "${packages[${one%%:*}]}")"$'\n'
    done
    for place in possible present online; do put "$tree/$place" "0-$((number - 1))"$'\n'; done
    put "$tree/kernel_max" $'15\n'
}

# cloud VENDOR BIOS PRODUCT: creates the firmware data of a cloud machine, and a metadata service
# that returns the lines of standard input.
cloud() {
    rm -f /.dockerenv
    bare /sys/class
    put /sys/class/dmi/id/sys_vendor "$1"$'\n'
    put /sys/class/dmi/id/bios_vendor "$2"$'\n'
    put /sys/class/dmi/id/product_name "$3"$'\n'
    ip link set lo up
    ip address add 169.254.169.254/32 dev lo
    cat >/srv/texts
    python3 "${BASH_SOURCE[0]%/*}/metadata.py" 169.254.169.254 /srv/ready </srv/texts &>/srv/log &
    for _ in $(seq 100); do
        [ ! -e /srv/ready ] || return 0
        sleep 0.05
    done
    cat /srv/log >&2
    return 1
}
