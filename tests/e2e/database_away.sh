#!/usr/bin/env bash
# A server that starts while PostgreSQL is unavailable: it starts, logs the problem, serves
# everything that needs no database, writes commands to disk, and reconnects when the database
# answers.
. "$SOURCE/tests/e2e/lib.sh"
bin=$(dirname "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -1)")
[ -x "$bin/initdb" ] || { echo "PostgreSQL is not installed"; exit 77; }
# PostgreSQL refuses to run as root.
as=()
if [ "$(id -u)" = 0 ]; then
    user=postgres
    id $user >/dev/null 2>&1 || user=nobody
    as=(setpriv --reuid "$user" --regid "$(id -g $user)" --clear-groups)
    mkdir "$scratch/pg"
    chown "$user" "$scratch/pg"
    chmod 755 "$scratch"
else
    mkdir "$scratch/pg"
fi
trap 'kill -9 ${server:-} 2>/dev/null; stop_database 2>/dev/null; rm -rf "$scratch"' EXIT
postgresql() { (cd "$scratch/pg" && "${as[@]}" "$bin/$1" -D "$scratch/pg/d" "${@:2}"); }
start_database() { postgresql pg_ctl start -w -s -l "$scratch/pg/log"; }
stop_database() { postgresql pg_ctl stop -w -s -m immediate; }
postgresql initdb -A trust -U bunraku --no-sync >/dev/null || exit 1
printf "listen_addresses = ''\nunix_socket_directories = '%s'\nfsync = off\n" "$scratch/pg" \
    >>"$scratch/pg/d/postgresql.conf"
database="postgresql:///postgres?host=$scratch/pg&user=bunraku"

mkdir -p "$scratch"/code/environments/production/{manifests,modules/m/files}
cat >"$scratch/code/environments/production/manifests/site.pp" <<'EOS'
node /^plain/ { file { '/tmp/x': source => 'puppet:///modules/m/x' } }
node default { Notify <<| |>> @@notify { "from ${facts['who']}": } }
EOS
echo content >"$scratch/code/environments/production/modules/m/files/x"
mkdir -p "$scratch/etc/puppetserver/conf.d"
cat >"$scratch/etc/puppetserver/conf.d/auth.conf" <<'CONF'
authorization: {version: 1, rules: [{name: all, sort-order: 1, allow-unauthenticated: true,
    match-request: {path: "/", type: path}}]}
CONF

# start DATABASE: starts the server. Its address is in $url.
start() {
    : >"$scratch/server.out"
    : >"$scratch/server.err"
    "$BUNRAKU" server --http 127.0.0.1:0 --https 127.0.0.1:0 --database "$1" --certname localhost --autosign true \
        --setting "codedir=$scratch/code" --setting "environmentpath=$scratch/code/environments" \
        --setting storeconfigs=true --cadir "$scratch/ca" "${places[@]}" \
        >"$scratch/server.out" 2>"$scratch/server.err" &
    server=$!
    until grep -q 'is ready' "$scratch/server.out"; do
        kill -0 $server 2>/dev/null || { printf 'FAILED: the server ended\n%s\n' "$(<"$scratch/server.err")"; exit 1; }
        sleep 0.02
    done
    url=$(sed -n 's/.*\(http:[^ ,]*\).*/\1/p' "$scratch/server.out" | head -1)
}
# get STATUS PATH [CURL OPTION..]: checks the status of a response. Its body is in $body.
get() {
    local expected=$1 path=$2 status
    shift 2
    status=$(curl -s -o "$scratch/body" -w '%{http_code}' "$@" "$url$path")
    body=$(<"$scratch/body")
    [ "$status" = "$expected" ] || {
        printf 'FAILED: %s: %s, expected %s\n%s\n' "$path" "$status" "$expected" "$body"
        failures=$((failures + 1))
    }
}
facts() {
    get 200 "/pdb/cmd/v1?command=replace_facts&version=5&certname=$1" -H 'Content-Type: application/json' \
        -d "{\"certname\":\"$1\",\"environment\":\"production\",\"producer_timestamp\":\"2026-01-01T00:00:00.000Z\",
            \"producer\":\"p\",\"values\":{\"kernel\":\"Linux\"}}"
}
catalog() { # catalog STATUS NODE
    get "$1" "/puppet/v3/catalog/$2?environment=production" \
        --data-urlencode 'facts={"name":"'"$2"'","values":{"kernel":"Linux","who":"'"$2"'"}}' -d facts_format=application/json
}
# without_database: checks what a server does while the database is unavailable.
without_database() {
    holds "$(<"$scratch/server.err")" "The store's database does not answer. Until it does, commands wait on disk and queries are answered 503"
    # As in trapperkeeper, the worst service determines the state of all.
    get 503 /status/v1/simple
    get 503 /status/v1/simple/puppetdb-status
    get 200 /status/v1/simple/server
    [ "$body" = running ] || { echo "FAILED: status: $body"; failures=$((failures + 1)); }
    get 200 /puppet-ca/v1/certificate/ca
    holds "$body" '^-----BEGIN CERTIFICATE-----$'
    openssl req -new -newkey rsa:2048 -nodes -keyout /dev/null -subj "/CN=$1" -out "$scratch/csr" 2>/dev/null
    get 200 "/puppet-ca/v1/certificate_request/$1" -X PUT -H 'Content-Type: text/plain' --data-binary "@$scratch/csr"
    get 200 "/puppet-ca/v1/certificate/$1"
    catalog 200 plain
    holds "$body" '"title":"/tmp/x"'
    get 200 '/puppet/v3/file_content/modules/m/x?environment=production'
    [ "$body" = content ] || { echo "FAILED: file content: $body"; failures=$((failures + 1)); }
    get 200 '/puppet/v3/file_metadatas/plugins?environment=production&recurse=true'
    facts "$1"
    get 503 /pdb/query/v4/nodes
}

start "$database"
without_database early
# A catalog with a collector waits for the database.
catalog 200 collects &
waits=$!
start_database || exit 1
wait $waits || { echo "FAILED: the waiting catalog"; failures=$((failures + 1)); }
until grep -q "The store's database is available again" "$scratch/server.err"; do sleep 0.05; done
until curl -s "$url/pdb/query/v4/nodes" | grep -q '"early"'; do sleep 0.05; done
get 200 /pdb/query/v4/facts/kernel
holds "$body" '"certname" *: *"early"'
until curl -s "$url/pdb/query/v4/resources/Notify" | grep -q 'from collects'; do sleep 0.05; done

# The database may stop again, and the next server also starts without it. A cached catalog with a
# collector waits like a compiled one.
catalog 200 other
until curl -s "$url/pdb/query/v4/resources/Notify" | grep -q 'from other'; do sleep 0.05; done
catalog 200 collects
holds "$body" '"title":"from other"'
kill $server
wait $server || { echo "FAILED: SIGTERM: $?"; failures=$((failures + 1)); }
stop_database
start "$database"
without_database late
catalog 200 collects &
waits=$!
start_database || exit 1
wait $waits
holds "$(<"$scratch/body")" '"title":"from other"'
until curl -s "$url/pdb/query/v4/nodes" | grep -q '"late"'; do sleep 0.05; done
kill $server
wait $server || { echo "FAILED: SIGTERM: $?"; failures=$((failures + 1)); }
stop_database

# A server that never reached its database ends without delay, and loses no command.
start "$database"
facts last
kill $server
wait $server || { echo "FAILED: SIGTERM: $?"; failures=$((failures + 1)); }
start_database || exit 1
start "$database"
until curl -s "$url/pdb/query/v4/nodes" | grep -q '"last"'; do sleep 0.05; done
kill $server
wait $server
stop_database
finish
