#!/bin/bash
# kill -9 at any moment of a deploy. The environment is completely the old or the new one, and the
# next run continues. ROUNDS=N sets the number of rounds.
set -u
BUNRAKU="${BUNRAKU:?}"
rounds="${ROUNDS:-8}"
dir="$(mktemp -d "${TMPDIR:-/tmp}/bunraku-kill-deploy.XXXXXX")"
dir="$(cd -P "$dir" && pwd)"
trap 'rm -rf "$dir"' EXIT
export HOME="$dir" GIT_CONFIG_GLOBAL="$dir/gitconfig" LC_ALL=C
cd "$dir" || exit 1
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n' > gitconfig
fail() { echo "FAILED: $*" >&2; exit 1; }

for m in a b c control; do git init -q "$m"; mkdir "$m/manifests"; done
# Writes one generation of all content: 8 files in each of 3 modules, 5 in the control repository.
generation() {
    local m i
    for m in a b c; do
        for i in 1 2 3 4 5 6 7 8; do echo "generation $1" > "$m/manifests/$i.pp"; done
        git -C "$m" add -A && git -C "$m" commit -qm "$1" && git -C "$m" tag "v$1"
        echo "mod '$m', git: 'file://$dir/$m', tag: 'v$1'"
    done > control/Puppetfile
    for i in 1 2 3 4 5; do echo "generation $1" > "control/manifests/$i.pp"; done
    git -C control add -A && git -C control commit -qm "$1"
}
printf -- '---\ncachedir: %s/cache\nsources:\n  s:\n    remote: file://%s/control\n    basedir: %s/envs\n' "$dir" "$dir" "$dir" > r10k.yaml
deploy=("$BUNRAKU" deploy environment --modules --r10k r10k.yaml --vardir "$dir/var" --confdir "$dir/conf")
is_complete() {
    local found want
    found=$(cat envs/main/manifests/*.pp envs/main/modules/*/manifests/*.pp | sort | uniq -c | sed 's/^ *//')
    for want in "$@"; do [ "$found" = "29 generation $want" ] && return 0; done
    return 1
}
generation 0
# Kills after a time between zero and twice the duration of a deploy.
begin=$(date +%s%N)
"${deploy[@]}" > log 2>&1 || fail "the first deploy: $(cat log)"
longest=$((($(date +%s%N) - begin) / 500000))
last=0 reached=0
for ((round = 1; round <= rounds; ++round)); do
    generation "$round"
    { timeout -s KILL "$(printf '0.%03d' $((RANDOM % longest % 1000)))" "${deploy[@]}" > /dev/null; } 2> /dev/null
    is_complete "$last" "$round" || fail "round $round: neither $last nor $round"
    if is_complete "$round"; then last=$round reached=$((reached + 1)); fi
done
"${deploy[@]}" > log 2>&1 || fail "the last deploy: $(cat log)"
is_complete "$rounds" || fail "the last deploy is incomplete"
[ -z "$(find envs/.bunraku -name '.new-*' -o -name '.link-*')" ] || fail "temporary files remain"
echo "ok: $rounds rounds, $reached of them reached the new generation"
