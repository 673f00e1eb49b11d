#!/bin/bash
# kill -9 at any moment of upload, publish and sync. The published content is always one complete
# snapshot, and the next run continues. ROUNDS=N sets the number of rounds.
set -u
BUNRAKU="${BUNRAKU:?}"
rounds="${ROUNDS:-6}"
dir="$(mktemp -d "${TMPDIR:-/tmp}/bunraku-forge.XXXXXX")"
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
forge() { "$BUNRAKU" forge --statedir "$dir/state" "$@"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

# 3 modules with 12 versions each.
for name in one two three; do
    "$BUNRAKU" module init "killer-$name" > /dev/null || fail "init"
    for minor in 0 1 2 3 4 5 6 7 8 9 10 11; do
        sed -i "s/\"version\": \"[0-9.]*\"/\"version\": \"1.$minor.0\"/" "$name/metadata.json"
        "$BUNRAKU" module build "$name" > /dev/null || fail "build"
    done
done
mkdir all && mv ./*/pkg/*.tar.gz all/
count=$(ls all | wc -l)
[ "$count" = 36 ] || fail "made $count archives"

# Checks that the published tree is complete: listing, manifest and files agree, and checksums
# match.
is_complete() {
    local tree="$dir/state/forge/published/$1"
    [ -e "$tree" ] || return 0
    [ -f "$tree/.records" ] && [ -f "$tree/.texts" ] && [ -f "$tree/.dependency_db" ] || return 1
    local listed manifest files
    listed=$(grep -o '"version"' "$tree/modules.json" | wc -l)
    manifest=$(wc -l < "$tree/PULP_MANIFEST")
    files=$(find "$tree/system" -name '*.tar.gz' 2> /dev/null | wc -l)
    [ "$listed" = "$manifest" ] && [ "$manifest" = "$files" ] || return 1
    (cd -P "$tree" && sed -n 's/^\(.*\),\([0-9a-f]*\),\([0-9]*\)$/\2  \1/p' PULP_MANIFEST |
        sha256sum --check --status --strict 2> /dev/null) || [ "$manifest" = 0 ]
}
# Runs the forge and kills it after up to $1 milliseconds.
run_and_kill() {
    local after
    after=$(printf '0.%03d' $((RANDOM % $1)))
    shift
    { timeout -s KILL "$after" "$BUNRAKU" forge --statedir "$dir/state" "$@" > /dev/null; } 2> /dev/null
}

forge create --repo big > /dev/null && forge create --repo source > /dev/null || fail "create"
forge upload --repo source all/*.tar.gz > /dev/null && forge publish --repo source > /dev/null || fail "source"
# A server shares the state. It must never serve a partial snapshot.
for ((i = 0; i < rounds; ++i)); do
    run_and_kill 60 upload --repo big \
        $(ls -d all/* | shuf -n 12 --random-source=<(yes $i))
    is_complete big || fail "round $i: upload changed the published snapshot"
    run_and_kill 60 publish --repo big
    is_complete big || fail "round $i: publish left a partial snapshot"
    [ -e state/forge/published/source ] && is_complete source || fail "round $i: another repository was changed"
    forge list --repo big | while read -r module version; do
        forge remove --repo big --module "$module" --version "$version" > /dev/null
        break
    done
done
forge publish --repo big > /dev/null || fail "the last publish"
is_complete big || fail "the last publish is incomplete"

forge create --repo mirror > /dev/null
for ((i = 0; i < rounds; ++i)); do
    run_and_kill 80 sync --repo mirror \
        --feed "file://$dir/state/forge/published/source"
    forge publish --repo mirror > /dev/null || fail "round $i: publish after an interrupted sync"
    is_complete mirror || fail "round $i: an interrupted sync left a broken release"
    [ $((i % 3)) = 2 ] && forge delete --repo mirror > /dev/null && forge create --repo mirror > /dev/null
done
forge sync --repo mirror --feed "file://$dir/state/forge/published/source" > /dev/null || fail "the last sync"
forge publish --repo mirror > /dev/null
is_complete mirror || fail "the last sync is incomplete"
[ "$(grep -c . state/forge/published/mirror/PULP_MANIFEST)" = 36 ] || fail "the mirror is incomplete"
[ -z "$(find state/forge/snapshots -name '.making.*')" ] || fail "temporary files remain"
echo "ok: $rounds rounds"
