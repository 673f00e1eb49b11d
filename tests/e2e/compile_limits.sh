#!/usr/bin/env bash
# The limits of one compile on a server: time, memory and slots. An endless compile ends at
# compile-timeout, when its client disconnects, and when the server stops. Other compiles continue
# meanwhile.
. "$SOURCE/tests/e2e/lib.sh"

envs=$scratch/envs
mkdir -p "$envs"/{production,endless}/manifests
cat >"$envs/production/manifests/site.pp" <<'EOS'
node /^endless/ { Integer[1, 1000000000].each |$x| { Integer[1, 1000000000].each |$y| { $z = $x } } }
node /^shared/ {
  $a = Integer[1, 500].reduce([1]) |$m, $i| { [$m, $m] }
  $b = Integer[1, 500].reduce([1]) |$m, $i| { [$m, $m] }
  if $a == $b { notify { 'same': } }
}
node /^large/ { $a = Integer[1, 20000000].map |$x| { "value ${x} ${x} ${x} ${x}" } }
node /^parameter/ {
  $a = Integer[1, 500].reduce([1]) |$m, $i| { [$m, $m] }
  notify { 'x': message => $a }
}
node default { notify { 'hello': } }
EOS
cp "$envs"/{production,endless}/manifests/site.pp
cat >"$scratch/auth.conf" <<'EOS'
authorization: { version: 1, rules: [{
  name: "everybody", sort-order: 1, match-request: { path: "/", type: path }, allow-unauthenticated: true }] }
EOS

# serve SETTING=VALUE...: starts a server. Its address is in $url, its process in $server.
serve() {
    local setting settings=()
    for setting in "$@"; do settings+=(--setting "$setting"); done
    : >"$scratch/server.out"
    "$BUNRAKU" server --roles compiler,store --http 127.0.0.1:0 --confdir "$scratch/etc" \
        --vardir "$scratch/var" --statedir "$scratch/state" --setting "environmentpath=$envs" \
        --setting "auth_config=$scratch/auth.conf" --setting max-active-instances=2 "${settings[@]}" \
        >"$scratch/server.out" 2>"$scratch/server.err" &
    server=$!
    until [ -s "$scratch/server.out" ] || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
    url=$(sed 's/.*: //; s/ .*//' "$scratch/server.out")
}
trap 'kill -9 $server 2>/dev/null; rm -rf "$scratch"' EXIT
# catalog NODE [ENVIRONMENT]: prints the body and the status of a node's catalog.
catalog() { curl -s -w '\n%{http_code}' "$url/puppet/v3/catalog/$1?environment=${2:-production}"; }
metric() { curl -s "$url/metrics" | sed -n "s/^$1 //p"; }
# wait_for_metric METRIC VALUE: waits until a metric has this value.
wait_for_metric() { until [ "$(metric "$1")" = "$2" ]; do sleep 0.1; done; }

serve compile-timeout=1
answer=$(catalog endless1)
holds "$answer" 'execution expired: the compile takes longer than 1 seconds \(the setting compile-timeout\) \(file: .*/site.pp, line: 1, column: [0-9]+\) on node endless1"'
holds "$answer" '^500$'
holds "$(catalog shared1)" 'the setting compile-timeout'
kill $server
wait $server

# The command line has the same limits, if they are set.
echo '{}' >"$scratch/facts.json"
# limited ERROR SETTING COMMAND...: checks the error of a command that exceeds a limit.
limited() {
    local error=$1 setting=$2
    shift 2
    run 1 "$@" --setting "$setting" --environmentpath "$envs" --environment production
    holds "$err" "^Error: Evaluation Error: $error \((file: .*, )?line: [0-9]+, column: [0-9]+\)"
}
time='execution expired: the compile takes longer than 0\.3 seconds \(the setting compile-timeout\)'
memory='failed to allocate memory: the compile needs more than 128 MiB \(the setting max-compile-memory\)'
endless='Integer[1, 1000000000].each |$x| { Integer[1, 1000000000].each |$y| { $z = $x } }'
limited "$time" compile-timeout=300ms compile --node endless1 --facts "$scratch/facts.json"
holds "$err" ' on node endless1$'
limited "$time" compile-timeout=300ms catalog compile endless1
limited "$time" compile_timeout=300ms apply --facts "$scratch/facts.json" -e "$endless"
limited "$time" compile-timeout=300ms eval -e "$endless"
# A function that only searches in a growing text.
# shellcheck disable=SC2016
limited "$time" compile-timeout=300ms eval -e '$a = Integer[1, 60].reduce("ab") |$m, $i| { regsubst($m, "(.)", "\\1\\1", "G") }'
# Builds with sanitizers do not count the memory of values outside of the arena.
if ! grep -q '^BUNRAKU_SANITIZE:STRING=.' "$(dirname "$BUNRAKU")/CMakeCache.txt"; then
    limited "$memory" max-compile-memory=128 compile --node large1 --facts "$scratch/facts.json"
    limited "$memory" max_compile_memory=128 apply --node large1 --facts "$scratch/facts.json" "$envs/production/manifests/site.pp"
fi
run 1 compile --node web1 --facts "$scratch/facts.json" --environmentpath "$envs" --setting compile-timeout=soon
holds "$err" '^Error: The setting compile-timeout is not a time period \(7d, 12h, 30m, 10s\): soon( on node web1)?$'

# Endless compiles of one environment leave slots for others, and end when their clients disconnect.
serve compile_timeout=1h max-compile-memory=128
holds "$(catalog large1)" 'needs more than 128 MiB \(the setting max-compile-memory\)'
holds "$(catalog parameter1)" 'The value of a parameter has more than 10000000 elements'
holds "$(catalog web1)" '^200$'
clients=()
for n in 1 2 3 4 5 6 7 8; do
    # Calls curl directly. Killing a shell that runs the function would leave its curl running.
    curl -s -o /dev/null "$url/puppet/v3/catalog/endless$n?environment=endless" &
    clients+=($!)
done
wait_for_metric bunraku_compile_slots_free 0
holds "$(catalog web2)" '^200$'
kill "${clients[@]}"
wait_for_metric bunraku_compile_slots_free 2
wait_for_metric bunraku_catalogs_waiting 0

# A server that stops does not wait for an endless compile.
catalog endless9 >/dev/null &
wait_for_metric bunraku_compile_slots_free 1
kill $server
wait $server
holds "$?" '^0$'
finish
