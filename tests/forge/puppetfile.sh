#!/bin/bash
# `module sync` destroys no local work: the control repository around the modules, modified modules,
# git checkouts, files outside of the environment. Messages are those of r10k 3.15.
set -u
BUNRAKU="${BUNRAKU:?}"
dir="$(mktemp -d "${TMPDIR:-/tmp}/bunraku-puppetfile.XXXXXX")"
dir="$(cd -P "$dir" && pwd)"
server=
cleanup() { [ -n "$server" ] && kill "$server"; rm -rf "$dir"; }
trap cleanup EXIT
export HOME="$dir" GIT_CONFIG_GLOBAL="$dir/gitconfig" LC_ALL=C
cd "$dir" || exit 1
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n' > gitconfig
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }

# A git module with two commits, and a forge with two releases of one module.
git init -q gm && mkdir gm/manifests gm/spec && echo 'class gm {}' > gm/manifests/init.pp
echo x > gm/spec/x_spec.rb
echo '{"name":"me-gm","version":"0.1.0","author":"me","license":"x","source":"s","summary":"","dependencies":[]}' > gm/metadata.json
ln -s manifests/init.pp gm/link
git -C gm add -A && git -C gm commit -qm one && git -C gm tag v1
echo two > gm/two && git -C gm add -A && git -C gm commit -qm two
head=$(git -C gm rev-parse HEAD) first=$(git -C gm rev-parse v1)
gm="git: 'file://$dir/gm'"
mkdir made && cd made && "$BUNRAKU" module init acme-web > /dev/null && cd .. || exit 1
for version in 1.0.0 2.0.0; do
    sed -i "s/\"version\": \"[0-9.]*\"/\"version\": \"$version\"/" made/web/metadata.json
    "$BUNRAKU" module build made/web > /dev/null || exit 1
done
forge() { "$BUNRAKU" forge --statedir "$dir/state" "$@" > /dev/null || exit 1; }
forge create --repo r && forge upload --repo r made/web/pkg/*.tar.gz && forge publish --repo r
"$BUNRAKU" forge --statedir "$dir/state" serve --default-repo r > serve.log & server=$!
for ((i = 0; i < 100; ++i)); do grep -q http serve.log && break; sleep 0.1; done
url=$(grep -o 'http://.*' serve.log)

# sync WANTED_EXIT WANTED_TEXT [OPTION...]: runs `module sync`. Its output is in $out, with the
# scratch folder replaced by DIR, and must contain the text.
sync() {
    local want_code="$1" want="$2" code
    shift 2
    out=$("$BUNRAKU" module sync --color=false --module_repository "$url" --vardir "$dir/var" "$@" 2>&1)
    code=$?
    out="${out//$dir/DIR}"
    [ "$code" = "$want_code" ] || fail "line ${BASH_LINENO[0]}: exit $code, not $want_code: $out"
    [[ "$out" == *"$want"* ]] || fail "line ${BASH_LINENO[0]}: no '$want' in: $out"
}
there() { for f in "$@"; do [ -e "$f" ] || fail "line ${BASH_LINENO[0]}: $f does not exist"; done; }
gone() { for f in "$@"; do [ ! -e "$f" ] || fail "line ${BASH_LINENO[0]}: $f exists"; done; }
fresh() {
    rm -rf "$dir/env" "$dir/var" "$dir/outside" && mkdir -p "$dir/env" "$dir/outside/keep" && cd "$dir/env" || exit 1
}
# The environment's own files are never purged, regardless of the spelling of the path that leads to
# them.
for path in . ./ site/.. "$dir/env" "$dir/env/site/../" here; do
    fresh
    mkdir -p site/profile data && echo x > site/profile/x && ln -s . here
    echo "mod 'gm', $gm, install_path: '$path'" > Puppetfile
    sync 0 '1 installed, 0 unchanged, 0 removed, 0 failed' --purge
    there site/profile/x data gm/manifests/init.pp gm/link
done
fresh
mkdir site && echo x > site/x
echo "mod 'gm', $gm, install_path: 'ext'" > Puppetfile
mkdir -p ext/stale
sync 0 '1 installed, 0 unchanged, 1 removed, 0 failed' --purge
there site/x ext/gm
gone ext/stale
# A module folder is not purged if another one is below it, or if it contains the environment.
echo "mod 'gm', $gm, install_path: 'modules/deep/er'" > Puppetfile
echo "mod 'acme-web', '1.0.0'" >> Puppetfile
sync 0 '2 installed' --purge
there modules/deep/er/gm modules/web
echo "mod 'acme-web', '1.0.0'" > Puppetfile
sync 0 '1 installed' --purge --moduledir "$dir"
there "$dir/gm" site/x modules/deep

# Modules are not installed outside of the environment, or over other files.
for path in "$dir/outside" .. ../outside modules/../../outside link link/x / "$dir"; do
    fresh
    ln -s ../outside link
    echo "mod 'gm', $gm, install_path: '$path'" > Puppetfile
    sync 1 "cannot manage content 'gm' outside of containing environment" --force --purge
    printf "moduledir '%s'\nmod 'gm', %s\n" "$path" "$gm" > Puppetfile
    sync 1 "cannot manage content 'gm' outside of containing environment"
    [ "$(ls "$dir/outside")" = keep ] || fail "$path: the outside folder was changed"
done
sync 0 '1 installed' --moduledir "$dir/outside"
there "$dir/outside/gm"
fresh
mkdir site && echo x > site/x
echo "mod 'site', $gm, install_path: '.'" > Puppetfile
sync 1 'env/site is not a module; use --force to replace it'
there site/x
echo "mod 'modules', $gm, install_path: '.'" > Puppetfile
echo "mod 'acme-web', '1.0.0'" >> Puppetfile
sync 1 "'modules' would be installed to DIR/env/modules, where 'acme-web' stands" --force

# Messages show a URL without its password.
fresh
git config --global url."file://$dir/gm".insteadOf https://user:s3cret@h/gm
for git in http://user:s3cret@127.0.0.1:1/x https://user:s3cret@h/gm "file://user:s3cret@localhost$dir/gm"; do
    echo "mod 'x', git: '$git', ref: 'v9'" > Puppetfile
    sync 1 '0 installed, 0 unchanged, 0 removed, 1 failed'
    [[ "$out" != *s3cret* ]] || fail "the output contains a password: $out"
    [[ "$git" != https:* || "$out" == *"https://user:***@h/gm has no 'v9'"* ]] || fail "the missing reference is not reported: $out"
done

# Local changes are detected in git and forge modules, with and without a record of the installed
# files.
for record in kept lost; do
    fresh
    forget() { [ $record = kept ] || rm -r "$dir"/var/puppet-module/installed || fail "no records"; }
    printf "mod 'gm', %s, ref: 'v1'\nmod 'acme-web', '1.0.0'\n" "$gm" > Puppetfile
    sync 0 '2 installed, 0 unchanged, 0 removed, 0 failed'
    sync 0 '0 installed, 2 unchanged, 0 removed, 0 failed'
    forget
    echo new > modules/web/new && echo more >> modules/gm/manifests/init.pp
    sync 0 '0 installed, 0 unchanged, 2 skipped, 0 removed, 0 failed'
    sync 0 'Skipping DIR/env/modules/gm due to local modifications (manifests/init.pp)'
    printf "mod 'gm', %s, ref: 'main'\nmod 'acme-web', '2.0.0'\n" "$gm" > Puppetfile
    sync 0 'Skipping DIR/env/modules/web due to local modifications (new)'
    there modules/web/new
    gone modules/gm/two
    sync 0 '2 installed, 0 unchanged, 0 removed, 0 failed' --force
    gone modules/web/new
    there modules/gm/two
    forget
    printf "mod 'gm', type: 'git', source: 'file://%s', version: 'v1', exclude_spec: true\nmod 'acme-web', '1.0.0'\n" "$dir/gm" > Puppetfile
    sync 0 '2 installed, 0 unchanged, 0 removed, 0 failed'
    gone modules/gm/two modules/gm/spec
    rm modules/web/README.md
    sync 0 'Skipping DIR/env/modules/web due to local modifications (README.md)'
done
# A module folder that is a link is a local modification.
fresh
mkdir modules && ln -s "$dir/gm" modules/gm
echo "mod 'gm', $gm" > Puppetfile
sync 0 'Skipping DIR/env/modules/gm due to local modifications (it is a link)'
[ -L modules/gm ] || fail "the link was removed"

# Checkouts are updated only if no work is lost, regardless of whether they are still in the
# Puppetfile.
checkout() { fresh; mkdir modules; git clone -q "file://$dir/gm" modules/gm; echo "mod 'gm', $gm, ref: '$1'" > Puppetfile; }
checkout main
sync 0 '0 installed, 1 unchanged'
there modules/gm/.git
checkout v1
sync 0 '1 installed'
there modules/gm/.git
[ "$(git -C modules/gm rev-parse HEAD)" = "$first" ] || fail "the checkout was not updated"
checkout v1
echo x > modules/gm/unsaved
sync 0 'Skipping DIR/env/modules/gm due to local modifications (changes)'
there modules/gm/unsaved
checkout v1
git -C modules/gm commit -q --allow-empty -m mine
mine=$(git -C modules/gm rev-parse HEAD)
sync 0 'Skipping DIR/env/modules/gm due to local modifications (commits that are not pushed)'
[ "$(git -C modules/gm rev-parse HEAD)" = "$mine" ] || fail "the checkout was updated"
echo "mod 'acme-web', '1.0.0'" > Puppetfile
sync 0 'Skipping DIR/env/modules/gm due to local modifications' --purge
there modules/gm/.git
echo "mod 'acme-gm', '1.0.0'" > Puppetfile
sync 0 'Skipping DIR/env/modules/gm due to local modifications (commits that are not pushed)'
there modules/gm/.git
checkout main
git -C modules/gm remote set-url origin https://example.org/other.git
echo x > modules/gm/two && git -C modules/gm stash -q
sync 0 'Skipping DIR/env/modules/gm due to local modifications (stashed changes)'
there modules/gm/.git
git -C modules/gm stash drop -q
echo "mod 'web', $gm" > Puppetfile
sync 0 '1 installed, 0 unchanged, 1 removed' --purge
gone modules/gm
[ "$(cat modules/web/REVISION)" = "$head" ] || fail "the wrong commit"

# Two concurrent runs, and runs that are killed. The next run succeeds and leaves no temporary
# files.
fresh
printf "mod 'gm', %s\nmod 'acme-web', '2.0.0'\n" "$gm" > Puppetfile
sync 0 'unchanged' & sync 0 'unchanged' & wait %2 %3 2> /dev/null
for after in 01 03 05 07 10 15 20; do
    rm -rf modules/gm
    { timeout -s KILL "0.$after" "$BUNRAKU" module sync --module_repository "$url" --vardir "$dir/var" > /dev/null; } 2> /dev/null
    sync 0 '0 failed'
done
# A killed process may exist until its parent has reaped it.
for ((i = 0; i < 50; ++i)); do
    sync 0 '0 failed'
    [ "$(ls -A modules | wc -l)" = 2 ] && break
    sleep 0.1
done
[ "$(ls -A modules | tr '\n' ' ')" = 'gm web ' ] || fail "remaining files: $(ls -A modules)"
exit $failed
