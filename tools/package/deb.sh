# A package for the Debian release of this machine. Sourced by script/package.
# shellcheck shell=bash

# release_suffix: prints the release whose libraries the package needs. A machine that is upgraded to
# the next release therefore gets the package for that release.
release_suffix() {
    (
        . /etc/os-release
        case $ID in
            debian) [ -z "${VERSION_ID:-}" ] || echo "+deb$VERSION_ID" ;;
            ubuntu) echo "+ubuntu$VERSION_ID" ;;
        esac
    )
}

# installed_size ROOT: prints the size in KiB. It does not depend on the file system, unlike that of du.
installed_size() {
    find "$1" -path "$1/DEBIAN" -prune -o -printf '%y %s\n' |
        awk '$1 == "f" { n += int(($2 + 1023) / 1024) } $1 != "f" { ++n } END { print n }'
}

# owner LIBRARY: prints the package of a library that the program loads on demand.
owner() {
    local file
    file=$(library_file "$1")
    dpkg-query -S "$file" | sed 's/:.*//'
}

make_deb() {
    local root=$work/deb architecture libraries archives postgresql package name pack=(-Zxz -z6)
    [ -z "$fast" ] || pack=(-Zgzip -z1)
    architecture=$(dpkg-architecture -t "$("$(from_cache CMAKE_CXX_COMPILER)" -dumpmachine)" -q DEB_HOST_ARCH 2>/dev/null)
    install_files "$root" /usr
    strip_program "$root/usr/bin/bunraku"
    find "$root/usr/share/man" -type f -exec gzip -9n {} +
    # Uses Debian's file names.
    rm "$root/usr/share/doc/bunraku/LICENSE"
    install -m 0644 share/debian/copyright "$root/usr/share/doc/bunraku/copyright"
    gzip -9n <CHANGELOG.md >"$root/usr/share/doc/bunraku/changelog.gz"
    rm "$root/usr/share/doc/bunraku/CHANGELOG.md"
    install -d "$root/DEBIAN" "$root/etc/default" "$root/usr/share/bunraku"
    for name in bunraku-server bunraku-agent; do
        install -m 0644 "share/debian/$name.default" "$root/etc/default/$name"
    done
    install -m 0644 share/debian/puppet.conf share/debian/hiera.yaml "$root/usr/share/bunraku/"
    install -m 0755 share/debian/postinst share/debian/prerm share/debian/postrm "$root/DEBIAN/"
    (cd "$root" && find etc -type f -printf '/%p\n' | LC_ALL=C sort) >"$root/DEBIAN/conffiles"
    (cd "$root" && find usr etc -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"

    # Dependencies: linked libraries by their symbols, and libraries that the program loads on demand
    # by their files.
    mkdir -p "$work/debian"
    printf 'Source: bunraku\n\nPackage: bunraku\nArchitecture: any\n' >"$work/debian/control"
    libraries=$(cd "$work" && DEB_HOST_ARCH=$architecture dpkg-shlibdeps --warnings=0 -O -e "$root/usr/bin/bunraku" | sed -n 's/^shlibs:Depends=//p')
    archives=$(owner libarchive.so.13)
    postgresql=$(owner libpq.so.5)
    package=$version$(release_suffix)
    sed -e "s/@VERSION@/$package/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$(installed_size "$root")/" \
        -e "s/@LIBRARIES@/$libraries/" -e "s/@ARCHIVES@/$archives/" -e "s/@POSTGRESQL@/$postgresql/" \
        share/debian/control >"$root/DEBIAN/control"
    set_times "$root"
    package=$folder/bunraku_${package}_$architecture.deb
    # The compressor's result depends on whether it uses several threads.
    DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group "${pack[@]}" --build "$root" "$package" >/dev/null
    echo "$package"
}
