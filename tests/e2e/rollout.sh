#!/bin/bash
# A rollout reaches all nodes in waves if the change is good. A change that fails on the canary halts
# the rollout, and the node goes back. Three agents of one machine are the nodes.
. "$SOURCE/tests/e2e/lib.sh"
export GIT_CONFIG_GLOBAL=$scratch/gitconfig
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = production\n' >"$GIT_CONFIG_GLOBAL"
site=$scratch/site
mkdir -p "$site/etc" "$scratch/control/manifests" "$scratch/made"
cd "$scratch" || exit 1
cat >"$site/etc/puppet.conf" <<EOS
[main]
certname = localhost
ssldir = $site/ssl
[server]
cadir = $site/ca
autosign = true
environmentpath = $site/envs
basemodulepath = $site/none
EOS
printf 'cachedir: %s/cache\nsources:\n  s: {remote: "file://%s/control", basedir: %s/envs}\n' "$scratch" "$scratch" "$site" >r10k.yaml
git init -q control
# commit TEXT RESOURCES: commits a version whose nodes write TEXT.
commit() {
    cat >control/manifests/site.pp <<EOP
file { "$scratch/made/\${trusted['certname']}": content => "$1\n" }
$2
EOP
    git -C control add -A && git -C control commit -qm "$1"
}
deploy() { run 0 deploy environment --r10k "$scratch/r10k.yaml" "$@"; }
rollout() {
    local status=$1
    shift
    run "$status" rollout "$@" --url "$plain" --environmentpath "$site/envs"
}
nodes='a.example b.example c.example'
# agent NODE: one run. Every node has its own folders.
runs=0
agent() {
    local node=$1 status=0
    runs=$((runs + 1))
    "$BUNRAKU" agent --test --color false --server localhost --serverport "$port" --certname "$node" \
        --confdir "$scratch/$node/etc" --ssldir "$scratch/$node/ssl" --vardir "$scratch/$node/var" \
        --statedir "$scratch/$node/state" --rundir "$scratch/$node/run" --logdir "$scratch/$node/log" \
        --publicdir "$scratch/$node/public" >"$scratch/$node.out" 2>&1 || status=$?
    return "$status"
}
agents() { for node in ${1:-$nodes}; do agent "$node"; done; }
content() { for node in $nodes; do printf '%s ' "$(cat "made/$node" 2>/dev/null)"; done; }
contains() { [ "$(content)" = "$1 " ] || { printf 'FAILED: line %s: the nodes have %s, not %s\n' "${BASH_LINENO[0]}" "$(content)" "$1"; failures=$((failures + 1)); }; }
# state_is STATE: waits until the newest rollout has the state. The controller runs every two seconds.
state_is() {
    for _ in $(seq 120); do
        state=$(curl -s "$plain/bunraku/v1/rollouts" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["state"])')
        [ "$state" = "$1" ] && return
        sleep 0.25
    done
    run 0 rollout show --url "$plain"
    printf 'FAILED: line %s: the rollout is %s, not %s\n%s\n' "${BASH_LINENO[0]}" "$state" "$1" "$out"
    failures=$((failures + 1))
}
# stored COUNT: waits until the store has so many reports.
stored() {
    for _ in $(seq 100); do
        count=$(curl -s --get "$plain/pdb/query/v4" --data-urlencode 'query=reports[count()]{}' | grep -o '[0-9]*')
        [ "${count:-0}" -ge "$1" ] && return
        sleep 0.1
    done
    printf 'FAILED: line %s: fewer than %s reports\n' "${BASH_LINENO[0]}" "$1"
    failures=$((failures + 1))
}

commit one ''
deploy
"$BUNRAKU" server --https 127.0.0.1:0 --http 127.0.0.1:0 --confdir "$site/etc" --vardir "$site/var" \
    --statedir "$site/state" >"$site/out" 2>"$site/err" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 400); do grep -q 'is ready' "$site/out" && break; sleep 0.05; done
port=$(grep -o 'https://[^ ]*' "$site/out" | sed 's/.*://')
plain=$(grep -o 'http://[^ ]*' "$site/out" | head -1)
agents
contains 'one one one'
stored 3

# The first version with a rollout.yaml is made, but the environment is not switched.
printf 'soak: 0s\nproofs: 1\nwaves: [50%%, 100%%]\n' >control/rollout.yaml
commit two ''
base=$(readlink "$site/envs/production")
deploy
holds "$out" '^0 deployed, 1 prepared, '
[ "$(readlink "$site/envs/production")" = "$base" ] || { echo 'FAILED: the environment was switched'; failures=$((failures + 1)); }
agents
contains 'one one one'

good=$(git -C control rev-parse HEAD)
rollout 0 plan --to "${good:0:10}" --out plan.json --facts-from "sqlite:$site/state/store.sqlite3"
holds "$out" '^3 nodes changed, 0 untouched'
holds "$out" '^wave 0 \(canary\): 1 node: '
holds "$out" '^  changed File\[.*\] content: 3 nodes$'
rollout 1 plan --to nothing
holds "$err" "There is no version 'nothing' of environment 'production'"
canary=$(python3 -c 'import json; print(*[n["name"] for n in json.load(open("plan.json"))["nodes"] if n["wave"] == 0])')

# A plan that somebody edited, or whose version has changed, is refused.
sed 's/"files":"[0-9a-f]*"/"files":"0"/' plan.json >stale.json
rollout 3 start stale.json
holds "$err" 'The plan is stale: the files of a version have changed'
sed 's/"wave":0/"wave":9/' plan.json >wrong.json
rollout 1 start wrong.json
holds "$err" 'nodes\[.*\]\.wave: there is no such wave'

# A good change reaches the canary first, and then all nodes.
rollout 0 start plan.json --reason 'more than one'
rollout 1 start plan.json
holds "$err" "The environment 'production' has a rollout that is not finished"
state_is moving
agents
for node in $nodes; do
    wanted=one
    [ "$node" = "$canary" ] && wanted=two
    [ "$(cat "made/$node")" = "$wanted" ] || { echo "FAILED: $node has $(cat "made/$node") in the canary wave"; failures=$((failures + 1)); }
done
for _ in 1 2 3 4 5 6; do
    [ "$(readlink "$site/envs/production")" = "$base" ] || break
    sleep 2.5
    agents
done
state_is done
contains 'two two two'
[ "$(readlink "$site/envs/production")" != "$base" ] || { echo 'FAILED: the environment was not switched'; failures=$((failures + 1)); }
rollout 0 show --json
holds "$out" '"state":"done"'
rollout 0 show --events
holds "$out" 'start by .*: more than one'
holds "$out" 'close by controller, now done'

# A change that fails on the node stops with the canary.
commit three "exec { '/bin/false': }
file { \"$scratch/made/extra-\${trusted['certname']}\": content => 'x' }"
deploy
rollout 0 plan --to "$(git -C control rev-parse HEAD)" --out plan.json --facts-from "sqlite:$site/state/store.sqlite3"
canary=$(python3 -c 'import json; print(*[n["name"] for n in json.load(open("plan.json"))["nodes"] if n["wave"] == 0])')
rollout 0 start plan.json
state_is moving
agents
state_is returning
rollout 2 show
holds "$out" "$canary failed: Exec\[/bin/false\] failed"
rollout 1 resume
holds "$err" 'A rollout that is returning cannot resume'
agents
state_is returned
contains 'two two two'
rollout 2 show --wait --leftovers
holds "$out" "^$canary File\[$scratch/made/extra-$canary\]: the new version created it; to undo: rm "
lacks "$out" '^[^ ]* File\[[^]]*/extra-.*File'
for node in $nodes; do
    [ "$node" = "$canary" ] || [ ! -e "made/extra-$node" ] || { echo "FAILED: $node got the bad version"; failures=$((failures + 1)); }
done
curl -s "$plain/bunraku/v1/rollouts/2/leftovers" >"$scratch/out"
holds "$(<"$scratch/out")" "\"node\":\"$canary\",\"resource\":\"File\[$scratch/made/extra-$canary\]\",\"what\":\"the new version created it\",\"created\":true,\"command\":\"rm '"
rollout 2 show
holds "$out" '^A return does not undo:$'
holds "$out" "^  $canary Exec\[/bin/false\]: the command has failed$"
agents
[ -e "made/extra-$canary" ] || { echo 'FAILED: a return without rollback: remove has removed a file'; failures=$((failures + 1)); }
curl -s "$plain/metrics" | grep -q 'bunraku_rollout_verdicts_total{verdict="failed"} 1' || { echo 'FAILED: metrics'; failures=$((failures + 1)); }

# With `rollback: remove`, agents remove the resources of the bad version that they created. They do
# so at the latest in the second run after the return. Files that existed before, or that changed
# afterwards, remain.
printf 'soak: 0s\nproofs: 1\nwaves: [50%%, 100%%]\nrollback: remove\n' >control/rollout.yaml
for node in $nodes; do printf before >"made/before-$node"; done
commit four "exec { '/bin/false': }
file { 'new': path => \"$scratch/made/new-\${trusted['certname']}\", content => 'new' }
file { \"$scratch/made/edited-\${trusted['certname']}\": content => 'new' }
file { \"$scratch/made/before-\${trusted['certname']}\": content => 'new' }"
deploy
rollout 0 plan --to "$(git -C control rev-parse HEAD)" --out plan.json --facts-from "sqlite:$site/state/store.sqlite3"
canary=$(python3 -c 'import json; print(*[n["name"] for n in json.load(open("plan.json"))["nodes"] if n["wave"] == 0])')
rollout 0 start plan.json
state_is moving
agents
state_is returning
[ "$(cat "made/new-$canary" "made/edited-$canary" "made/before-$canary")" = newnewnew ] ||
    { echo "FAILED: the canary did not run with the bad version"; failures=$((failures + 1)); }
rollout 2 show --leftovers
holds "$out" "^$canary File\[new\]: the new version created it; to undo: rm '$scratch/made/new-$canary'$"
holds "$out" "^$canary File\[$scratch/made/before-$canary\]: it existed before, and the new version changed content$"
echo edited >"made/edited-$canary"
agents
cp "$canary.out" return.out
state_is returned
stored "$runs"
agents
cat "$canary.out" >>return.out
if [ -e "made/new-$canary" ] || [ ! -e "made/edited-$canary" ] || [ ! -e "made/before-$canary" ]; then
    echo "FAILED: files after the return: $(ls made): $(<return.out)"
    failures=$((failures + 1))
fi
holds "$(<return.out)" '^Notice: /Stage\[main\]/File\[new\]/ensure: removed$'
holds "$(<return.out)" "^Info: Not removing File\[$scratch/made/edited-$canary\], which is no longer declared: its content has changed$"
stored "$runs"
rollout 2 show --leftovers
lacks "$out" 'File\[new\]'
contains 'two two two'

# One node tries a version, and returns by itself.
to=$(basename "$(readlink "$site/envs/production")")
curl -s "$plain/bunraku/v1/versions" | grep -q "\"version\":\"$to\"" || { echo 'FAILED: versions'; failures=$((failures + 1)); }
old=$(basename "$base")
curl -s -X PUT "$plain/bunraku/v1/nodes/b.example/try" -d "{\"version\": \"$old\", \"seconds\": 3600}" | grep -q "\"version\":\"$old\"" ||
    { echo 'FAILED: try'; failures=$((failures + 1)); }
agents
contains 'two one two'
curl -s -X DELETE "$plain/bunraku/v1/nodes/b.example/try" >"$scratch/out"
agents
contains 'two two two'

# The certificate of an agent reads its own node, and changes nothing.
status() {
    curl -s -o "$scratch/body" -w '%{http_code}' --cacert "$site/ssl/certs/ca.pem" --cert "$scratch/b.example/ssl/certs/b.example.pem" \
        --key "$scratch/b.example/ssl/private_keys/b.example.pem" "$@"
}
api=https://localhost:$port/bunraku/v1
for request in "200 $api/nodes/b.example/version" "403 $api/rollouts" "403 -X POST $api/rollouts" \
    "403 -X POST $api/rollouts/1/finish" "403 -X POST $api/rollout-approvals/1" "403 -X POST $api/rollout-servers/x/forget" \
    "403 -X PUT -d {\"version\":\"$old\",\"seconds\":9} $api/nodes/b.example/try" \
    "403 -X PUT -d {\"version\":\"$old\",\"seconds\":9} $api/nodes/a.example/try"; do
    read -ra words <<<"$request"
    found=$(status "${words[@]:1}")
    [ "$found" = "${words[0]}" ] || { echo "FAILED: ${words[*]:1} is $found: $(<"$scratch/body")"; failures=$((failures + 1)); }
done

kill -0 "$server" || { echo "FAILED: the server has ended: $(<"$site/err")"; failures=$((failures + 1)); }
finish
