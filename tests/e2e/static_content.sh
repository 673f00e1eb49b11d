#!/bin/bash
# An agent gets the file contents that belong to its catalog, from any server and after any deploy.
# Other content is never sent, and never written.
. "$SOURCE/tests/e2e/lib.sh"
export GIT_CONFIG_GLOBAL=$scratch/gitconfig
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = production\n' > "$GIT_CONFIG_GLOBAL"
site=$scratch/site
mkdir -p "$site/etc" "$scratch/control/site/app"/{manifests,files/tree}
cd "$scratch" || exit 1
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
printf 'cachedir: %s/cache\nsources:\n  s: {remote: "file://%s/control", basedir: %s/envs}\n' "$scratch" "$scratch" "$site" > r10k.yaml
commit() { git -C control add -A && git -C control commit -qm "$1" && run 0 deploy environment --r10k "$scratch/r10k.yaml" --keep-for 0; }
git init -q control
echo 'modulepath = site' >control/environment.conf
mkdir control/manifests && echo 'include app' >control/manifests/site.pp
cat >control/site/app/manifests/init.pp <<'EOP'
class app {
  $root = $facts['scratch']
  file { "${root}/made": ensure => directory }
  file { "${root}/made/list": source => ['puppet:///modules/app/none', 'puppet:///modules/app/one'] }
  file { "${root}/made/sha": source => 'puppet:///modules/app/one', checksum => 'md5' }
  file { "${root}/made/same": source => 'puppet:///modules/app/one' }
  file { "${root}/made/tree": ensure => directory, recurse => true, source => ['puppet:///modules/app/absent', 'puppet:///modules/app/tree/'] }
  file { "${root}/made/part": ensure => directory, recurse => true, ignore => 'extra', source => 'puppet:///modules/app/tree' }
}
EOP
echo 'one of 1' >control/site/app/files/one
echo 'leaf of 1' >control/site/app/files/tree/leaf
echo extra >control/site/app/files/tree/extra
mkdir control/site/app/facts.d && printf '#!/bin/sh\necho fact=1\n' >control/site/app/facts.d/fact && chmod 755 control/site/app/facts.d/fact
commit 1

declare -A port
servers=
declare -A pid
# start NAME OPTIONS..: starts a server with its own state and the same CA and code.
start() {
    "$BUNRAKU" server --https 127.0.0.1:0 --confdir "$site/etc" --vardir "$site/var-$1" \
        --statedir "$site/state-$1" "${@:2}" >"$site/out-$1" 2>"$site/err-$1" &
    pid[$1]=$!
    servers="$servers $!"
    # shellcheck disable=SC2064
    trap "kill $servers 2>/dev/null; rm -rf '$scratch'" EXIT
    for _ in $(seq 400); do grep -q 'is ready' "$site/out-$1" && break; sleep 0.05; done
    port[$1]=$(grep -o 'https://[^ ]*' "$site/out-$1" | sed 's/.*://')
}
start a
agent() {
    local expected=$1 server=$2
    shift 2
    run "$expected" agent --test --color false --server localhost --serverport "${port[$server]}" \
        --certname web1.example "$@"
}
is() { [ "$(cat "$1" 2>&1)" = "$2" ] || { echo "FAILED: line ${BASH_LINENO[0]}: $1 holds '$(cat "$1" 2>&1)', not '$2'"; failures=$((failures + 1)); }; }
agent 2 a
is made/list 'one of 1'
is made/tree/leaf 'leaf of 1'
# The files of a version have no write permission. Agents get the mode from the repository.
is <(stat -c %a "$(find "$scratch/var" -path '*facts.d/fact')") 755
catalog=$scratch/var/client_data/catalog/web1.example.json
address() { python3 -c "import json; c = json.load(open('$catalog')); print(c['code_id'], c['metadata']['$scratch/made/list']['content_uri'].removeprefix('puppet:///'))"; }
read -r code_id path <<<"$(address)"
holds "$path" '^site/app/files/one~sha256-[0-9a-f]{64}$'

# Changes after the compile: a new file earlier in the search list, and other contents.
echo 'none of 2' >control/site/app/files/none
echo 'one of 2' >control/site/app/files/one
echo 'leaf of 2' >control/site/app/files/tree/leaf
mkdir control/site/app/files/absent && echo 'absent of 2' >control/site/app/files/absent/leaf
commit 2
again() { rm -rf made && agent 2 "$1" --use_cached_catalog; }
of_first() {
    is made/list 'one of 1'; is made/sha 'one of 1'; is made/same 'one of 1'
    is made/tree/leaf 'leaf of 1'; is made/tree/extra extra; is made/part/leaf 'leaf of 1'
    [ ! -e made/part/extra ] || { echo 'FAILED: an ignored file was copied'; failures=$((failures + 1)); }
}
again a
of_first
# Another server that still has the older version serves its content, by digest.
start b
again b
of_first
# Requests of other clients get the right content, or 404.
ssl=(--cacert "$site/ssl/certs/ca.pem" --cert "$scratch/etc/ssl/certs/web1.example.pem" --key "$scratch/etc/ssl/private_keys/web1.example.pem")
[ -e "${ssl[3]}" ] || ssl=(--cacert "$site/ssl/certs/ca.pem" --cert "$(find "$scratch" -path '*certs/web1.example.pem' | head -1)" --key "$(find "$scratch" -path '*private_keys/web1.example.pem' | head -1)")
content() {
    curl -s "${ssl[@]}" -o "$scratch/content" -w '%{http_code}' \
        "https://localhost:${port[$1]}/puppet/v3/static_file_content/$2?environment=production&code_id=$3"
}
if command -v curl >/dev/null; then
    [ "$(content b "$path" "$code_id")" = 200 ] || echo "FAILED: $(cat content)"
    is content 'one of 1'
    # An unknown code ID with a plain path identifies no content. The current file could be the
    # wrong one.
    [ "$(content b site/app/files/one "$code_id")" = 404 ] || { echo "FAILED: $(cat content)"; failures=$((failures + 1)); }
    [ "$(content a site/app/files/one "$code_id")" = 200 ] || { echo "FAILED: $(cat content)"; failures=$((failures + 1)); }
    is content 'one of 1'
fi
# A server without the catalog and without the version: the agent writes nothing.
echo 3 >control/other && commit 3
echo 4 >control/other && commit 4
start c
rm -rf made
run 6 agent --test --color false --server localhost --serverport "${port[c]}" --certname web1.example --use_cached_catalog ||
    true
[ ! -e made/list ] || { echo "FAILED: made/list holds $(<made/list)"; failures=$((failures + 1)); }
# The same server gets the content from the server that made the catalog, and keeps it. A peer that
# does not answer is skipped, and servers that list each other do not send each other requests in a loop.
start d --setting static-content-peers="https://localhost:1 https://localhost:${port[c]}, https://localhost:${port[a]}/"
again d
of_first
kill "${pid[a]}"
wait "${pid[a]}" 2>/dev/null
again d
of_first
start e --setting static-content-peers="https://localhost:${port[d]}"
rm -rf made && again e
of_first
run 1 server --https 127.0.0.1:0 --confdir "$site/etc" --cadir "$site/ca" --vardir "$site/var-f" \
    --statedir "$site/state-f" --setting static-content-peers=compile2:8140
holds "$err" 'must list URLs such as https://HOST:8140, not compile2:8140'
agent 2 c
is made/list 'none of 2'
finish
