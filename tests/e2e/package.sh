#!/bin/bash
# The Debian package, made from this build, unpacked and run; its scripts and units. Installation,
# upgrade and removal are tested manually in a chroot (docs/design/0200).
. "${0%/*}/lib.sh"
build=${BUNRAKU%/*}
for part in postinst prerm postrm; do
    sh -n "$SOURCE/share/debian/$part" || failures=$((failures + 1))
done
# The first step of the server's unit, as an unprivileged user: creates the folders of settings, and
# does not follow links.
as=()
if [ "$(id -u)" = 0 ]; then
    chmod a+rx "$scratch"
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
mkdir -p "$scratch/usr/bin" "$scratch/usr/lib/bunraku" "$scratch/home/else"
cp "$BUNRAKU" "$scratch/usr/bin/bunraku"
cp "$SOURCE/share/systemd/prepare-server" "$scratch/usr/lib/bunraku/"
mkdir -p "$scratch/home/.config/puppetlabs/puppet"
printf '[main]\nssldir = %s/home/keys\n[server]\nlogdir = %s/home/logs\n' "$scratch" "$scratch" \
    >"$scratch/home/.config/puppetlabs/puppet/puppet.conf"
[ ${#as[@]} = 0 ] || chown -R 65534:65534 "$scratch/home"
"${as[@]}" env HOME="$scratch/home" XDG_CONFIG_HOME= XDG_STATE_HOME= XDG_RUNTIME_DIR= \
    "$scratch/usr/lib/bunraku/prepare-server" "$("${as[@]}" id -un)" || { echo "FAILED: prepare-server"; failures=$((failures + 1)); }
for folder in keys logs .local/state/puppetlabs/puppet/state .config/puppetlabs/ca; do
    [ -d "$scratch/home/$folder" ] || { echo "FAILED: no $folder"; failures=$((failures + 1)); }
done
[ "$(stat -c %a "$scratch/home/keys")" = 750 ] || { echo "FAILED: other users can read the keys"; failures=$((failures + 1)); }
# A build with sanitizers is not packaged.
if grep -q '^BUNRAKU_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then finish; fi
"$SOURCE/script/package" --build "$build" --fast "$scratch/out" >"$scratch/said" 2>"$scratch/err" ||
    { cat "$scratch/err"; failures=$((failures + 1)); finish; }
package=$(tail -n 1 "$scratch/said")
field() { dpkg-deb -f "$package" "$1"; }
holds "$(field Depends)" 'libc6 \(>= .*libssl3(t64)? .*libarchive13(t64)?, adduser'
holds "$(field Recommends)" '^libpq5, ruby$'
version=$(field Version)
# The version ends with the release of this machine, because the package needs its libraries.
suffix=$(. /etc/os-release && case $ID in debian) echo "+deb${VERSION_ID:-}" ;; ubuntu) echo "+ubuntu$VERSION_ID" ;; esac)
[ "$version" = "${version%"${suffix%+deb}"}${suffix%+deb}" ] || { echo "FAILED: version $version"; failures=$((failures + 1)); }
version=${version%"$suffix"}
dpkg --compare-versions "$version" le 1.0.0 && dpkg --compare-versions "$version" gt 1.0.0~1 ||
    { echo "FAILED: version $version"; failures=$((failures + 1)); }
files=$(dpkg-deb -c "$package")
lacks "$(awk '{ print $2 }' <<<"$files" | sort -u)" '^[^r]'
for path in usr/bin/bunraku usr/lib/systemd/system/bunraku-server.service usr/lib/systemd/system/bunraku-agent.service \
    usr/lib/bunraku/prepare-server usr/share/man/man1/bunraku-agent.1.gz usr/share/man/man5/bunraku.conf.5.gz \
    usr/share/bash-completion/completions/bunraku usr/share/zsh/vendor-completions/_bunraku \
    usr/share/fish/vendor_completions.d/bunraku.fish usr/share/doc/bunraku/copyright usr/share/doc/bunraku/changelog.gz; do
    holds "$files" " \./$path\$"
done
# These paths belong to other packages.
lacks "$files" ' \./(usr/bin/(puppet|facter)|etc/puppet|etc/puppetlabs)'
dpkg-deb -e "$package" "$scratch/control"
[ "$(tr '\n' ' ' <"$scratch/control/conffiles")" = "/etc/default/bunraku-agent /etc/default/bunraku-server " ] ||
    { echo "FAILED: conffiles"; failures=$((failures + 1)); }
dpkg-deb -x "$package" "$scratch/root"
(cd "$scratch/root" && md5sum --quiet -c "$scratch/control/md5sums") || failures=$((failures + 1))
find "$scratch/root/usr/share/man" -name '*.gz' -exec gzip -t {} + || failures=$((failures + 1))
# The package contains the same program, stripped.
[ "$("$scratch/root/usr/bin/bunraku" --version)" = "$("$BUNRAKU" --version)" ] ||
    { echo "FAILED: the program differs"; failures=$((failures + 1)); }
ln -s bunraku "$scratch/root/usr/bin/puppet"
holds "$("$scratch/root/usr/bin/puppet" apply "${places[@]}" -e 'notice("from a package")')" 'from a package$'
server=$(<"$scratch/root/usr/lib/systemd/system/bunraku-server.service")
holds "$server" '^Type=notify$'
holds "$server" '^ExecStartPre=\+/usr/lib/bunraku/prepare-server puppet$'
# A missing path must not prevent the server from starting.
lacks "$server" '^ReadWritePaths=(.* )?/'
if command -v systemd-analyze >/dev/null; then
    # 30 is an exposure of 3.0.
    systemd-analyze security --offline=true --threshold=30 "$scratch/root/usr/lib/systemd/system/bunraku-server.service" >"$scratch/said" 2>&1 ||
        { tail -n 2 "$scratch/said"; echo "FAILED: the exposure of the server"; failures=$((failures + 1)); }
    for unit in "$scratch"/root/usr/lib/systemd/system/*.service; do
        # The units refer to the installed paths of the programs.
        sed -i "s#=+\?/usr/#&#; s#/usr/bin/bunraku#$scratch/root/usr/bin/bunraku#; s#/usr/lib/bunraku#$scratch/root/usr/lib/bunraku#" "$unit"
    done
    lacks "$(systemd-analyze verify "$scratch"/root/usr/lib/systemd/system/*.service 2>&1)" "bunraku-[a-z-]*\.service:.*(Unknown|Invalid|not executable|Failed to parse)"
fi
# The tarball: the program depends only on the C library and the libraries in the tarball, and runs
# from any folder.
"$SOURCE/script/package" --tarball --build "$build" --fast "$scratch/out" >"$scratch/said" 2>"$scratch/err" ||
    { cat "$scratch/err"; failures=$((failures + 1)); finish; }
mkdir "$scratch/opt"
tar -C "$scratch/opt" -xf "$(tail -n 1 "$scratch/said")"
program=$(echo "$scratch"/opt/bunraku-*/bin/bunraku)
shared=$(LD_TRACE_LOADED_OBJECTS=1 "$program" | sed -n 's/^\t\([a-z0-9_-]*\)\.so.*/\1/p' | sort -u | tr '\n' ' ')
lacks "$shared" '(^| )(libstdc|libgcc|libssl|libcrypto|libsqlite|libfmt|libyaml|libz|libzstd|libgdbm|libcrypt|libmimalloc)'
holds "$(LD_TRACE_LOADED_OBJECTS=1 "$program")" "libonig.so.5 => $scratch/opt/"
holds "$("$program" apply "${places[@]}" -e 'notice("aXb" =~ /X/, sha256("a"), 1.5)' 2>&1)" ': true ca978112.* 1\.5$'
holds "$("$program" compile "${places[@]}" -e 'fail("thrown")' 2>&1)" 'thrown'
finish
