#!/usr/bin/env bash
# Tests a fleet of one agent. A server starts with an empty state, an agent gets its certificate,
# and then runs with known causes follow: the first run, an unchanged run, and runs after changes of
# data, files, facts and the machine.
. "$SOURCE/tests/e2e/lib.sh"

site=$scratch/site
mkdir -p "$site/etc" "$site/envs/production"/{manifests,data,modules/app/{manifests,files/tree,lib/facter}}
cat >"$site/etc/puppet.conf" <<EOS
[main]
certname = localhost
ssldir = $site/ssl
[server]
cadir = $site/ca
autosign = true
environmentpath = $site/envs
basemodulepath = $site/none
reportdir = $site/reports
EOS
environment=$site/envs/production
echo 'include app' >"$environment/manifests/site.pp"
cat >"$environment/modules/app/manifests/init.pp" <<'EOS'
class app(String $motd = lookup('motd')) {
  $root = $facts['scratch']
  file { "${root}/made": ensure => directory }
  -> file { "${root}/made/motd": content => "${motd} ${facts['app_fact']}\n", mode => '0640' }
  file { "${root}/made/source": source => 'puppet:///modules/app/source' }
  file { "${root}/made/tree": ensure => directory, recurse => true, purge => true, source => 'puppet:///modules/app/tree' }
}
EOS
echo one >"$environment/modules/app/files/source"
echo leaf >"$environment/modules/app/files/tree/leaf"
echo 'Facter.add(:app_fact) { setcode { "custom" } }' >"$environment/modules/app/lib/facter/app_fact.rb"
printf 'version: 5\nhierarchy:\n  - {name: all, path: common.yaml}\n' >"$environment/hiera.yaml"
echo 'motd: hello' >"$environment/data/common.yaml"

start() {
    "$BUNRAKU" server --https 127.0.0.1:0 --http 127.0.0.1:0 --confdir "$site/etc" \
        --vardir "$site/var" --statedir "$site/state" >"$site/out" 2>"$site/err" &
    server=$!
    trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
    for _ in $(seq 200); do
        grep -q 'is ready' "$site/out" && break
        sleep 0.05
    done
    port=$(grep -o 'https://[^ ]*' "$site/out" | sed 's/.*://')
    plain=$(grep -o 'http://[^ ]*' "$site/out" | head -1)
}
start
holds "$(<"$site/out")" '^Bunraku server is ready: .*https://127\.0\.0\.1:[0-9]+'

# agent STATUS OPTIONS...: one agent run; its output is in $messages.
mode=(--test)
agent() {
    local expected=$1
    shift
    run "$expected" agent "${mode[@]}" --color false --server localhost --serverport "$port" \
        --certname web1.example "$@"
    messages="$out
$err"
}
agent 2
holds "$messages" '^Info: Creating a new SSL key for web1\.example$|^Info: Certificate Request'
holds "$messages" '^Notice: /File\[.*/app_fact\.rb\]/ensure: defined content as'
holds "$messages" "^Notice: /Stage\[main\]/App/File\[$scratch/made/motd\]/ensure: defined content as '\{sha256\}"
holds "$messages" '^Notice: Applied catalog in [0-9.]+ seconds$'
is() { [ "$(<"$1")" = "$2" ] || { echo "FAILED: $1 holds '$(<"$1")', not '$2'"; failures=$((failures + 1)); }; }
is "$scratch/made/motd" 'hello custom'
is "$scratch/made/source" one
is "$scratch/made/tree/leaf" leaf

# Runs are complete as long as some files were written only a moment ago.
for _ in $(seq 20); do
    sleep 0.1
    agent 0
    grep -q 'has not changed since the last run' <<<"$messages" && break
done
holds "$messages" "^Info: The server's catalog has not changed since the last run$"
lacks "$messages" 'Retrieving plugin'
# Each run is a separate process that resumes the TLS session of the previous run.
session=$(head -n1 "$scratch/state/tls_session" | tr -d '\0')
agent 0
holds "$(stat -c %a "$scratch/state/tls_session") $(head -n1 "$scratch/state/tls_session" | tr -d '\0')" "^600 $session\$"

# The next run gets a change of data.
echo 'motd: good morning' >"$environment/data/common.yaml"
agent 2
is "$scratch/made/motd" 'good morning custom'
lacks "$messages" 'has not changed since'
agent 0
# A changed plugin arrives within ten seconds, and changed file content with the next catalog.
echo two >"$environment/modules/app/files/source"
agent 2
is "$scratch/made/source" two

# A cached catalog keeps the file contents that belong to it.
echo three >"$environment/modules/app/files/source"
rm "$scratch/made/source"
agent 2 --use_cached_catalog
is "$scratch/made/source" two
# A catalog for another node is an error at openvox9. The agent warns of too many facts.
cached=$scratch/var/client_data/catalog/web1.example.json
cp "$cached" "$scratch/cached.json"
sed -i 's/"name":"web1\.example"/"name":"web2.example"/' "$cached"
agent 0 --use_cached_catalog --compatibility openvox9 --top_level_facts_soft_limit 1
holds "$messages" "^Error: Catalog name 'web2\.example' does not match this node's certname 'web1\.example'\$"
holds "$messages" '^Warning: The current number of top level facts: [0-9]+ exceeds the top facts limit: 1$'
agent 0 --use_cached_catalog --compatibility openvox8
lacks "$messages" 'does not match this node|exceeds the'
cp "$scratch/cached.json" "$cached"
agent 2
is "$scratch/made/source" three

# The agent corrects a local change and reports it. It purges unmanaged files.
echo drift >"$scratch/made/motd"
echo stray >"$scratch/made/tree/stray"
agent 0 --noop
holds "$messages" "content changed .* \(noop\)"
is "$scratch/made/motd" drift
agent 2
holds "$messages" "File\[$scratch/made/motd\]/content: content changed '.*' to '.*' \(corrective\)|content: content changed"
is "$scratch/made/motd" 'good morning custom'
[ ! -e "$scratch/made/tree/stray" ] || { echo 'FAILED: an unmanaged file was not purged'; failures=$((failures + 1)); }
holds "$(cat "$scratch/state/last_run_report.yaml" 2>/dev/null)" '^corrective_change: true$'

# If the catalog does not compile, the agent uses the cached catalog, or none.
echo 'fail("broken")' >>"$environment/manifests/site.pp"
agent 1
holds "$messages" 'Not using cache on failed catalog'
mode=(--onetime --no-daemonize --verbose --detailed-exitcodes)
agent 0
holds "$messages" 'Could not retrieve catalog from remote server: Error 500 on SERVER: Server Error: .*broken'
holds "$messages" "Using cached catalog from environment 'production'"
agent 1 --no-usecacheonfailure
holds "$messages" 'Could not retrieve catalog; skipping run'
echo 'include app' >"$environment/manifests/site.pp"
mode=(--test)

# `apply` backs up to the server's filebucket, with the certificate of the agent.
echo 'old content' >"$scratch/kept"
cat >"$scratch/bucket.pp" <<EOS
filebucket { 'central': path => false, server => 'localhost', port => $port }
file { '$scratch/kept': content => "new\n", backup => 'central' }
EOS
run 0 apply --server localhost --serverport "$port" --certname web1.example "$scratch/bucket.pp"
holds "$out" 'content changed'
is "$scratch/kept" new
sum=$(printf 'old content\n' | sha256sum | cut -d' ' -f1)
run 0 filebucket --remote get "$sum" --server localhost --serverport "$port" --certname web1.example
holds "$out" '^old content$'
run 4 apply --detailed-exitcodes --server localhost --serverport "$port" --certname none.example \
    -e "filebucket { 'c': path => false } file { '$scratch/kept': content => 'x', backup => 'c' }"
is "$scratch/kept" new

# A certificate is renewed on demand, or only if it expires soon.
own=(--server localhost --serverport "$port" --certname web1.example)
run 0 ssl renew_cert "${own[@]}"
holds "$out" "^Notice: Downloaded certificate 'web1\.example' with fingerprint \(SHA256\) "
run 0 ssl renew_cert "${own[@]}" --if-expiring-in 1d --verbose
holds "$out" "^Info: Certificate 'web1\.example' is still valid until 20[-0-9]+ [:0-9]+ UTC\$"
lacks "$out" Downloaded
run 0 ssl renew_cert "${own[@]}" --if-expiring-in 50y
holds "$out" "^Notice: Downloaded certificate 'web1\.example'"
run 1 ssl renew_cert "${own[@]}" --if-expiring-in 3x
holds "$err" '^Error: Could not parse application options: Invalid duration format: 3x$'
run 1 ssl renew_cert --ssldir "$scratch/no-ssl" "${own[@]}"
holds "$err" '^Error: Could not run: Failed to renew certificate: '
run 0 ssl verify "${own[@]}"

# A type and its provider arrive with the plugins of another environment.
lib=$site/envs/typed/modules/m/lib/puppet
mkdir -p "$lib"/{type,provider/scrap} "$site/envs/typed/manifests"
cat >"$lib/type/scrap.rb" <<'EOS'
Puppet::Type.newtype(:scrap) do
  ensurable
  newparam(:name)
end
EOS
cat >"$lib/provider/scrap/ruby.rb" <<'EOS'
Puppet::Type.type(:scrap).provide(:ruby) do
  def exists? = File.exist?(resource[:name])
  def create = File.write(resource[:name], 'made')
end
EOS
echo "scrap { '$scratch/scrap': ensure => present }" >"$site/envs/typed/manifests/site.pp"
agent 2 --environment typed
is "$scratch/scrap" made

# The agent can be disabled and enabled.
run 0 agent --disable 'a reason' --certname web1.example
agent 1
holds "$messages" 'Skipping run of Puppet configuration client; administratively disabled \(Reason: '"'a reason'"'\);'
run 0 agent --enable --certname web1.example
agent 0

# A node must not get the catalog of another node.
status=$(curl -s -o /dev/null -w '%{http_code}' --cacert "$scratch/etc/ssl/certs/ca.pem" \
    --cert "$scratch/etc/ssl/certs/web1.example.pem" --key "$scratch/etc/ssl/private_keys/web1.example.pem" \
    "https://localhost:$port/puppet/v3/catalog/web2.example?environment=production")
[ "$status" = 403 ] || { echo "FAILED: another node's catalog: $status"; failures=$((failures + 1)); }

# The store has the data of all runs.
answer=$(curl -s -G "$plain/pdb/query/v4/nodes" --data-urlencode 'query=["=", "certname", "web1.example"]')
holds "$answer" '"latest_report_status":"'
holds "$answer" '"cached_catalog_status":"'

# A daemon sleeps between its runs; signals start, restart or end it.
"$BUNRAKU" agent --no-daemonize --verbose --color false --server localhost --serverport "$port" \
    --certname web1.example "${places[@]}" >"$scratch/daemon" 2>&1 &
daemon=$!
runs() {
    for _ in $(seq 400); do
        [ "$(grep -c 'Applied catalog in' "$scratch/daemon")" -ge "$1" ] && return
        sleep 0.05
    done
    echo "FAILED: no run $1 of the daemon: $(<"$scratch/daemon")"
    failures=$((failures + 1))
}
wakeups() { awk '/^voluntary_ctxt/ {print $2}' "/proc/$daemon/status"; }
runs 1
sleep 0.5
before=$(wakeups)
sleep 1
[ $(($(wakeups) - before)) -le 1 ] || { echo 'FAILED: the daemon does not sleep'; failures=$((failures + 1)); }
kill -USR1 $daemon
runs 2
kill $daemon
wait $daemon

# If the server is not reachable, the agent uses its cached catalog.
kill $server
wait $server
mode=(--onetime --no-daemonize --verbose --detailed-exitcodes)
agent 0
holds "$messages" 'Using cached catalog'
finish
