#!/usr/bin/env bash
# The life cycle of a server: it prints its URLs on one line when it is ready, responds, survives
# SIGHUP, and ends on SIGTERM. It also stores a catalog that was compiled elsewhere, and another
# node's compile collects its exported resource.
. "$SOURCE/tests/e2e/lib.sh"

"$BUNRAKU" server --roles store --http 127.0.0.1:0 --confdir "$scratch/server-etc" \
    --vardir "$scratch/server-var" --statedir "$scratch/server-state" \
    >"$scratch/server.out" 2>"$scratch/server.err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do
    [ -s "$scratch/server.out" ] && break
    sleep 0.05
done
holds "$(cat "$scratch/server.out")" '^Bunraku server is ready: http://127\.0\.0\.1:[0-9]+$'
url=$(sed 's/.*: //' "$scratch/server.out")

# A second server on the same state reports which process uses it.
err=$(timeout 20 "$BUNRAKU" server --http 127.0.0.1:0 --confdir "$scratch/server-etc" \
    --vardir "$scratch/server-var" --statedir "$scratch/server-state" 2>&1)
holds "$err" "Another server \(process $server\) uses the state in"
run 1 server --roles jester --http 127.0.0.1:0
holds "$err" "Unknown role 'jester'; the roles are: "
run 1 server --http 0.0.0.0:0
holds "$err" 'Plain HTTP on 0.0.0.0'

remote=(--storeconfigs --puppetdb-url "$url")
run 0 compile --node web1 --facts <(echo '{"role":"web"}') "${remote[@]}" \
    -e '@@notify { "from web1": message => "hello", tag => "Shared" }'
kill -HUP $server
for _ in $(seq 100); do
    run 0 compile --node lb1 --facts <(echo '{}') "${remote[@]}" \
        -e 'Notify <<| tag == "shared" |>> notice(puppetdb_query("nodes[certname]{ certname = \"web1\" }"))'
    grep -q 'from web1' <<<"$out" && break
    sleep 0.1
done
holds "$out" '"title":"from web1"'
holds "$err" "\{certname => web1\}|\{'certname' => 'web1'\}"
run 1 compile --node lb1 --facts <(echo '{}') "${remote[@]}" -e 'puppetdb_query("nodes{")'
holds "$err" 'PQL parse error'

# `lookup --node` uses the facts that were stored with the catalog.
mkdir -p "$scratch/envs/production/data"
cat >"$scratch/envs/production/hiera.yaml" <<'EOS'
version: 5
hierarchy: [{name: role, path: "%{facts.role}.yaml"}]
EOS
echo 'greeting: "hello %{role}"' >"$scratch/envs/production/data/web.yaml"
run 0 lookup greeting --node web1 --environmentpath "$scratch/envs" --facts_terminus puppetdb \
    --puppetdb-url "$url"
holds "$out" '^--- hello web$'
run 0 lookup greeting --node web1 --environmentpath "$scratch/envs" --puppetdb-url "$url"
holds "$out" '^--- hello web$'
# $trusted contains the certificate data that the service has for the node.
sed -i 's/%{facts.role}.yaml"}/%{trusted.extensions.pp_role}.yaml"}/' "$scratch/envs/production/hiera.yaml"
run 0 compile --node gold1 "${remote[@]}" -e '' --facts <(echo '{"role":"gold","trusted":{"authenticated":"remote",
    "certname":"gold1","hostname":"gold1","domain":null,"extensions":{"pp_role":"web"},"external":{}}}')
for _ in $(seq 100); do
    "$BUNRAKU" lookup greeting --node gold1 --environmentpath "$scratch/envs" --puppetdb-url "$url" \
        "${places[@]}" >/dev/null 2>&1 && break
    sleep 0.1
done
run 0 lookup greeting --node gold1 --environmentpath "$scratch/envs" --puppetdb-url "$url" --explain
holds "$out" 'Original path: "%\{trusted.extensions.pp_role\}.yaml"'
holds "$out" 'Found key: "greeting" value: "hello gold"'
sed -i 's/%{trusted.extensions.pp_role}.yaml"}/%{facts.role}.yaml"}/' "$scratch/envs/production/hiera.yaml"
run 1 lookup greeting --node web1 --environmentpath "$scratch/envs"
holds "$err" 'No facts available for target node: web1'

# The command line on the same store, and export and import of an archive.
store="sqlite:$scratch/server-state/store.sqlite3"
run 0 node status web1 --database "$store"
holds "$out" '^Last facts: 20'
lacks "$out" 'Last report'
run 0 db query --format table --database "$store" 'nodes{ certname = "web1" }'
holds "$out" '^certname +'
run 0 db query --format yaml --database "$store" 'nodes[certname, deactivated]{ certname = "web1" }'
[ "$out" = $'---\n- certname: web1\n  deactivated:' ] || { echo "FAILED: YAML: $out"; failures=$((failures + 1)); }
run 0 db export --url "$url" "$scratch/all.tgz"
run 1 db export --url "$url" --anonymization bogus "$scratch/none.tgz"
holds "$err" "answered 400 .*Unknown anonymization profile 'bogus'"
[ ! -e "$scratch/none.tgz" ] || { echo "FAILED: a rejected export left a file"; failures=$((failures + 1)); }
run 0 db import --database "sqlite:$scratch/copy.sqlite3" "$scratch/all.tgz"
holds "$out" '^Imported 3 catalogs, 3 factsets, 0 reports and 0 others$'
run 1 db status nonsense
holds "$err" "usage: db status; there is nothing to do with 'nonsense'"
run 1 db dead-letters nonsense
holds "$err" 'usage: db dead-letters'

kill -TERM $server
wait $server
status=$?
[ $status -eq 0 ] || { echo "FAILED: the server exited with $status"; failures=$((failures + 1)); }
run 1 compile --node lb1 --facts <(echo '{}') "${remote[@]}" -e 'Notify <<| |>>'
holds "$err" 'on at least 1 of the following .server_urls.'
finish
