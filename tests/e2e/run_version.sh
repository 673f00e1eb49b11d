#!/bin/bash
# All files of one run are of one version of the environment, although a deployment moves the link
# in the middle of the run: between plugins and catalog, or while the catalog is applied.
. "$SOURCE/tests/e2e/lib.sh"
export GIT_CONFIG_GLOBAL=$scratch/gitconfig
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = production\n' > "$GIT_CONFIG_GLOBAL"
site=$scratch/site
mkdir -p "$site/etc" "$scratch/control/site/app"/{manifests,files,lib,facts.d} "$scratch/control/manifests"
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
cat >deploy <<EOS
#!/bin/sh
# deploy WHEN: deploys if the test case names this time.
[ ! -e "$scratch/when-\$1" ] || { rm "$scratch/when-\$1"
    "$BUNRAKU" deploy environment --r10k "$scratch/r10k.yaml" ${places[*]} >"$scratch/deployed" 2>&1; }
EOS
chmod 755 deploy
git init -q control
echo 'modulepath = site' >control/environment.conf
echo 'include app' >control/manifests/site.pp
# prepare N: commits version N, which is not yet deployed.
prepare() {
    local app=$scratch/control/site/app
    cat >"$app/manifests/init.pp" <<EOP
class app {
  \$root = "$scratch/made"
  file { \$root: ensure => directory }
  file { "\${root}/catalog": content => "$1 \${facts['code']}\n" }
  file { "\${root}/inlined": source => 'puppet:///modules/app/file' }
  exec { 'deploy':
    command => '$scratch/deploy applying',
    onlyif  => '/usr/bin/test -e $scratch/when-applying',
  }
  file { "\${root}/asked": source => 'puppet:///plugins/marker', require => Exec['deploy'] }
}
EOP
    echo "$1" >"$app/files/file"
    echo "$1" >"$app/lib/marker"
    printf '#!/bin/sh\n%s/deploy facts\necho code=%s\n' "$scratch" "$1" >"$app/facts.d/code"
    chmod 755 "$app/facts.d/code"
    git -C control add -A && git -C control commit -qm "$1"
}
is() { [ "$(cat "$1" 2>&1)" = "$2" ] || { echo "FAILED: line ${BASH_LINENO[1]}: $1 holds '$(cat "$1" 2>&1)', not '$2'"; failures=$((failures + 1)); }; }
# all_of N: every file of the last run is of version N.
all_of() { is made/catalog "$1 $1"; is made/inlined "$1"; is made/asked "$1"; }
link_at() { is "$site/envs/production/site/app/files/file" "$1"; }

prepare 1
run 0 deploy environment --r10k "$scratch/r10k.yaml"
"$BUNRAKU" server --https 127.0.0.1:0 --confdir "$site/etc" --vardir "$site/var" \
    --statedir "$site/state" >"$site/out" 2>"$site/err" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 400); do grep -q 'is ready' "$site/out" && break; sleep 0.05; done
port=$(grep -o 'https://[^ ]*' "$site/out" | sed 's/.*://')

bunraku_agent() {
    rm -rf made
    run 2 agent --test --color false --server localhost --serverport "$port" --certname web1.example
}
# A run that synchronizes plugins, although the last one was complete.
whole_agent() { rm -f state/rest.json && bunraku_agent; }
puppet_agent() {
    local status=0
    rm -rf made
    /usr/bin/puppet agent --test --color false --server localhost --serverport "$port" \
        --certname web2.example --confdir "$scratch/puppet/etc" --vardir "$scratch/puppet/var" \
        --ssldir "$scratch/puppet/ssl" --rundir "$scratch/puppet/run" --logdir "$scratch/puppet/log" \
        --publicdir "$scratch/puppet/public" >"$scratch/puppet.out" 2>&1 || status=$?
    [ "$status" = 2 ] || { echo "FAILED: puppet agent: exit $status"; cat "$scratch/puppet.out"; failures=$((failures + 1)); }
}
# journey AGENT FIRST: runs AGENT while the link moves from version FIRST on.
journey() {
    local agent=$1 v=$2
    "$agent"
    all_of "$v"
    prepare $((v + 1)) && touch when-facts
    "$agent"
    link_at $((v + 1))
    all_of "$v"
    "$agent"
    all_of $((v + 1))
    prepare $((v + 2)) && touch when-applying
    "$agent"
    link_at $((v + 2))
    all_of $((v + 1))
    "$agent"
    all_of $((v + 2))
}
journey whole_agent 1
# An unchanged run, in the middle of which the link moves. A catalog is not confirmed as long as the
# times of the files that it was compiled from are too recent to prove that they have not changed.
for _ in $(seq 50); do
    bunraku_agent
    grep -q 'catalog has not changed since the last run' <<<"$out$err" && break
    sleep 0.2
done
prepare 4 && touch when-applying
bunraku_agent
holds "$out$err" 'catalog has not changed since the last run'
link_at 4
all_of 3
bunraku_agent
all_of 4
if [ -x /usr/bin/puppet ]; then
    mkdir -p "$scratch/puppet"
    journey puppet_agent 4
fi

kill -0 "$server" || { echo "FAILED: the server has ended: $(<"$site/err")"; failures=$((failures + 1)); }
lacks "$(<"$site/err")" 'differed|please report'
finish
