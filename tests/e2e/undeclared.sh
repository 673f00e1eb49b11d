#!/usr/bin/env bash
# Tests resources that are no longer declared, with a server and an agent: a file that the agent
# created and one that existed before leave the catalog. `catalog undeclared` lists them, and
# `undeclared = remove` removes the first.
. "$SOURCE/tests/e2e/lib.sh"

site=$scratch/site
mkdir -p "$site/etc" "$site/envs/production"/{manifests,modules/app/manifests}
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
echo 'include app' >"$site/envs/production/manifests/site.pp"
echo before >"$scratch/existed"
# declare PARTS...: the class declares these parts.
declare_parts() {
    local part
    {
        echo 'class app {'
        for part; do
            case $part in
                made) printf "  file { 'made':\n    path => '%s/made', content => 'text' }\n" "$scratch" ;;
                existed) echo "  file { '$scratch/existed': content => 'after' }" ;;
                kept) echo "  file { '$scratch/kept': content => 'kept' }" ;;
            esac
        done
        echo '}'
    } >"$site/envs/production/modules/app/manifests/init.pp"
}
declare_parts made existed kept

"$BUNRAKU" server --https 127.0.0.1:0 --http 127.0.0.1:0 --confdir "$site/etc" \
    --vardir "$site/var" --statedir "$site/state" >"$site/out" 2>"$site/err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
until grep -q 'is ready' "$site/out"; do
    kill -0 $server 2>/dev/null || { echo "FAILED: no server: $(<"$site/err")"; exit 1; }
    sleep 0.05
done
port=$(grep -o 'https://[^ ]*' "$site/out" | sed 's/.*://')
plain=$(grep -o 'http://[^ ]*' "$site/out" | head -1)

ask() { curl -sg "$plain$1"; }
# agent STATUS OPTIONS..: runs the agent once and waits until the store has its report.
reports=0
agent() {
    run "$1" agent --test --color false --server localhost --serverport "$port" --certname web1.example "${@:2}"
    reports=$((reports + 1))
    for _ in $(seq 400); do
        stored=$(curl -sG "$plain/pdb/query/v4/reports" --data-urlencode \
            'query=["extract", [["function", "count"]], ["=", "certname", "web1.example"]]')
        [ "$stored" = "[{\"count\":$reports}]" ] && return
        sleep 0.05
    done
    echo "FAILED: the store has no report of run $reports: $stored"
    exit 1
}
undeclared() { run "$1" catalog undeclared --database "sqlite:$site/state/store.sqlite3" "${@:2}"; }

agent 2
undeclared 0 web1.example
[ -z "$out" ] || { echo "FAILED: nothing is undeclared: $out"; failures=$((failures + 1)); }
declare_parts kept
agent 0
undeclared 0 web1.example
[ -z "$out" ] || { echo "FAILED: listed after one run: $out"; failures=$((failures + 1)); }
undeclared 0 web1.example --recent
time='[0-9T:-]+\.[0-9]{3}Z'
holds "$out" "^File\[$scratch/existed\]  since $time  production  [0-9]+  $site/envs/production/modules/app/manifests/init.pp:4  not created by us$"
holds "$out" "^File\[made\] \($scratch/made\)  since $time  production  [0-9]+  .*/init.pp:2  created by us$"
lacks "$out" 'kept'
# Puppet leaves the files on the machine.
[ "$(<"$scratch/made") $(<"$scratch/existed")" = 'text after' ] ||
    { echo "FAILED: the files have changed"; failures=$((failures + 1)); }

agent 0
undeclared 0 web1.example --recent
[ -z "$out" ] || { echo "FAILED: recent after two runs: $out"; failures=$((failures + 1)); }
undeclared 0 --all
holds "$out" "^web1\.example  File\[made\] \($scratch/made\)  since .*  created by us$"
undeclared 0 web1.example --json
from_command=$out
holds "$out" '^\[\{"certname":"web1.example","type":"File","title":"[^"]*/existed",.*"created_by_us":false,"removal":null\},\{'
for path in '/bunraku/v1/undeclared?certname=web1.example' /bunraku/v1/undeclared \
    /bunraku/v1/nodes/web1.example/undeclared; do
    [ "$(ask "$path")" = "$from_command" ] ||
        { echo "FAILED: $path: $(ask "$path")"; failures=$((failures + 1)); }
done
holds "$(ask '/bunraku/v1/undeclared?limit=1&offset=1')" '^\[\{"certname":"web1.example","type":"File","title":"made",[^{}]*"removal":\{"path":"[^"]*/made","sha256":"[0-9a-f]{64}"\}\}\]$'
holds "$(ask '/bunraku/v1/undeclared?recent=true')" '^\[\]$'
holds "$(ask '/bunraku/v1/undeclared?limit=0')" "'limit' must be a number from 1 to 10000"
holds "$(ask '/bunraku/v1/undeclared?offset=-1')" "'offset' must be a number"
holds "$(ask '/bunraku/v1/undeclared?recent=yes')" "'recent' must be true or false"
holds "$(ask '/bunraku/v1/undeclared?certname=')" "'certname' must be the name of a node"
holds "$(ask '/bunraku/v1/undeclared?certname=nobody')" 'No catalogs of nobody are known'

# --noop shows what `undeclared = remove` would do. It removes what the agent created, once.
printf '[agent]\nundeclared = remove\n' >"$scratch/etc/puppet.conf"
agent 0 --noop
holds "$out" "^Notice: /Stage\[main\]/File\[made\]/ensure: removed \(noop\)$"
[ -e "$scratch/made" ] || { echo "FAILED: --noop removed the file"; failures=$((failures + 1)); }
undeclared 0 web1.example
holds "$out" 'made'
agent 2
holds "$out" '^Notice: /Stage\[main\]/File\[made\]/ensure: removed$'
lacks "$out" 'existed'
if [ -e "$scratch/made" ] || [ ! -e "$scratch/existed" ] || [ ! -e "$scratch/kept" ]; then
    echo "FAILED: files after the removal: $(ls "$scratch")"
    failures=$((failures + 1))
fi
undeclared 0 web1.example
lacks "$out" 'made'
undeclared 0 web1.example --recent
holds "$out" "^File\[made\] .*  created by us  removed $time$"
agent 0
lacks "$out" 'File\[made\]'

declare_parts made kept
agent 2
undeclared 0 web1.example
holds "$out" '^File\[.*/existed\] '
lacks "$out" 'made'
undeclared 0 web1.example --recent
lacks "$out" 'made.*declared again'

# A file that has changed since stays, and a wrong value of the setting removes nothing.
declare_parts kept
agent 0
agent 0
undeclared 0 web1.example
holds "$out" '^File\[made\] .*  created by us$'
printf '[agent]\nundeclared = always\n' >"$scratch/etc/puppet.conf"
agent 0
holds "$err" "Invalid value 'always' for the setting undeclared: expected report or remove"
printf '[agent]\nundeclared = remove\nundeclared_types = cron\n' >"$scratch/etc/puppet.conf"
agent 0
printf '[agent]\nundeclared = remove\n' >"$scratch/etc/puppet.conf"
echo edited >"$scratch/made"
agent 0
holds "$out" '^Info: Not removing File\[made\], which is no longer declared: its content has changed$'
[ "$(<"$scratch/made")" = edited ] || { echo "FAILED: an edited file was removed"; failures=$((failures + 1)); }
printf text >"$scratch/made"
agent 0 --use_cached_catalog
lacks "$out" 'File\[made\]'
agent 2
[ ! -e "$scratch/made" ] || { echo "FAILED: the file is still there"; failures=$((failures + 1)); }

undeclared 1 nobody
holds "$err" 'No catalog of nobody is known'
undeclared 1
holds "$err" 'catalog undeclared takes one node, or --all'
undeclared 1 web1.example --all
holds "$err" 'catalog undeclared takes one node, or --all'
finish
