#!/bin/bash
# Trust from the author's key to the client's disk: signed releases, signed metadata of published
# content, and rejected signers. Then the same without a network, from one file.
set -u
BUNRAKU="${BUNRAKU:?}"
here="$(cd "$(dirname "$0")" && pwd)"
dir="$(mktemp -d "${TMPDIR:-/tmp}/bunraku-trust.XXXXXX")"
dir="$(cd -P "$dir" && pwd)"
server=
cleanup() { [ -n "$server" ] && kill "$server"; rm -rf "$dir"; }
trap cleanup EXIT
export HOME="$dir" LC_ALL=C
cd "$dir" || exit 1
failed=0
fail() { echo "FAILED: line ${BASH_LINENO[${2:-0}]}: $1" >&2; failed=1; }
# does CODE TEXT COMMAND...: checks the exit code, and that the output contains the text.
does() {
    local want=$1 text=$2 code
    shift 2
    out=$("$@" 2>&1)
    code=$?
    [ "$code" = "$want" ] || fail "exit $code, not $want: $out" 1
    [[ "$out" == *"$text"* ]] || fail "no '$text' in: $out" 1
}
forge() { "$BUNRAKU" forge --statedir "$dir/state" "$@"; }

for name in web lib; do
    "$BUNRAKU" module init "acme-$name" > /dev/null
    "$BUNRAKU" module build "$name" > /dev/null || fail "build $name"
done
web=web/pkg/acme-web-0.1.0.tar.gz lib=lib/pkg/acme-lib-0.1.0.tar.gz

# Keys and signatures.
does 0 RW forge key create --out acme.key
key=$out
[ "$(stat -c %a acme.key)" = 600 ] || fail "the key is readable by others"
does 1 'exists already' forge key create --out acme.key
does 0 RW forge key create --out other.key
does 0 "$web.minisig" forge sign --key acme.key "$web"
does 1 'not a gzipped tar' forge sign --key acme.key acme.key.pub
# Any other file, with its own name in the signed comment.
mkdir sums && echo "sum of a file" > sums/SHA256SUMS
does 0 sums/SHA256SUMS.minisig forge sign --any-file --key acme.key sums/SHA256SUMS
grep -qP '^trusted comment: timestamp:[0-9]+\tfile:SHA256SUMS$' sums/SHA256SUMS.minisig || fail "$(cat sums/SHA256SUMS.minisig)"
if command -v minisign > /dev/null; then
    does 0 'Signature and comment signature verified' minisign -V -p acme.key.pub -m sums/SHA256SUMS
fi
if command -v minisign > /dev/null; then
    does 0 'Signature and comment signature verified' minisign -V -p acme.key.pub -m "$web"
fi
does 0 '' forge create --repo site
does 1 'expected WHO=KEY' forge trust --repo site --signer "$key"
does 0 'acme must be signed' forge trust --repo site --signer "acme=$key" --require-signed acme
does 1 'acme-lib-0.1.0 is not signed' forge upload --repo site "$lib"
does 0 acme-web-0.1.0 forge upload --repo site "$web"
does 0 '' forge sign --key other.key "$lib"
does 1 'may not sign for acme-lib' forge upload --repo site "$lib"
does 0 '' forge sign --key acme.key "$lib"
does 0 acme-lib-0.1.0 forge upload --repo site "$lib"

# Signed metadata, whose root is given to the client.
does 0 'from its first publish on' forge metadata init --repo site --root-key "$dir/root.key"
does 1 'keys exist already' forge metadata init --repo site
does 0 site@1 forge publish --repo site
tree=state/forge/published/site
cp "$tree/metadata/root.json" root.json
: > serve.log
"$BUNRAKU" forge --statedir "$dir/state" serve --default-repo site >> serve.log & server=$!
for ((i = 0; i < 100; ++i)); do grep -q http serve.log && break; sleep 0.1; done
url=$(grep -o 'http://.*' serve.log)
repo=$url/pulp_puppet/forge/repository/site
mkdir conf
trust() { printf '%s\n' "$@" > conf/forge_trust.conf; }
fresh() { rm -rf env && mkdir env && echo "mod 'acme-web', '0.1.0'" > env/Puppetfile; }
sync() {
    "$BUNRAKU" module sync --puppetfile env/Puppetfile --module_repository "$repo" --confdir "$dir/conf" \
        --vardir "$dir/var" --color=false
}
install() {
    "$BUNRAKU" module install acme-lib --force --module_repository "$repo" --target-dir "$dir/m" \
        --confdir "$dir/conf" --vardir "$dir/var" --color=false
}
trust "forge $repo" "root $dir/root.json" "signer acme $key" 'require_signed acme'
fresh && does 0 '1 installed' sync
does 0 acme-lib install
# A release with the wrong signer is rejected, even from the cache.
trust "forge *" "signer acme $(tail -1 other.key.pub)" 'require_signed acme'
fresh && does 1 'which may not sign for acme-web' sync
[ ! -e env/modules/web/metadata.json ] || fail "a rejected release was installed"
does 1 'which may not sign for acme-lib' install
trust 'forge https://elsewhere.example.org' 'require_signed *'
fresh && does 0 '1 installed' sync
for line in 'nonsense' 'require_signed a b' 'root x'; do
    trust 'forge *' "$line"
    fresh && does 1 'forge_trust.conf: line 2' sync
done

# TUF's own client can read it. The test needs that client.
if python3 -c 'import tuf.ngclient' 2> /dev/null; then
    does 0 'acme-web-0.1.0.tar.gz: ' python3 "$here/tuf_client.py" root.json "$url/pulp/puppet/site" \
        system/releases/a/acme/acme-web-0.1.0.tar.gz
fi

# Attacks: an archive in the tree is replaced, a publish is rolled back, the keys are exchanged.
trust "forge $repo" "root $dir/root.json"
old=$(readlink -f "$tree")
cp -a "$old" was
mv "$web" right.tar.gz && echo more >> web/README.md && "$BUNRAKU" module build web > /dev/null
cp --remove-destination "$web" "$old/system/releases/a/acme/acme-web-0.1.0.tar.gz"
mv right.tar.gz "$web" && rm -rf var/puppet-module
fresh && does 1 'arbitrary software: system/releases/a/acme/acme-web-0.1.0.tar.gz is not the file' sync
cp --remove-destination "$web" "$old/system/releases/a/acme/acme-web-0.1.0.tar.gz"
fresh && does 0 '1 installed' sync
does 0 site@2 forge publish --repo site
fresh && does 0 '1 installed' sync
cp was/metadata/*.json "$tree/metadata/"
fresh && does 1 'rollback: timestamp.json is of version 1, and version 2 was seen before' sync
does 0 'Signed timestamp' forge metadata renew --repo site
fresh && does 1 'rollback: timestamp.json names version 1 of snapshot.json' sync
does 0 site@3 forge publish --repo site
fresh && does 0 '1 installed' sync
does 1 'the key of the role' forge metadata rotate --repo site --role targets
does 0 "Signed all metadata of 'site'; clients start with" forge metadata rotate --repo site --role targets --root-key root.key
fresh && does 0 '1 installed' sync
does 0 '' forge create --repo other
does 0 '' forge metadata init --repo other
cp state/forge/repos/other/metadata/1.root.json root.json
fresh && does 1 'wrong keys: ' sync

# A deploy enforces the same rules, and its lock file. A rejected release leaves the environment
# unchanged.
cp "$tree/metadata/root.json" root.json
export GIT_CONFIG_GLOBAL=$dir/gitconfig
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n' > gitconfig
git init -q control
printf -- '---\ncachedir: %s/cache\nforge:\n  baseurl: %s\nsources:\n  s:\n    remote: file://%s/control\n    basedir: %s/envs\n' \
    "$dir" "$repo" "$dir" "$dir" > r10k.yaml
commit() { git -C control add -A && git -C control commit -qm "$1"; }
deploy() {
    "$BUNRAKU" deploy environment --modules --r10k "$dir/r10k.yaml" --confdir "$dir/conf" --vardir "$dir/var-deploy"
}
echo "mod 'acme-web', '0.1.0'" > control/Puppetfile
commit one
trust "forge $repo" "root $dir/root.json" "signer acme $key" 'require_signed acme'
does 0 '1 deployed' deploy
before=$(readlink envs/main)
printf "mod 'acme-web', '0.1.0'\nmod 'acme-lib', '0.1.0'\n" > control/Puppetfile
commit two
trust "forge $repo" "root $dir/root.json" "signer acme $(tail -1 other.key.pub)" 'require_signed acme'
does 1 'which may not sign for acme-' deploy
trust "forge $repo" "root $dir/state/forge/repos/other/metadata/1.root.json" "signer acme $key" 'require_signed acme'
does 1 'wrong keys: ' deploy
trust "forge $repo" "root $dir/root.json"
cp "$lib" right.tar.gz
real=$(readlink -f "$tree")/system/releases/a/acme/acme-lib-0.1.0.tar.gz
cp "$real" kept.tar.gz && cp --remove-destination "$web" "$real"
does 1 'acme-lib' deploy
cp --remove-destination kept.tar.gz "$real"
does 0 '2 installed' "$BUNRAKU" module sync --puppetfile control/Puppetfile --moduledir "$dir/m3" \
    --module_repository "$repo" --confdir "$dir/conf" --vardir "$dir/var-lock" --color=false
cp control/Puppetfile.lock.json good.lock
sed -i 's/"sha256": "..../"sha256": "0000/' control/Puppetfile.lock.json
commit three
does 1 'is not what the lock file was written for' deploy
[ "$(readlink envs/main)" = "$before" ] || fail 'a rejected version was deployed'
[ ! -e envs/main/modules/lib ] || fail 'a rejected release exists'
cp good.lock control/Puppetfile.lock.json
commit four
does 0 '1 deployed' deploy
[ -f envs/main/modules/lib/metadata.json ] || fail 'an accepted release was not deployed'

# A pull-through repository accepts only signed releases from its upstream.
does 0 '' forge create --repo pulled --upstream "$repo"
does 0 'must be signed' forge trust --repo pulled --signer "acme=$(tail -1 other.key.pub)" --require-signed acme
does 0 '' forge publish --repo pulled
pulled=$url/pulp_puppet/forge/repository/pulled
trust 'forge https://elsewhere.example.org' 'require_signed *'
pull() {
    rm -rf m2
    "$BUNRAKU" module install acme-lib --module_repository "$pulled" --target-dir "$dir/m2" --confdir "$dir/conf" \
        --vardir "$dir/var-pull" --color=false
}
does 1 '502' pull
[ ! -e state/forge/repos/pulled/units/acme-lib-0.1.0.tar.gz ] || fail 'a rejected release was stored'
# A new rule takes effect at once: releases that the previous rule rejected are requested again.
does 0 'must be signed' forge trust --repo pulled --signer "acme=$key" --require-signed acme
does 0 'acme-lib' pull
does 0 '' forge create --repo pulled2 --upstream "$repo"
does 0 'must be signed' forge trust --repo pulled2 --signer "acme=$key" --require-signed acme
does 0 '' forge publish --repo pulled2
pulled=${pulled}2
does 0 'acme-lib' pull
trust "forge $repo" "root $dir/root.json"

# A mirror enforces the same rules on its feed.
cp "$tree/metadata/root.json" root.json
does 0 '' forge create --repo mirror
does 0 '2 offered, 0 present, 2 fetched' forge sync --repo mirror --feed "$repo" --root root.json --with-signatures
[ -f state/forge/repos/mirror/units/acme-web-0.1.0.minisig ] || fail 'the signature was not copied'
cp was/metadata/*.json "$tree/metadata/"
does 1 'is not to be trusted: rollback' forge sync --repo mirror --feed "$repo" --root root.json

# A site without a network.
echo unchanged >victim
ln -s victim all.tar.part
does 0 "2 releases of 'site'" forge bundle export --repo site --out all.tar --key acme.key
[ "$(cat victim)" = unchanged ] || fail "the export wrote through a link"
does 0 "'inside'" forge create --repo inside
does 1 'Specify --key' forge bundle import --repo inside --in all.tar
does 1 'is signed with the key' forge bundle import --repo inside --in all.tar --key other.key.pub
does 0 "2 releases into 'inside'" forge bundle import --repo inside --in all.tar --key acme.key.pub --publish
cmp -s state/forge/published/inside/system/releases/a/acme/acme-web-0.1.0.tar.gz "$web" || fail 'the archive differs'
does 0 "0 releases of 'site'" forge bundle export --repo site --out none.tar --without all.tar
does 0 'must be signed' forge trust --repo inside --require-signed '*' --signer "*=$key"
exit $failed
