# The program of the tarball and of the RPM package. Sourced by script/package.
# shellcheck shell=bash

# Libraries that Debian has only as shared libraries. They need a very old C library, and are included.
included_libraries=(libonig.so.5 libmd4c.so.0)

# The C library that the program needs at least, if it is linked with one that is older than that of
# this machine (--libc).
oldest_libc=2.28

# newest_libc FILE: prints the newest version of the C library that a program needs.
newest_libc() {
    objdump -T "$1" | grep -o 'GLIBC_2\.[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1
}

# link_statically OUT: links the program as the build does, but replaces shared libraries with static
# ones. Debian has no static libfmt, so its header-only form is used. mimalloc is left out.
link_statically() {
    local line library out=$1 more=() cxx triplet libraries cached
    cxx=$(from_cache CMAKE_CXX_COMPILER)
    triplet=$("$cxx" -print-multiarch)
    libraries=/usr/lib/$triplet
    cached=$(from_cache CCACHE)
    [ -x "$cached" ] || cached=
    line=$(ninja -C "$finished" -t commands bunraku | tail -n 1 | sed -E -e 's/^: && //' -e 's/ && cd .*//' \
        -e 's#-Wl,--push-state,--no-as-needed [^ ]*libmimalloc[^ ]* -Wl,--pop-state##' \
        -e "s#$libraries/lib(sqlite3|gdbm|utf8proc|yaml|z|ssl|crypto)\.so#$libraries/lib\1.a#g" \
        -e "s#$libraries/libfmt\.so[0-9.]*#$work/fmt.o#; s#-lcrypt #$libraries/libcrypt.a #; s#-o bunraku #-o $out #")
    # Libraries that the static libcrypto of newer releases needs.
    for library in $("$(from_cache PKG_CONFIG_EXECUTABLE)" --static --libs-only-l libcrypto); do
        library=$libraries/lib${library#-l}.a
        case $library in
            */libcrypto.a | */libdl.a | */libpthread.a) ;;
            *) [ ! -e "$library" ] || more+=("$library") ;;
        esac
    done
    ${cached:+"$cached"} "$cxx" -std=gnu++20 -O2 -c share/tarball/fmt.cc -o "$work/fmt.o"
    if [ -n "$libc" ]; then
        "$cxx" -x c -O2 -c share/tarball/old_libc.c -o "$work/old_libc.o"
        # Copies only the C library. Its symbolic links are resolved, because they point outside of
        # ROOT.
        local from=$libc/usr/lib/$triplet to=$work/libc file loader
        loader=$("$cxx" -dumpmachine | sed 's/^x86_64.*/lib64\/ld-linux-x86-64.so.2/; s/^aarch64.*/lib\/ld-linux-aarch64.so.1/')
        install -d "$to/${loader%/*}" "$to/lib/$triplet" "$to/usr/lib/$triplet"
        cp -L "$from"/{crt1,Scrt1,crti,crtn}.o "$from"/libc_nonshared.a "$from"/lib{c,m}.so "$to/usr/lib/$triplet"
        for file in c.so.6 m.so.6 mvec.so.1 dl.so.2 pthread.so.0 rt.so.1 resolv.so.2; do
            [ -e "$libc/lib/$triplet/lib$file" ] || continue
            cp -L "$libc/lib/$triplet/lib$file" "$to/lib/$triplet/"
            [ -e "$to/usr/lib/$triplet/lib${file%%.*}.so" ] ||
                ln -s "../../../lib/$triplet/lib$file" "$to/usr/lib/$triplet/lib${file%%.*}.so"
        done
        cp "$(find "$libc/lib/$triplet/" -name 'ld-[0-9]*.so' -o -name "${loader##*/}" -type f | head -n 1)" "$to/$loader"
        more+=("$work/old_libc.o" "--sysroot=$to" "-B$to/usr/lib/$triplet/" "-L$(dirname "$("$cxx" -print-libgcc-file-name)")")
    fi
    # shellcheck disable=SC2086 # the command line of the build
    (cd "$finished" && $line -static-libstdc++ -static-libgcc "${more[@]}" -ldl -lpthread -lm -Wl,-rpath,'$ORIGIN/../lib/bunraku')
    strip_program "$out"
    if [ -n "$libc" ] && [ "$(printf '%s\n' "$oldest_libc" "$(newest_libc "$out")" | sort -V | tail -n 1)" != "$oldest_libc" ]; then
        objdump -T "$out" | grep -F "GLIBC_$(newest_libc "$out")" >&2
        echo "The program needs glibc $(newest_libc "$out"), and not only $oldest_libc: see share/tarball/old_libc.c" >&2
        return 1
    fi
}

# install_portable ROOT PREFIX: installs the files of the build with this program, and the libraries
# that are included.
install_portable() {
    local root=$1$2 library
    install_files "$1" "$2"
    [ -e "$work/portable" ] || link_statically "$work/portable"
    cp "$work/portable" "$root/bin/bunraku"
    install -d "$root/lib/bunraku" "$root/share/bunraku"
    for library in "${included_libraries[@]}"; do
        install -m 0644 "$(library_file "$library")" "$root/lib/bunraku/$library"
    done
    install -m 0644 share/debian/puppet.conf share/debian/hiera.yaml "$root/share/bunraku/"
}

# portable_machine: prints the machine for which the program was built, as uname prints it.
portable_machine() { "$(from_cache CMAKE_CXX_COMPILER)" -dumpmachine | sed 's/-.*//'; }
