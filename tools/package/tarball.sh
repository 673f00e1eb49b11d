# A tarball for any distribution, to be unpacked in /opt. Sourced by script/package.
# shellcheck shell=bash
. tools/package/portable.sh

make_tarball() {
    local name made suffix=xz
    [ -z "$fast" ] || suffix=gz
    name=bunraku-${version/\~/-}-$(portable_machine)
    install_portable "$work/tarball" "/opt/$name"
    made=$folder/$name.tar.$suffix
    tar -C "$work/tarball/opt" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | compressed >"$made"
    echo "$made"
}
