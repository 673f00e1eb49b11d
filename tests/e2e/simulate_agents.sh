#!/usr/bin/env bash
# Simulated agents and a server: certificates, catalogs, 304, files, reports, statistics, and an
# interruption.
. "$SOURCE/tests/e2e/lib.sh"

site=$scratch/site
mkdir -p "$site/etc" "$site/envs/production"/{manifests,modules/app/{manifests,files,lib/facter}}
cat >"$site/etc/puppet.conf" <<EOS
[main]
certname = localhost
ssldir = $site/ssl
[server]
cadir = $site/ca
autosign = $site/autosign.conf
environmentpath = $site/envs
basemodulepath = $site/none
EOS
echo '*.simulated' >"$site/autosign.conf"
environment=$site/envs/production
echo 'include app' >"$environment/manifests/site.pp"
cat >"$environment/modules/app/manifests/init.pp" <<'EOS'
class app {
  file { '/tmp/app.conf': source => 'puppet:///modules/app/conf' }
  notify { "${facts['role']} ${facts['networking']['hostname']}": }
  if $facts['role'] == 'broken' { fail('a role that is broken') }
}
EOS
echo content >"$environment/modules/app/files/conf"
echo '# a plugin' >"$environment/modules/app/lib/facter/app.rb"
cat >"$scratch/facts.json" <<'EOS'
{"networking": {"hostname": "model", "fqdn": "model.example", "ip": "192.0.2.1"}, "role": "db",
 "system_uptime": {"seconds": 5}, "kernel": "Linux"}
EOS

"$BUNRAKU" server --https 127.0.0.1:0 --http 127.0.0.1:0 --confdir "$site/etc" \
    --vardir "$site/var" --statedir "$site/state" >"$site/out" 2>"$site/err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 400); do
    grep -q 'is ready' "$site/out" && break
    sleep 0.05
done
port=$(grep -o 'https://[^ ]*' "$site/out" | sed 's/.*://')
plain=$(grep -o 'http://[^ ]*' "$site/out" | head -1)
simulate() {
    local expected=$1
    shift
    run "$expected" simulate-agents --server localhost --serverport "$port" \
        --facts "$scratch/facts.json" "$@"
}
nodes() { curl -s --get "$plain/pdb/query/v4" --data-urlencode "query=$1"; }
# until_holds PATTERN QUERY: repeats a query until its result in $answer matches. The store
# processes commands asynchronously.
until_holds() {
    for _ in $(seq 100); do
        answer=$(nodes "$2")
        grep -qE "$1" <<<"$answer" && break
        sleep 0.1
    done
    holds "$answer" "$1"
}

# The server does not cache a catalog if a file was written a moment ago; the first compile writes
# static content.
simulate 0 2 --names 'first{}.simulated' --fact 'role=web|db'
sleep 1

# Two runs each: the first requests everything, and the second gets 304.
simulate 0 4 --runs 2 --at-a-time 2 --first-run --fact 'role=web|db' --json
holds "$out" '"agents":4,.*"runs":8,"runs_failed":0,'
holds "$out" '"certificates_made":4'
holds "$out" '"catalog unchanged":\{"count":4,'
holds "$out" '"catalog":\{"count":4,'
holds "$out" '"file contents":\{"count":8,' # a plugin and a source file for each
holds "$out" '"connect":\{"count":8,'
holds "$out" '"report":\{"count":8,.*"errors":\[\]'
until_holds '"count" *: *8' 'reports[count()]{ certname ~ "^agent" }'
until_holds 'agent1.simulated","value":"web".*agent2.simulated","value":"db".*agent3.simulated","value":"web"' \
    'facts[certname, value]{ name = "role" order by certname }'
until_holds 'agent4.simulated' 'inventory[facts.networking.fqdn]{ certname = "agent4.simulated" }'

# Like Puppet's agents: one catalog per run, existing certificates, reported drift.
simulate 0 2 --runs 2 --no-at-rest --resume --keep-connections --drifting 1 --send-reports full --json
holds "$out" '"certificates_made":0'
lacks "$out" 'unchanged'
holds "$out" '"connect":\{"count":2,.*"catalog":\{"count":4,'
until_holds 'agent2.simulated' 'events[certname]{ status = "success" order by certname }'

# History over HTTP.
api=$plain/bunraku/v1
holds "$(curl -s "$api/nodes/agent1.simulated/catalogs")" '"valid_from":"[^"]*","valid_until":null,'
holds "$(curl -s "$api/nodes/agent1.simulated/catalogs/now")" '"type":"File","title":"/tmp/app.conf"'
holds "$(curl -s "$api/nodes/agent1.simulated/catalogs/2001-01-01")" 'No catalog of agent1.simulated at 2001-01-01 is known'
holds "$(curl -s "$api/nodes/agent1.simulated/catalogs/now/now")" '"changed": ?\[\]'
holds "$(curl -s "$api/nodes/nobody/catalogs")" 'No catalogs of nobody are known'
holds "$(curl -s "$api/nodes/agent1.simulated/facts")" '"valid_until":null,"changed":\['
holds "$(curl -s "$api/nodes/agent1.simulated/facts/now")" '"role": ?"db"'
holds "$(curl -s "$api/nodes/agent1.simulated/facts/never")" "Invalid time 'never': expected a time"
holds "$(curl -s "$api/drift?by=node&since=2001-01-01&limit=5")" '^\[.*\]$'
holds "$(curl -s "$api/drift?by=moon")" 'must be one of'
holds "$(curl -s "$api/drift?limit=-1")" 'must be a number'

# Failures are counted by kind, with an example. Absent agents cause no failures.
simulate 3 2 --fact 'role=web|broken' --no-at-rest
holds "$out" '^1 × catalog: 500 Internal Server Error$'
holds "$out" 'agent2.simulated: POST .*a role that is broken'
holds "$out" '^2 agents, 1 runs in .* 1 failed$'
simulate 0 3 --absent 1 --runs 3 --seed 7
holds "$out" '^9 runs were skipped or aborted, as requested'
simulate 1 1 --serverport 1 --certificates "$scratch/none"
holds "$err" 'No agent has begun: .*onnection refused'

# Names that the CA does not sign automatically; --sign signs them locally.
simulate 1 2 --names 'web{}.example'
holds "$err" 'web[12].example: the authority has the request and has not signed it\. Let the authority'
simulate 0 2 --names 'web{}.example' --sign --cadir "$site/ca" --certificates "$scratch/signed"
holds "$out" '^2 agents, 2 runs in .* 0 failed$'

# On a signal the command ends and prints the statistics so far.
"$BUNRAKU" simulate-agents 2 --names 'told{}.simulated' --interval 2s --server localhost --serverport "$port" "${places[@]}" \
    --facts "$scratch/facts.json" --json >"$scratch/out" 2>"$scratch/err" &
simulation=$!
until_holds '"count" *: *[1-9]' 'reports[count()]{ certname ~ "^told" }'
kill -TERM $simulation
wait $simulation
holds "$? $(<"$scratch/out")" '^0 \{"agents":2,.*"interrupted":true,'

for wrong in '' 0 -1 many '1 2' '1 --absent 2' '1 --interval soon' '1 --fact role' '1 --send-reports all'; do
    # shellcheck disable=SC2086
    simulate 1 $wrong
    [ -n "$err" ] || failures=$((failures + 1))
done
finish
