#!/bin/bash
# The RPM package, made from this build: its dependencies, files, scriptlets and configuration. As
# root, it is installed, upgraded and erased in a small root directory.
. "${0%/*}/lib.sh"
build=${BUNRAKU%/*}
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
for part in pre post preun postun; do sh -n "$SOURCE/share/rpm/$part" || fail "syntax of $part"; done
# A build with sanitizers is not packaged.
if grep -q '^BUNRAKU_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then finish; fi
"$SOURCE/script/package" --rpm --build "$build" --fast "$scratch/out" >"$scratch/said" 2>"$scratch/err" ||
    { cat "$scratch/err"; fail "script/package"; finish; }
package=$(tail -n 1 "$scratch/said")
# No database of this machine is read.
ask() { rpm --dbpath "$scratch/db" "$@" "$package" 2>/dev/null; }
[ "$(ask -qp --qf '%{NAME} %{RELEASE} %{ARCH} %{LICENSE} %{BUILDHOST}')" = "bunraku 1 $(uname -m) Apache-2.0 localhost" ] ||
    fail "header: $(ask -qpi)"
released=$(sed -n 's/^project(bunraku VERSION \([0-9.]*\).*/\1/p' "$SOURCE/CMakeLists.txt")
holds "$(ask -qp --qf '%{VERSION}')" "^${released//./\\.}(~[0-9]{12}\.[0-9a-f]{12})?\$"
requires=$(ask -qp --requires)
holds "$requires" '^libc\.so\.6\(GLIBC_2\.[0-9]+\)\(64bit\)$'
holds "$requires" '^libarchive\.so\.13\(\)\(64bit\)$'
holds "$requires" '^\(shadow-utils or shadow\)$'
# The package includes these libraries, or they are linked statically.
lacks "$requires" '^lib(onig|md4c|stdc\+\+|ssl|crypto|sqlite3|fmt|yaml|z|mimalloc)\.'
holds "$(ask -qp --recommends)" '^libpq\.so\.5\(\)\(64bit\)$'
lacks "$(ask -qp --provides)" '^lib'
files=$(ask -qpl)
for path in /usr/bin/bunraku /usr/lib/bunraku/prepare-server /usr/lib/bunraku/libonig.so.5 /usr/share/bunraku/puppet.conf \
    /usr/lib/systemd/system/bunraku-server.service /usr/lib/systemd/system/bunraku-agent-run.timer \
    /usr/share/zsh/site-functions/_bunraku /usr/share/man/man1/bunraku-agent.1.gz /usr/share/licenses/bunraku/LICENSE; do
    holds "$files" "^$path\$"
done
lacks "$files" '^/(usr/bin/(puppet|facter)$|etc/puppet|lib)'
[ "$(ask -qpc | tr '\n' ' ')" = "/etc/sysconfig/bunraku-agent /etc/sysconfig/bunraku-server " ] || fail "configuration: $(ask -qpc)"
[ "$(ask -qp --qf '[%{FILEFLAGS:fflags} %{FILENAMES}\n]' | grep /etc/ | tr '\n' ' ')" = \
    "cn /etc/sysconfig/bunraku-agent cn /etc/sysconfig/bunraku-server " ] || fail "configuration flags"
[ "$(ask -qp --qf '[%{FILEUSERNAME}:%{FILEGROUPNAME}\n]' | sort -u)" = root:root ] || fail "owners"
holds "$(ask -qp --qf '%{PREIN}')" 'useradd -r -g puppet'
holds "$(ask -qp --qf '%{PREUN}')" 'systemctl --no-reload disable --now'

# A root directory with the programs of this machine, and with its own /etc and /var. Its /usr can be
# written to, but does not change that of this machine.
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    cat >"$scratch/inside" <<'INSIDE'
set -u
package=$1 root=$2
fail() { echo "FAILED: $*"; failed=1; }
failed=0
mount -t tmpfs tmpfs "$root"
mkdir -p "$root"/{upper,work,usr,etc/alternatives,etc/sysconfig,var/lib/dpkg/alternatives,var/lib/rpm,var/log,run,tmp,dev,proc}
mount -t overlay overlay -o "lowerdir=/usr,upperdir=$root/upper,workdir=$root/work" "$root/usr" || exit 77
for name in bin sbin lib lib32 lib64 libx32; do
    [ ! -L "/$name" ] || ln -s "usr/$name" "$root/$name"
done
mknod -m 666 "$root/dev/null" c 1 3
cp /etc/ld.so.cache /etc/login.defs "$root/etc/"
printf 'passwd: files\ngroup: files\n' >"$root/etc/nsswitch.conf"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
rm -f "$root"/usr/bin/{puppet,facter,bunraku}
rpms() { rpm --root "$root" --dbpath /var/lib/rpm "$@"; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin "$@"; }
rpms -U --nodeps "$package" || fail "installation"
[ "$(cut -d: -f1,6,7 "$root/etc/passwd" | tail -n 1)" = puppet:/var/lib/puppet:/sbin/nologin ] || fail "user: $(cat "$root/etc/passwd")"
[ "$(inside stat -c '%U:%G %a' /var/lib/puppet)" = "puppet:puppet 750" ] || fail "home: $(inside stat -c '%U:%G %a' /var/lib/puppet)"
[ "$(head -c 47 "$root/etc/puppetlabs/puppet/puppet.conf")" = "# Made by the package bunraku, for Puppet's lay" ] || fail "puppet.conf"
[ -d "$root/etc/puppetlabs/code/environments/production/modules" ] || fail "no environment"
[ "$(inside bunraku config print confdir codedir | sort | tr '\n' ' ')" = "codedir = /etc/puppetlabs/code confdir = /etc/puppetlabs/puppet " ] ||
    fail "layout: $(inside bunraku config print confdir codedir)"
# The server's folders belong to its user.
ssl=$(inside bunraku config print ssldir)
[ "$(inside stat -c '%U %a' "$ssl")" = "puppet 750" ] || fail "$ssl"
[ "$(readlink "$root/usr/bin/puppet") $(readlink "$root/etc/alternatives/puppet")" = "/etc/alternatives/puppet /usr/bin/bunraku" ] || fail "alternative"
inside puppet --version | grep -qE '^8\.[0-9]+\.[0-9]+$' || fail "puppet --version: $(inside puppet --version)"
rpms -V --nodeps bunraku || fail "changed files"
# The same version once more, as an upgrade: a removed file of the layout stays removed, and changed
# configuration stays.
rm "$root/etc/puppetlabs/puppet/hiera.yaml"
echo '# mine' >>"$root/etc/sysconfig/bunraku-server"
rpms -U --nodeps --replacepkgs "$package" || fail "upgrade"
[ ! -e "$root/etc/puppetlabs/puppet/hiera.yaml" ] || fail "the upgrade made the layout again"
tail -n 1 "$root/etc/sysconfig/bunraku-server" | grep -qx '# mine' || fail "changed configuration was replaced"
[ -L "$root/usr/bin/puppet" ] || fail "the upgrade removed the alternative"
rpms -e bunraku || fail "removal"
[ ! -e "$root/usr/bin/bunraku" ] || fail "the program stayed"
[ ! -L "$root/usr/bin/puppet" ] && [ ! -L "$root/etc/alternatives/puppet" ] || fail "the alternative stayed"
[ -e "$root/etc/sysconfig/bunraku-server.rpmsave" ] || fail "changed configuration was removed"
[ -e "$root/etc/puppetlabs/puppet/puppet.conf" ] || fail "puppet.conf was removed"
# An existing puppet stays, and so does an existing layout.
rm -rf "$root/etc/puppetlabs"
mkdir -p "$root/etc/puppetlabs/code"
printf '#!/bin/sh\necho other\n' >"$root/usr/bin/puppet"
chmod 755 "$root/usr/bin/puppet"
rpms -U --nodeps "$package" || fail "installation beside Puppet"
[ "$(inside puppet)" = other ] || fail "puppet was replaced"
[ ! -e "$root/etc/puppetlabs/puppet/puppet.conf" ] || fail "puppet.conf was created in an existing layout"
[ "$(grep -c '^puppet:' "$root/etc/passwd")" = 1 ] || fail "user: $(cat "$root/etc/passwd")"
exit $failed
INSIDE
    mkdir "$scratch/root"
    unshare --mount --propagation private bash "$scratch/inside" "$package" "$scratch/root" || fail "in a root directory"
fi
finish
