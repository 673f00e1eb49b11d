#!/usr/bin/env bash
# Starts servers with all state that an earlier process can leave on disk: commands in the spool for
# an unreachable PuppetDB, commands in the queue, dead letters, requeued commands, traces of cached
# catalogs. Threads have work before the server is ready; ThreadSanitizer then finds races.
. "$SOURCE/tests/e2e/lib.sh"
starts=${BUNRAKU_ROUNDS:-8}
mkdir -p "$scratch/code/environments/production/manifests"
echo 'notify { "hello": }' >"$scratch/code/environments/production/manifests/site.pp"
mkdir -p "$scratch/etc/puppetserver/conf.d"
cat >"$scratch/etc/puppetserver/conf.d/auth.conf" <<'CONF'
authorization: {version: 1, rules: [{name: all, sort-order: 1, allow-unauthenticated: true,
    match-request: {path: "/", type: path}}]}
CONF
cat >"$scratch/etc/puppet.conf" <<CONF
[main]
certname = localhost
codedir = $scratch/code
environmentpath = $scratch/code/environments
storeconfigs = true
storeconfigs_backend = puppetdb
[server]
gc_interval = 0
CONF
# No process listens on port 9 (discard) of this machine.
printf '[main]\nserver_urls = https://127.0.0.1:9\n' >"$scratch/etc/puppetdb.conf"

start() {
    : >"$scratch/server.out"
    "$BUNRAKU" server --roles store,compiler,forge --http 127.0.0.1:0 "${places[@]}" \
        >"$scratch/server.out" 2>"$scratch/server.err" &
    server=$!
    trap 'kill -9 $server 2>/dev/null; rm -rf "$scratch"' EXIT
    until grep -q 'is ready' "$scratch/server.out"; do
        if ! kill -0 $server 2>/dev/null; then
            wait $server
            printf 'FAILED: start %s exited with %s\n%s\n' "$1" $? "$(<"$scratch/server.err")"
            exit 1
        fi
        sleep 0.02
    done
    url=$(sed 's/.*: //' "$scratch/server.out")
}
command() { # command NAME VERSION BODY
    curl -sf -H 'Content-Type: application/json' -d "$3" -o "$scratch/answer" \
        "$url/pdb/cmd/v1?command=$1&version=$2&certname=n" ||
        { echo "FAILED: $1 was rejected: $(cat "$scratch/answer")"; failures=$((failures + 1)); }
}
catalog() {
    curl -sf -o "$scratch/answer" --data-urlencode 'facts={"name":"'"$1"'","values":{"kernel":"Linux"}}' \
        -d facts_format=application/json "$url/puppet/v3/catalog/$1?environment=production" ||
        { echo "FAILED: no catalog for $1: $(cat "$scratch/answer" 2>/dev/null)"; failures=$((failures + 1)); }
}

start first
catalog a
catalog b
command replace_facts 5 '{"certname":"n","no":"facts"}'
until compgen -G "$scratch/state/queue/dead-letters/*.reason.json" >/dev/null; do sleep 0.02; done
for i in $(seq 20); do
    command replace_facts 5 '{"certname":"n'$i'","environment":"e","producer":"p","producer_timestamp":"2024-01-01T00:00:00Z","values":{"a":1}}'
done
kill -9 $server
wait $server 2>/dev/null
holds "$(ls "$scratch/state/spool")" '\.log$'
holds "$(ls "$scratch/state/queue")" '\.log$'

for i in $(seq "$starts"); do
    run 0 db dead-letters resubmit all
    start "$i"
    lacks "$(<"$scratch/server.err")" 'ThreadSanitizer'
    # Sometimes the server stops cleanly.
    if [ $((i % 2)) = 0 ]; then
        kill $server
        wait $server || { echo "FAILED: SIGTERM: $?"; failures=$((failures + 1)); }
        lacks "$(<"$scratch/server.err")" 'ThreadSanitizer'
    else
        until compgen -G "$scratch/state/queue/dead-letters/*.reason.json" >/dev/null; do sleep 0.02; done
        kill -9 $server
        wait $server 2>/dev/null
    fi
done
# The spool has lost no command.
start last
holds "$(<"$scratch/server.err")" '[45] commands for PuppetDB from an earlier run are waiting in'
finish
