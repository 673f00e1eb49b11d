#!/usr/bin/env bash
# A fleet of one: a server that starts with nothing, an agent that gets its certificate, and runs
# whose causes are known: first, at rest, after changes of data, files, facts and the machine.
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

# agent STATUS OPTIONS...: one run; all that it says in $said.
manner=(--test)
agent() {
    local expected=$1
    shift
    run "$expected" agent "${manner[@]}" --color false --server localhost --serverport "$port" \
        --certname web1.example "$@"
    said="$out
$err"
}
agent 2
holds "$said" '^Info: Creating a new SSL key for web1\.example$|^Info: Certificate Request'
holds "$said" '^Notice: /File\[.*/app_fact\.rb\]/ensure: defined content as'
holds "$said" "^Notice: /Stage\[main\]/App/File\[$scratch/made/motd\]/ensure: defined content as '\{sha256\}"
holds "$said" '^Notice: Applied catalog in [0-9.]+ seconds$'
is() { [ "$(<"$1")" = "$2" ] || { echo "FAILED: $1 holds '$(<"$1")', not '$2'"; failures=$((failures + 1)); }; }
is "$scratch/made/motd" 'hello custom'
is "$scratch/made/source" one
is "$scratch/made/tree/leaf" leaf

# Until nothing was written a moment ago, runs are whole.
for _ in $(seq 20); do
    sleep 0.1
    agent 0
    grep -q 'is the one that was applied last' <<<"$said" && break
done
holds "$said" "^Info: The server's catalog is the one that was applied last$"
lacks "$said" 'Retrieving plugin'
# Each run is a process, and goes on with the last one's TLS session.
session=$(head -n1 "$scratch/state/tls_session" | tr -d '\0')
agent 0
holds "$(stat -c %a "$scratch/state/tls_session") $(head -n1 "$scratch/state/tls_session" | tr -d '\0')" "^600 $session\$"

# A change of data is seen by the next run.
echo 'motd: good morning' >"$environment/data/common.yaml"
agent 2
is "$scratch/made/motd" 'good morning custom'
lacks "$said" 'applied last'
agent 0
# Of a plugin, too, within ten seconds; a file's content with its catalog.
echo two >"$environment/modules/app/files/source"
agent 2
is "$scratch/made/source" two

# The catalog that is cached keeps the contents that it was made with.
echo three >"$environment/modules/app/files/source"
rm "$scratch/made/source"
agent 2 --use_cached_catalog
is "$scratch/made/source" two
agent 2
is "$scratch/made/source" three

# Somebody's change is put right, and the report says so; strays are purged.
echo drift >"$scratch/made/motd"
echo stray >"$scratch/made/tree/stray"
agent 0 --noop
holds "$said" "content changed .* \(noop\)"
is "$scratch/made/motd" drift
agent 2
holds "$said" "File\[$scratch/made/motd\]/content: content changed '.*' to '.*' \(corrective\)|content: content changed"
is "$scratch/made/motd" 'good morning custom'
[ ! -e "$scratch/made/tree/stray" ] || { echo 'FAILED: a stray is still there'; failures=$((failures + 1)); }
holds "$(cat "$scratch/state/last_run_report.yaml" 2>/dev/null)" '^corrective_change: true$'

# What does not compile: the cached catalog, or none.
echo 'fail("broken")' >>"$environment/manifests/site.pp"
agent 1
holds "$said" 'Not using cache on failed catalog'
manner=(--onetime --no-daemonize --verbose --detailed-exitcodes)
agent 0
holds "$said" 'Could not retrieve catalog from remote server: Error 500 on SERVER: Server Error: .*broken'
holds "$said" "Using cached catalog from environment 'production'"
agent 1 --no-usecacheonfailure
holds "$said" 'Could not retrieve catalog; skipping run'
echo 'include app' >"$environment/manifests/site.pp"
manner=(--test)

# A type and its provider come with the plugins, of an environment of its own.
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

# Disabled, and not.
run 0 agent --disable 'a reason' --certname web1.example
agent 1
holds "$said" 'Skipping run of Puppet configuration client; administratively disabled \(Reason: '"'a reason'"'\);'
run 0 agent --enable --certname web1.example
agent 0

# Another node's catalog is nobody's business.
status=$(curl -s -o /dev/null -w '%{http_code}' --cacert "$scratch/etc/ssl/certs/ca.pem" \
    --cert "$scratch/etc/ssl/certs/web1.example.pem" --key "$scratch/etc/ssl/private_keys/web1.example.pem" \
    "https://localhost:$port/puppet/v3/catalog/web2.example?environment=production")
[ "$status" = 403 ] || { echo "FAILED: another node's catalog: $status"; failures=$((failures + 1)); }

# The store heard of all of it.
answer=$(curl -s -G "$plain/pdb/query/v4/nodes" --data-urlencode 'query=["=", "certname", "web1.example"]')
holds "$answer" '"latest_report_status":"'
holds "$answer" '"cached_catalog_status":"'

# A daemon sleeps between its runs until a signal asks for something.
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
woken() { awk '/^voluntary_ctxt/ {print $2}' "/proc/$daemon/status"; }
runs 1
sleep 0.5
before=$(woken)
sleep 1
[ $(($(woken) - before)) -le 1 ] || { echo 'FAILED: the daemon does not sleep'; failures=$((failures + 1)); }
kill -USR1 $daemon
runs 2
kill $daemon
wait $daemon

# A server that was away is no reason to fail what is cached.
kill $server
wait $server
manner=(--onetime --no-daemonize --verbose --detailed-exitcodes)
agent 0
holds "$said" 'Using cached catalog'
finish
