#!/bin/bash
# script/package --repository: signed repositories that apt and dnf's createrepo_c accept. The
# packages here are empty; script/try-repository installs real ones with apt in a new root.
. "${0%/*}/lib.sh"
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
export GNUPGHOME=$scratch/gnupg SOURCE_DATE_EPOCH=1700000000
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key 'Release <release@example.org>' rsa2048 sign never 2>"$scratch/err" ||
    { cat "$scratch/err"; fail "no key"; finish; }
# deb VERSION ARCHITECTURE: makes an empty package.
deb() {
    mkdir -p "$scratch/deb/DEBIAN"
    printf 'Package: bunraku\nVersion: %s\nArchitecture: %s\nMaintainer: T <t@example.org>\nDescription: test\n' "$1" "$2" >"$scratch/deb/DEBIAN/control"
    dpkg-deb -Zgzip --root-owner-group -b "$scratch/deb" "$scratch/bunraku_$1_$2.deb" >/dev/null
}
repository() { "$SOURCE/script/package" --repository "$scratch/repository" --key release@example.org "$@" >"$scratch/said" 2>"$scratch/err"; }
deb 1.0.0+deb12 amd64
deb 1.0.0+deb12 arm64
deb 1.0.0+deb13 amd64
deb 1.1.0+deb12 amd64
printf 'Name: bunraku\nVersion: 1.0.0\nRelease: 1\nSummary: test\nLicense: test\n%%description\ntest\n%%files\n' >"$scratch/bunraku.spec"
rpmbuild -bb --quiet --target "$(uname -m)" --define "_topdir $scratch/rpmbuild" --define "_dbpath $scratch/db" "$scratch/bunraku.spec" >"$scratch/err" 2>&1 ||
    { cat "$scratch/err"; fail "rpmbuild"; }
rpm=$(echo "$scratch"/rpmbuild/RPMS/*/*.rpm)

# Mistakes.
! repository "$scratch/missing.deb" || fail "a missing package was accepted"
holds "$(<"$scratch/err")" 'missing.deb is no .deb or .rpm file'
deb 1.0.0 amd64
! repository "$scratch/bunraku_1.0.0_amd64.deb" || fail "a package for no release was accepted"
holds "$(<"$scratch/err")" 'does not name the release it was built for'
! "$SOURCE/script/package" --repository "$scratch/other" --key nobody@example.org "$rpm" 2>"$scratch/err" || fail "an unknown key was accepted"
holds "$(<"$scratch/err")" 'gpg has no key nobody@example.org'

repository "$scratch"/bunraku_1.0.0+deb1*.deb "$rpm" || { cat "$scratch/err"; fail "script/package --repository"; finish; }
[ "$(sed "s#$scratch/repository/##" "$scratch/said" | tr '\n' ' ')" = "debian12.sources debian13.sources bunraku.repo " ] || fail "output: $(<"$scratch/said")"
gpg --batch --quiet --dearmor -o "$scratch/public.gpg" "$scratch/repository/bunraku.asc"
valid() { gpgv --quiet --keyring "$scratch/public.gpg" "$@" 2>"$scratch/err" || { cat "$scratch/err"; fail "signature of $*"; }; }
for suite in debian12 debian13; do
    valid "$scratch/repository/dists/$suite/InRelease"
    valid "$scratch/repository/dists/$suite/Release.gpg" "$scratch/repository/dists/$suite/Release"
done
valid "$scratch/repository/rpm/repodata/repomd.xml.asc" "$scratch/repository/rpm/repodata/repomd.xml"
release=$(<"$scratch/repository/dists/debian12/Release")
holds "$release" '^Architectures: amd64 arm64$'
holds "$release" '^Date: Tue, 14 Nov 2023 22:13:20 UTC$'
(cd "$scratch/repository/dists/debian12" && sed -n 's/^ \([0-9a-f]\{64\}\) [0-9]* \(.*\)$/\1  \2/p' Release | sha256sum --quiet -c) || fail "digests"
mkdir "$scratch/rpmdb"
rpm --dbpath "$scratch/rpmdb" --import "$scratch/repository/bunraku.asc"
holds "$(rpm --dbpath "$scratch/rpmdb" -Kv "$scratch/repository/rpm/${rpm##*/}")" 'Header V4 RSA/SHA(256|512) Signature, key ID [0-9a-f]*: OK'
holds "$(<"$scratch/repository/bunraku.repo")" '^gpgcheck=1$'

# apt accepts it: with its own folders, and for another user than root, too.
packages() {
    rm -rf "$scratch/apt"
    mkdir -p "$scratch/apt/"{lists,cache,sources,preferences,trusted,conf}
    cp "$scratch/repository/debian12.sources" "$scratch/apt/sources/"
    touch "$scratch/apt/status"
    local options=(-o Dir::Etc="$scratch/apt" -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$scratch/apt/sources"
        -o Dir::Etc::trustedparts="$scratch/apt/trusted" -o Dir::Etc::trusted=/dev/null -o Dir::State::lists="$scratch/apt/lists"
        -o Dir::Cache="$scratch/apt/cache" -o Dir::State::status="$scratch/apt/status" -o APT::Architecture=amd64
        -o APT::Architectures=amd64 -o APT::Sandbox::User= -o Debug::NoLocking=1)
    LC_ALL=C apt-get "${options[@]}" update >"$scratch/said" 2>&1 || return 1
    LC_ALL=C apt-cache "${options[@]}" madison bunraku | tr -s ' '
}
holds "$(packages)" '^ ?bunraku \| 1\.0\.0\+deb12 \| file:.* debian12/main amd64 Packages$'
# A second release is added, and the first one stays.
old=$(sed -n 's/^ \([0-9a-f]\{64\}\) .* main\/binary-amd64\/Packages$/\1/p' "$scratch/repository/dists/debian12/Release")
repository "$scratch/bunraku_1.1.0+deb12_amd64.deb" || { cat "$scratch/err"; fail "second release"; }
[ "$(packages | sed 's/.*| \(1[^ ]*\) |.*/\1/' | sort | tr '\n' ' ')" = "1.0.0+deb12 1.1.0+deb12 " ] || fail "versions: $(packages)"
# Clients that have read the Release file before still find its indexes.
[ -e "$scratch/repository/dists/debian12/main/binary-amd64/by-hash/SHA256/$old" ] || fail "the previous index was removed"
# A changed index is rejected.
echo >>"$scratch/repository/dists/debian12/main/binary-amd64/Packages"
for file in "$scratch"/repository/dists/debian12/main/binary-amd64/by-hash/SHA256/*; do echo >>"$file"; done
echo x >"$scratch/repository/dists/debian12/main/binary-amd64/Packages.gz"
! packages >/dev/null || fail "apt accepted a changed index"
holds "$(<"$scratch/said")" 'Hash Sum mismatch|unexpected size'
finish
