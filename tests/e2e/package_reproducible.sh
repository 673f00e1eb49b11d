#!/bin/bash
# Packages of one build are the same bytes, whatever the times of the installed files, the umask, the
# time zone, the locale and the folder for temporary files are. script/reproduce also compares two builds.
. "${0%/*}/lib.sh"
build=${BUNRAKU%/*}
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# A build with sanitizers is not packaged.
if grep -q '^BUNRAKU_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then finish; fi
make() {
    "$SOURCE/script/package" --build "$build" --fast --sbom --deb --rpm --tarball "$scratch/$1" >"$scratch/said" 2>"$scratch/err" ||
        { cat "$scratch/err"; fail "script/package"; finish; }
}
mkdir "$scratch/tmp" "$scratch/other"
(umask 022 && TMPDIR=$scratch/tmp TZ=UTC LC_ALL=C.UTF-8 make one) || failures=$((failures + 1))
(umask 077 && TMPDIR=$scratch/other TZ=Asia/Tokyo LC_ALL=C make two) || failures=$((failures + 1))
names=$(cd "$scratch/one" && printf '%s\n' * | sed -E 's/[0-9]+\.[0-9]+\.[0-9]+([~-][0-9]{12}\.[0-9a-f]{12})?/V/; s/\+deb[0-9]+|\+ubuntu[0-9.]+//' | LC_ALL=C sort | tr '\n' ' ')
machine=$(uname -m)
architecture=$(dpkg --print-architecture)
[ "$names" = "bunraku-V-1.$machine.rpm bunraku-V-1.$machine.rpm.spdx.json bunraku-V-$machine.tar.gz bunraku-V-$machine.tar.gz.spdx.json bunraku_V_$architecture.deb bunraku_V_$architecture.deb.spdx.json " ] ||
    fail "files: $names"
diff <(cd "$scratch/one" && sha256sum ./*) <(cd "$scratch/two" && sha256sum ./*) || fail "the packages differ"

# No path or time of the build is in the packages.
epoch=$(git -c safe.directory='*' -C "$SOURCE" log -1 --format=%ct 2>/dev/null || echo 0)
tarball=$(echo "$scratch"/one/*.tar.gz)
[ "$(tar -tvf "$tarball" --full-time --utc | awk '{ print $4, $5 }' | sort -u)" = "$(date -u -d "@$epoch" '+%F %T')" ] || fail "times in the tarball"
[ "$(dpkg-deb --fsys-tarfile "$scratch"/one/*.deb | tar -tv --full-time --utc | awk '{ print $4, $5 }' | sort -u)" = "$(date -u -d "@$epoch" '+%F %T')" ] ||
    fail "times in the package"
[ "$(rpm --dbpath "$scratch/db" -qp --qf '%{BUILDTIME} [%{FILEMTIMES}\n]' "$scratch"/one/*.rpm | tr ' ' '\n' | sort -u)" = "$epoch" ] || fail "times in the RPM package"
mkdir "$scratch/files"
tar -C "$scratch/files" -xf "$tarball"
# A short path such as /bunraku (script/root) is also a word of the documents.
paths=(-e "$scratch" -e "$build")
[ "$(dirname "$SOURCE")" = / ] || paths+=(-e "$SOURCE")
! grep -rlF "${paths[@]}" "$scratch/files" || fail "paths of the build in these files"
holds "$(cat "$scratch"/files/*/lib/systemd/system/bunraku-server.service)" '^ExecStart=/opt/bunraku-[^ ]*/bin/bunraku server '

# The bill of materials names every linked library, and how it is linked.
python3 - "$scratch"/one/*.deb.spdx.json "$scratch"/one/*.tar.gz.spdx.json <<'PYTHON' || failures=$((failures + 1))
import hashlib, json, re, sys
deb, tarball = (json.load(open(path)) for path in sys.argv[1:])
for sbom, path in ((deb, sys.argv[1]), (tarball, sys.argv[2])):
    assert sbom["spdxVersion"] == "SPDX-2.3" and sbom["dataLicense"] == "CC0-1.0"
    identifiers = {package["SPDXID"] for package in sbom["packages"]}
    assert len(identifiers) == len(sbom["packages"])
    for relation in sbom["relationships"]:
        assert relation["relatedSpdxElement"] in identifiers, relation
    digest = sbom["packages"][0]["checksums"][0]["checksumValue"]
    assert digest == hashlib.sha256(open(path.removesuffix(".spdx.json"), "rb").read()).hexdigest()
    for package in sbom["packages"]:
        assert re.fullmatch(r"[0-9][A-Za-z0-9.+:~-]*", package["versionInfo"]), package
def linked(sbom, relation):
    names = {package["SPDXID"]: package["name"] for package in sbom["packages"]}
    return {names[r["relatedSpdxElement"]] for r in sbom["relationships"] if r["relationshipType"] == relation}
dynamic = linked(deb, "DYNAMIC_LINK")
for start in ("libc6", "libssl3", "libsqlite3-0", "libonig5", "libyaml-0-2", "libutf8proc", "zlib1g", "libgdbm6", "libmd4c0",
              "libcrypt1", "libfmt", "libmimalloc", "libstdc++6", "libgcc-s1"):
    assert any(name.startswith(start) for name in dynamic), (start, dynamic)
assert [re.sub("[0-9.]+", "", name) for name in linked(deb, "STATIC_LINK")] == ["libboost-dev"], deb
static = linked(tarball, "STATIC_LINK")
for start in ("libssl", "libsqlite3", "libyaml", "libutf8proc", "zlib1g", "libgdbm", "libcrypt", "libfmt", "libstdc++", "libgcc", "libboost"):
    assert any(name.startswith(start) for name in static), (start, static)
assert linked(tarball, "CONTAINS") == {"libonig5", "libmd4c0"}, tarball
assert linked(tarball, "DYNAMIC_LINK") == {"libc6"}, tarball
PYTHON

# Provenance of files.
echo a >"$scratch/file"
SOURCE_DATE_EPOCH=5 python3 -B "$SOURCE/tools/package/provenance.py" --version 1.2.3 --commit 0123abcd --repository https://example.org/r.git \
    "$scratch/file" >"$scratch/provenance.json"
python3 - "$scratch/provenance.json" <<'PYTHON' || failures=$((failures + 1))
import json, sys
statement = json.load(open(sys.argv[1]))
assert statement["_type"] == "https://in-toto.io/Statement/v1" and statement["predicateType"] == "https://slsa.dev/provenance/v1"
assert statement["subject"] == [{"name": "file", "digest": {"sha256": "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"}}]
build = statement["predicate"]["buildDefinition"]
assert build["externalParameters"] == {"version": "1.2.3", "commit": "0123abcd"}
assert build["resolvedDependencies"] == [{"uri": "git+https://example.org/r.git@0123abcd", "digest": {"gitCommit": "0123abcd"}}]
PYTHON
finish
