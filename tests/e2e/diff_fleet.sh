#!/bin/bash
# `diff` of a fleet: reads facts from every kind of source, and prints the same output for any
# number of threads.
. "${0%/*}/lib.sh"
envs=$scratch/envs
for e in production feature other; do
    mkdir -p "$envs/$e/manifests" "$envs/$e/modules/m/manifests"
    cat >"$envs/$e/manifests/site.pp" <<'EOM'
include m
if $facts['number'] % 10 == 3 { warning("odd ${facts['number']}") }
if $facts['number'] % 10 == 4 and $environment != 'production' { fail("no ${facts['number'] % 4}") }
# PuppetDB's fact `trusted` becomes $trusted, not a fact.
unless "${trusted['authenticated']} ${trusted['extensions']['pp_role']}" == "remote r${facts['number'] % 2}" and $facts['trusted'] =~ Undef {
  fail("trusted: ${trusted}")
}
EOM
    cat >"$envs/$e/modules/m/manifests/init.pp" <<EOM
class m { file { '/etc/m': content => "$e \${facts['number'] % 7}" } }
EOM
    # Warnings about an environment's configuration do not belong to a single node.
    echo 'nonsense = 1' >"$envs/$e/environment.conf"
done
mkdir -p "$scratch/in/puppetdb-bak/facts"
echo '{"timestamp":"2026-11-22T00:00:00Z","command_versions":{"replace_facts":5}}' \
    >"$scratch/in/puppetdb-bak/export-metadata.json"
for n in $(seq 1 230); do
    printf '{"certname":"n%s","values":{"number":%s,"trusted":{"authenticated":"remote","certname":"n%s","extensions":{"pp_role":"r%s"}}},"environment":"production","timestamp":"2026-11-22T00:00:00Z","producer_timestamp":"2026-11-22T00:00:00Z","producer":"p"}' \
        "$n" "$n" "$n" "$((n % 2))" >"$scratch/in/puppetdb-bak/facts/n$n.json"
done
tar -czf "$scratch/fleet.tgz" -C "$scratch/in" puppetdb-bak/export-metadata.json puppetdb-bak/facts
both=(--environmentpath "$envs" --from-env production --to-env feature)

# The number of threads does not change the differences, the errors or the order of warnings.
run 1 diff "${both[@]}" --facts-from "$scratch/fleet.tgz" --jobs 1
one=$out one_err=$err
holds "$out" '^230 nodes: 0 the same, 207 different, 23 failed$'
holds "$err" '^Warning: .*odd 3$'
[ "$(grep -c 'unknown setting' <<<"$err")" = 2 ] || { echo "FAILED: $err"; failures=$((failures + 1)); }
for jobs in 2 7; do
    run 1 diff "${both[@]}" --facts-from "$scratch/fleet.tgz" --jobs "$jobs"
    [ "$out" = "$one" ] || { echo "FAILED: --jobs $jobs: $(diff <(echo "$one") <(echo "$out"))"; failures=$((failures + 1)); }
    [ "$err" = "$one_err" ] || { echo "FAILED: --jobs $jobs: $(diff <(echo "$one_err") <(echo "$err"))"; failures=$((failures + 1)); }
done
# An environment of the classifier is opened by the first compile that needs it.
cat >"$scratch/enc" <<'EOM'
#!/bin/sh
case $1 in *5) echo 'environment: other' ;; *) echo 'classes: []' ;; esac
EOM
chmod +x "$scratch/enc"
enc=(--node_terminus exec --external_nodes "$scratch/enc")
run 1 diff "${both[@]}" "${enc[@]}" --facts-from "$scratch/fleet.tgz" --jobs 1
one=$out one_err=$err
holds "$out" '^230 nodes: 23 the same, 184 different, 23 failed$'
run 1 diff "${both[@]}" "${enc[@]}" --facts-from "$scratch/fleet.tgz" --jobs 4
[ "$out$err" = "$one$one_err" ] || { echo "FAILED: --enc --jobs 4: $(diff <(echo "$one$one_err") <(echo "$out$err"))"; failures=$((failures + 1)); }

# The same facts from all sources.
some=(--node n1 --node n7 --json)
run 2 diff "${both[@]}" "${some[@]}" --facts-from "$scratch/fleet.tgz"
expected=$out
holds "$out" '"node":"n1","same":false'
same() { [ "$out" = "$expected" ] || { echo "FAILED: $1: $out"; failures=$((failures + 1)); }; }
run 2 diff "${both[@]}" "${some[@]}" --facts-from "$scratch/in/puppetdb-bak/facts"
same folder
printf '[%s,%s]' "$(<"$scratch/in/puppetdb-bak/facts/n1.json")" "$(<"$scratch/in/puppetdb-bak/facts/n7.json")" >"$scratch/some.json"
run 2 diff "${both[@]}" --json --facts-from "$scratch/some.json"
same file
run 0 db import "$scratch/fleet.tgz"
run 2 diff "${both[@]}" "${some[@]}" --facts-from store
same store
run 2 diff "${both[@]}" "${some[@]}" --facts-from "sqlite:$scratch/state/store.sqlite3"
same sqlite
"$BUNRAKU" server --roles store --http 127.0.0.1:0 "${places[@]}" >"$scratch/server.out" 2>"$scratch/server.err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 200); do
    [ -s "$scratch/server.out" ] && break
    sleep 0.05
done
url=$(sed 's/.*: //' "$scratch/server.out")
run 2 diff "${both[@]}" "${some[@]}" --facts-from "$url"
same service
# More results than fit into one response.
run 1 diff "${both[@]}" --facts-from "$url"
holds "$out" '^230 nodes: 0 the same, 207 different, 23 failed$'
kill $server
wait $server

# Invalid input.
run 1 diff "${both[@]}" --facts-from "$scratch/fleet.tgz" --node n1 --node nowhere
holds "$err" '^Error: nowhere is not among the facts in .*/fleet.tgz$'
run 1 diff "${both[@]}" --facts-from "$scratch/none.tgz"
holds "$err" '^Error: Could not read .*/none.tgz$'
run 1 diff "${both[@]}" --facts-from "sqlite:$scratch/none.db"
holds "$err" '^Error: Could not read .*/none.db$'
[ ! -e "$scratch/none.db" ] || { echo "FAILED: a database was created"; failures=$((failures + 1)); }
run 1 diff "${both[@]}" --facts-from http://127.0.0.1:1
holds "$err" 'Could not retrieve facts from http://127.0.0.1:1: '
printf '\x1f\x8bnothing' >"$scratch/bad.tgz"
run 1 diff "${both[@]}" --facts-from "$scratch/bad.tgz"
holds "$err" '^Error: Could not retrieve facts from .*/bad.tgz: '
mkdir "$scratch/empty"
run 1 diff "${both[@]}" --facts-from "$scratch/empty"
holds "$err" '^Error: There are no facts .* in .*/empty$'
run 1 diff "${both[@]}" --facts-from store --facts-dir "$scratch/empty"
holds "$err" '^Error: --facts-from cannot be combined with --facts or --facts-dir$'
for jobs in 0 -1 x 1.5; do
    run 1 diff "${both[@]}" --facts-from store --jobs=$jobs
    holds "$err" "^Error: --jobs: '$jobs' is not a number from 1 to 1024$"
done
finish
