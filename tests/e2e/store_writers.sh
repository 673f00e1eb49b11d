#!/usr/bin/env bash
# Commands that write to the store while a server runs. Data that the server acknowledges afterwards
# must survive a crash. SQLite deletes the write-ahead log when the last connection closes, so the
# server's connection must always be visible to SQLite.
. "$SOURCE/tests/e2e/lib.sh"
mkdir -p "$scratch/etc/code/environments/production/manifests"
echo 'Notify <<| tag == "x" |>>' >"$scratch/etc/code/environments/production/manifests/site.pp"
mkdir -p "$scratch/etc/puppetserver/conf.d"
cat >"$scratch/etc/puppetserver/conf.d/auth.conf" <<'CONF'
authorization: {version: 1, rules: [{name: all, sort-order: 1, allow-unauthenticated: true,
    match-request: {path: "/", type: path}}]}
CONF
code=(--setting "codedir=$scratch/etc/code" --setting "environmentpath=$scratch/etc/code/environments")

start() {
    : >"$scratch/server.out"
    "$BUNRAKU" server --roles store,compiler --http 127.0.0.1:0 "${places[@]}" "${code[@]}" \
        >"$scratch/server.out" 2>>"$scratch/server.err" &
    server=$!
    trap 'kill -9 $server 2>/dev/null; rm -rf "$scratch"' EXIT
    until grep -q 'is ready' "$scratch/server.out"; do
        kill -0 $server || { cat "$scratch/server.err"; exit 1; }
        sleep 0.05
    done
    url=$(sed 's/.*: //' "$scratch/server.out")
}
facts() {
    curl -sf -H 'Content-Type: application/json' -d "{\"certname\":\"$1\",\"environment\":\"production\",
        \"producer_timestamp\":\"$(date -u +%FT%T.%3NZ)\",\"producer\":\"p\",\"values\":{\"kernel\":\"Linux\"}}" \
        "$url/pdb/cmd/v1?command=replace_facts&version=5&certname=$1&secondsToWaitForCompletion=60" >/dev/null ||
        { echo "FAILED: facts of $1"; failures=$((failures + 1)); }
}
names() { curl -s "$url/pdb/query/v4/nodes" | grep -o '"certname" *: *"[^"]*"' | sed 's/.*: *//' | tr -d '"' | sort | xargs; }

# The socket is in the database's folder, is accessible only to its owner, and is removed when the
# server stops.
start
holds "$(stat -c '%a %F' "$scratch/state/store.sqlite3.socket")" '^600 socket$'
for n in a b c; do facts $n; done
# A compile of the server opens its store in the same way as another client.
curl -sf "$url/puppet/v3/catalog/a?environment=production" | grep -q '"catalog_uuid"' ||
    { echo "FAILED: no catalog: $(curl -s "$url/puppet/v3/catalog/a?environment=production")"; failures=$((failures + 1)); }
run 0 db export "$scratch/archive.tgz"

writer=0
wrote() {
    writer=$((writer + 1))
    lacks "$(ls -l /proc/$server/fd | grep -o 'sqlite3.*(deleted)')" .
    facts "after$writer"
}
run 0 node deactivate b
holds "$out" '^Deactivated b$'
wrote
run 0 node purge c
holds "$out" '^Purged c$'
wrote
run 1 node purge nobody
holds "$err" 'No information is known about node nobody'
run 0 db compact
holds "$out" '^[0-9.]+ MiB, [0-9.]+ MiB before$'
wrote
run 0 db import "$scratch/archive.tgz"
holds "$out" '^Imported .* 3 factsets'
wrote
run 0 compile --node d --setting storeconfigs=true -e '@@notify { "from d": tag => "x" }'
wrote
run 0 compile --node e --setting storeconfigs=true -e 'Notify <<| tag == "x" |>>'
holds "$out" '"title":"from d"'
wrote
run 0 catalog exports
holds "$out" 'Notify +collected by .*e where'
wrote
run 0 db key adopt
holds "$out" '^0 encrypted values given up$'
wrote
# Commands that only read must not lock out the server either.
run 0 query 'nodes[certname] { order by certname }'
wrote
run 0 db status
wrote
run 0 db export "$scratch/again.tgz"
wrote
run 0 catalog undeclared --all
wrote
run 0 catalog log d
wrote
before=$(names)
holds "$before" '^a after1 .*after9 c d e$'
kill -9 $server
wait $server 2>/dev/null
start
after=$(names)
[ "$before" = "$after" ] || { printf 'FAILED: before %s\nafter %s\n' "$before" "$after"; failures=$((failures + 1)); }
kill $server
wait $server 2>/dev/null
[ ! -e "$scratch/state/store.sqlite3.socket" ] || { echo "FAILED: the socket still exists"; failures=$((failures + 1)); }

# Without a server the commands write to the database directly.
run 0 node purge d
holds "$out" '^Purged d$'
run 0 db compact

# An export writes to no existing file but its own, and two exports to one file give a whole archive.
echo unchanged >"$scratch/victim"
ln -s "$scratch/victim" "$scratch/twice.tgz.part"
(run 0 db export "$scratch/twice.tgz"; finish) & other=$!
(run 0 db export "$scratch/twice.tgz"; finish) || failures=$((failures + 1))
wait $other || failures=$((failures + 1))
holds "$(<"$scratch/victim")" '^unchanged$'
holds "$(stat -c '%a %F' "$scratch/twice.tgz")" '^600 regular file$'
gzip -t "$scratch/twice.tgz" || { echo "FAILED: the archive is damaged"; failures=$((failures + 1)); }
# Not /dev/null itself, which a fault would replace with a file.
mkfifo "$scratch/pipe"
run 1 db export "$scratch/pipe"
holds "$err" "$scratch/pipe is not a file; use - for standard output"
finish
