#!/bin/bash
# Predicts the effect of a change on a fleet before it is merged, from a git repository to an exit
# code.
. "${0%/*}/lib.sh"
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
control=$scratch/control facts=$scratch/facts
mkdir -p "$control"/{manifests,data/nodes} "$control"/site/{profile/manifests,ntp/{manifests,files,templates}} "$facts"
cd "$control" || exit 1
repository() { git -C "$control" "$@" >/dev/null 2>&1; }
repository init --quiet -b main
printf 'modulepath = site\n' >environment.conf
cat >hiera.yaml <<'EOM'
version: 5
defaults: { datadir: data, data_hash: yaml_data }
hierarchy:
  - { name: node, path: "nodes/%{trusted.certname}.yaml" }
  - { name: common, path: common.yaml }
EOM
cat >data/common.yaml <<'EOM'
---
# of all
ntp::servers:
  - a
  - b
profile::base::greeting: hello
unused: 1
EOM
cat >manifests/site.pp <<'EOM'
node default { include profile::base }
node /^db/ {
  include profile::base
  include profile::db
}
EOM
cat >site/profile/manifests/base.pp <<'EOM'
# the base
class profile::base (String $greeting) {
  include ntp
  file { '/etc/motd': content => "${greeting} ${trusted['certname']}\n" }
  file { '/etc/x': source => 'puppet:///modules/ntp/x' }
}
EOM
cat >site/profile/manifests/db.pp <<'EOM'
class profile::db {
  package { 'postgres': ensure => installed }
  -> service { 'postgres': ensure => running }
}
EOM
cat >site/ntp/manifests/init.pp <<'EOM'
class ntp (Array $servers) {
  file { '/etc/ntp.conf': content => epp('ntp/ntp.conf.epp', { servers => $servers }) }
}
EOM
printf '<%% | $servers | -%%>\n<%% $servers.each |$s| { -%%>\nserver <%%= $s %%>\n<%% } -%%>\n' >site/ntp/templates/ntp.conf.epp
echo one >site/ntp/files/x
for n in web1 web2 web3 db1; do
    printf '{"networking":{"hostname":"%s","fqdn":"%s.example.org","ip":"10.0.0.%s"}}' "$n" "$n" "${n: -1}" >"$facts/$n.example.org.json"
done
repository add -A && repository commit -m one && repository tag first
# impact STATUS ARGS...: runs `impact`.
impact() {
    local status=$1
    shift
    run "$status" impact --facts-dir "$facts" "$@"
}
# fresh: checks out the first commit again. Each case then makes its own changes.
fresh() { repository checkout -f -B main first && repository clean -fdx; }

impact 0
holds "$out" '^HEAD → the working tree: 0 of 4 nodes change$'
holds "$out" '^4 nodes: 4 untouched; exit code [0-3]$'

# Changes to unread files, comments and unused keys affect no node.
sed -i 's/^# of all/# of everybody/; s/^unused: 1/unused: 2/' data/common.yaml
sed -i 's/^# the base/# our base/' site/profile/manifests/base.pp
echo 'class unused { }' >site/profile/manifests/unused.pp
impact 0
holds "$out" '^4 nodes: 4 untouched; exit code [0-3]$'

# A key, and the code that reads it; the node's own name as a placeholder; the content of a source
# file.
fresh
sed -i 's/- b/- c/; s/hello/hallo/' data/common.yaml
echo two >site/ntp/files/x
impact 0 --from HEAD
holds "$out" '^    because data/common.yaml#profile::base::greeting$'
holds "$out" '^            └─ class profile::base \(site/profile/manifests/base.pp:2\)$'
holds "$out" '^               └─ node /\^db/:3$'
holds "$out" '^    because data/common.yaml#ntp::servers$'
holds "$out" '^            └─ class ntp \(site/ntp/manifests/init.pp:1\)$'
holds "$out" '^               └─ profile::base:3$'
holds "$out" '^                  └─ node /\^db/:3$'
holds "$out" '^    -hello %\{trusted.certname\}$'
holds "$out" '^    \+server c$'
holds "$out" '^~ File\[/etc/x\] content of its source$'
holds "$out" '^    because site/ntp/files/x$'
holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'
impact 0 --json --jobs 1
one=$out
impact 0 --json --jobs 4
[ "$out" = "$one" ] || { echo "FAILED: --jobs"; failures=$((failures + 1)); }
python3 - "$scratch/out" <<'EOM' || failures=$((failures + 1))
import json, sys
data = json.load(open(sys.argv[1]))
groups = {(g["reference"], g["parameter"]): g for g in data["groups"]}
assert set(groups) == {("File[/etc/motd]", "content"), ("File[/etc/ntp.conf]", "content"), ("File[/etc/x]", "source")}, groups
assert all(len(g["because"]) == 1 and g["because"][0]["proven"] for g in groups.values()), groups
assert groups["File[/etc/ntp.conf]", "content"]["before"] == "server a\nserver b\n"
assert data["summary"]["changed"] == 4
EOM
impact 2 --fail-on changes
impact 2 --fail-on 'File[/etc/ntp*]'
impact 0 --fail-on 'Service[*]' --fail-on errors
# Reversed, and between commits: the same groups.
repository add -A && repository commit -m two && repository tag second
impact 0 --from second --to first
holds "$out" '^second → first: 4 of 4 nodes change$'
holds "$out" '^    -server c$'
impact 0 --from first --to git:second --out "$scratch/r.md" --out "$scratch/r.sarif" --out "$scratch/r.json"
holds "$(<"$scratch/r.md")" '^### Puppet: 4 of 4 nodes change$'
python3 - "$scratch/r.sarif" "$scratch/r.json" <<'EOM' || failures=$((failures + 1))
import json, sys
results = json.load(open(sys.argv[1]))["runs"][0]["results"]
places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]:
          r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results
          if "motd" not in r["message"]["text"]}
assert places == {"data/common.yaml": 5, "site/ntp/files/x": 1}, places
json.load(open(sys.argv[2]))
EOM

# --from and --to accept folders, too.
git -C "$control" worktree add --quiet "$scratch/old" first 2>/dev/null
impact 0 --from "$scratch/old" --to .
holds "$out" '^    because data/common.yaml#ntp::servers$'
holds "$out" '^            └─ class ntp \(site/ntp/manifests/init.pp:1\)'
holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'

# A leaf class: only the node that includes it is compiled again.
fresh
sed -i 's/ensure => installed/ensure => latest/' site/profile/manifests/db.pp
impact 0
holds "$out" '^    because site/profile/manifests/db.pp#class profile::db$'
holds "$out" '^            └─ node /\^db/ \(manifests/site.pp:4\)$'
holds "$out" '^4 nodes: 1 changed, 3 untouched; exit code [0-3]$'
impact 0 --json
holds "$out" '"compiled":\{"before":2,"after":1,'
impact 0 --json --no-cache
holds "$out" '"compiled":\{"before":4,"after":1,'

# Reads are cached between runs. A run compiles only the affected nodes, plus one to verify the
# cache.
counts() { holds "$(grep -o '"compiled".*' <<<"$out")" "\"before\":$1,\"after\":$2,"; }
kept=$HOME/.cache/bunraku/impact
fresh
rm -r "$kept"
impact 0 --json && counts 4 0
[ "$(stat -c %a "$kept"/*.reads | sort -u)" = 600 ] || { echo "FAILED: modes of $kept"; failures=$((failures + 1)); }
lacks "$(tr -d '\0' <"$(echo "$kept"/*.reads)")" 'hello|10\.0\.0\.1'
impact 0 --json && counts 1 0
holds "$out" '"untouched":4'
# One git process reads all files of a commit.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "$*" >>%s/git.log\nexec %s "$@"\n' "$scratch" "$(command -v git)" >"$scratch/bin/git"
chmod +x "$scratch/bin/git"
PATH=$scratch/bin:$PATH impact 0 --no-kept
holds "$(<"$scratch/git.log")" 'cat-file --batch'
lacks "$(<"$scratch/git.log")" 'cat-file blob'
# A change of unread facts, a change of a fact that is read, and a new node.
sleep 0.05
printf '{"uptime":7,"networking":{"hostname":"web1","fqdn":"web1.example.org","ip":"10.0.0.1"}}' >"$facts/web1.example.org.json"
impact 0 --json && counts 1 0
printf '{"networking":{"hostname":"new","fqdn":"new.example.org","ip":"10.0.0.9"}}' >"$facts/new.example.org.json"
impact 0 --json && counts 2 0
holds "$out" '"untouched":5'
rm "$facts/new.example.org.json"
# A new data file of one node; the content of a source file; a commit that changes data that all
# nodes read.
mkdir -p data/nodes && echo 'profile::base::greeting: moin' >data/nodes/web2.example.org.yaml
impact 0 --json && counts 2 1
holds "$out" '"changed":1,'
echo three >site/ntp/files/x
impact 0
holds "$out" '^~ File\[/etc/x\] content of its source$'
holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'
fresh
repository checkout -B moved first && sed -i 's/^unused: 1/unused: 3/' data/common.yaml && repository commit -am unread
impact 0 --json && counts 1 0
sed -i 's/hello/hej/' data/common.yaml && repository commit -am read
impact 0 --json && counts 4 0
sed -i 's/hej/hello/' data/common.yaml
impact 0 --no-because --json && counts 4 4
holds "$out" '"changed":4,'
# Truncated, damaged or unreadable cache files are ignored. Concurrent runs do not disturb each
# other.
for file in "$kept"/*.reads; do printf x >>"$file"; done
impact 0 --no-because
holds "$out" '^Note: .*\.reads is damaged and is not used$'
holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'
for file in "$kept"/*; do echo nonsense >"$file"; done
impact 0 --no-because
holds "$out" '^Note: .*\.reads is not a cache file of Bunraku and is not used$'
holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'
for n in 1 2 3; do "$BUNRAKU" impact --facts-dir "$facts" --no-because "${places[@]}" >"$scratch/at-once.$n" & done
wait
for n in 1 2 3; do holds "$(<"$scratch/at-once.$n")" '^4 nodes: 4 changed; exit code [0-3]$'; done
chmod 000 "$kept" && impact 0 --no-because && holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'
chmod 700 "$kept"
printf '{"networking":{"hostname":"web1","fqdn":"web1.example.org","ip":"10.0.0.1"}}' >"$facts/web1.example.org.json"

# Errors that otherwise only an apply would find.
fresh
sed -i "s/running }/running, before => Package['postgres'] }/" site/profile/manifests/db.pp
impact 2 --fail-on errors
holds "$out" '^! dependency cycle: Package\[postgres\] => Service\[postgres\] => Package\[postgres\]$'
fresh
rm site/ntp/files/x
impact 2 --fail-on errors
holds "$out" '^! File\[/etc/x\]: there is no puppet:///modules/ntp/x$'
holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'

# Errors are results: new ones, unchanged ones, and those that the change fixes.
fresh
echo 'fail("broken")' >>site/profile/manifests/db.pp
sed -i 's/^}$//' site/profile/manifests/db.pp && echo '}' >>site/profile/manifests/db.pp
impact 2 --fail-on errors
holds "$out" '^! fails, worked before: Evaluation Error: .*broken \(file: site/profile/manifests/db.pp'
holds "$out" '^    because site/profile/manifests/db.pp#class profile::db'
holds "$out" '^4 nodes: 1 fails, 3 untouched; exit code [0-3]$'
repository add -A && repository commit -m broken && repository tag broken
impact 0 --from broken --to first --fail-on errors
holds "$out" '^\* works again; was: Evaluation Error: .*broken'
echo ' # a comment' >>data/common.yaml
impact 0 --fail-on errors
holds "$out" '^4 nodes: 1 fails as before, 3 untouched; exit code [0-3]$'
# A broken file of any kind is recorded as read. Its repair affects all nodes.
for file in manifests/site.pp site/ntp/manifests/init.pp site/ntp/templates/ntp.conf.epp data/common.yaml hiera.yaml; do
    repository checkout -f -B torn first
    echo "<% - 'never closed" >>"$file"
    repository commit -am torn
    repository checkout -f first -- "$file"
    impact 0 --no-because
    holds "$out" '^4 nodes: 4 work again; exit code [0-3]$' || echo "$file"
done
fresh && repository checkout -f -B main broken
# An error on every node.
echo 'include nowhere' >>manifests/site.pp
impact 0
holds "$out" '^! fails, worked before: .*Could not find class ::nowhere'
holds "$out" '^4 nodes: 3 fail, 1 fails otherwise; exit code [0-3]$'
printf "mod 'acme/nowhere', '1.0.0'\nmod 'ntp', local: true\n" >Puppetfile
impact 0
holds "$out" '^Note: A module that the Puppetfile names is not installed \(acme/nowhere\): compiles that need it fail$'

# Two inputs that are needed together, and one that is not needed.
fresh
cat >site/profile/manifests/new.pp <<'EOM'
class profile::new { notify { 'new': } }
EOM
sed -i 's/^  include ntp/  include ntp\n  include profile::new/' site/profile/manifests/base.pp
sed -i 's/hello/hallo/' data/common.yaml
impact 0
holds "$out" '^\+ Notify\[new\]$'
python3 - <<EOM || failures=$((failures + 1))
import re
text = open("$scratch/out").read()
blocks = {b.split("\n")[0]: b for b in text.split("\n\n")}
assert "base.pp#class profile::base" in blocks["+ Notify[new]"], text
assert "common.yaml" not in blocks["+ Notify[new]"], text
assert "new.pp" not in blocks["~ File[/etc/motd] content"], text
assert "common.yaml#profile::base::greeting" in blocks["~ File[/etc/motd] content"], text
EOM

# Time and random values are not differences. Nodes that read them are still compared.
fresh
sed -i 's/^  include ntp/  include ntp\n  notify { "at ${Timestamp()}": }/' site/profile/manifests/base.pp
repository add -A && repository commit -m clock
sed -i 's/hello/hallo/' data/common.yaml
impact 0
lacks "$out" 'Notify\['
holds "$out" '^~ File\[/etc/motd\] content$'

# Nodes that could not be judged are reported, and never counted as untouched.
fresh
impact 3 --node web1.example.org --node gone.example.org
holds "$out" 'gone.example.org was not judged: its facts are not available'
holds "$out" '^2 nodes: 1 untouched, 1 not judged; exit code [0-3]$'
echo '{}' >"$facts/empty.example.org.json"
impact 3 --nodes 'empty*,web1*'
holds "$out" 'empty.example.org was not judged: it has no facts'
echo '{"' >"$facts/torn.example.org.json"
impact 3 --nodes 'torn*,web1*'
holds "$out" 'torn.example.org was not judged: Could not parse .*/torn.example.org.json: '
holds "$out" '^2 nodes: 1 untouched, 1 not judged; exit code [0-3]$'
rm "$facts/torn.example.org.json"
# Many nodes without facts cause a single note.
for n in 1 2 3 4 5; do echo '{}' >"$facts/bare$n.example.org.json"; done
impact 3
holds "$out" '^Note: 6 nodes were not judged \(bare1.example.org, bare2.example.org, bare3.example.org, bare4.example.org and 2 more\): it has no facts$'
holds "$out" '^10 nodes: 4 untouched, 6 not judged; exit code [0-3]$'
rm "$facts"/bare*.json "$facts/empty.example.org.json"
# A failure to write one output file does not prevent the others.
impact 1 --out "$scratch/nowhere/r.md" --out "$scratch/other.md"
holds "$out" '^4 nodes: 4 untouched; exit code [0-3]$'
holds "$err" 'Could not write to .*/nowhere/r.md'
holds "$(<"$scratch/other.md")" '^### Puppet: 0 of 4 nodes change$'
impact 0 --sample 2
holds "$out" '^Note: A sample of 2 of 4 nodes: the result does not cover the others$'
impact 1 --from nothing
holds "$err" "The git repository $control has no revision 'nothing'"
impact 1 --to env:nothing --environmentpath "$scratch"
holds "$err" "There is no environment 'nothing'"
run 1 impact --facts-dir "$scratch/nowhere"
holds "$err" 'nowhere'
impact 1 --nodes 'nodes[certname]{}'
holds "$err" 'Only a PuppetDB or a store supports PQL'
impact 1 --fail-on

# Reports files that change during the compile, for example through the compiled code itself.
fresh
sed -i "s#^  include ntp#  include ntp\n  generate('/bin/sh', '-c', 'echo \"written: 1\" >>$control/data/common.yaml')#" site/profile/manifests/base.pp
repository add -A && repository commit -m writes
impact 0 --no-because --from HEAD
holds "$out" '^Note: Files changed during the run \(data/common.yaml\). The results may be from before or after the change. Run the command again$'
lacks "$out" 'untouched'

# Which nodes read an input, and which inputs no node reads.
fresh
mkdir -p site/profile/templates
echo 'class profile::unused { }' >site/profile/manifests/unused.pp
echo x >site/profile/templates/unused.epp
echo 'a: 1' >data/never.yaml
run 0 fleet readers --facts-dir "$facts" data/common.yaml#ntp::servers
holds "$out" '^data/common.yaml#ntp::servers → class ntp \(site/ntp/manifests/init.pp:1\)$'
holds "$out" '^    4 of 4 nodes: db1.example.org, web1.example.org'
run 0 fleet readers --facts-dir "$facts" profile::db
holds "$out" '^site/profile/manifests/db.pp#class profile::db → node /\^db/ \(manifests/site.pp:4\)$'
holds "$out" '^    1 of 4 nodes: db1.example.org$'
run 0 fleet readers --facts-dir "$facts" site/ntp/templates/ntp.conf.epp
holds "$out" '^site/ntp/templates/ntp.conf.epp → class ntp \(site/ntp/manifests/init.pp:2\)$'
run 0 fleet readers --facts-dir "$facts" nothing
holds "$out" '^None of 4 nodes reads nothing$'
# Functions in Puppet and in Ruby, and type aliases, in one file each.
mkdir -p site/profile/{functions,types,lib/puppet/functions/profile,lib/puppet/parser/functions} functions
for f in used unused; do
    echo "function profile::$f() { 'x' }" >"site/profile/functions/$f.pp"
    echo "type Profile::T$f = String" >"site/profile/types/t$f.pp"
    echo "Puppet::Functions.create_function(:'profile::r$f') { def r$f; 'x'; end }" >"site/profile/lib/puppet/functions/profile/r$f.rb"
    echo "function environment::e$f() { 'x' }" >"functions/e$f.pp"
done
echo 'module Puppet::Parser::Functions; newfunction(:old_unused) { }; end' >site/profile/lib/puppet/parser/functions/old_unused.rb
cp site/profile/manifests/base.pp "$scratch/base.pp"
sed -i "s/^  include ntp/  include ntp\n  \$u = profile::used()\n  \$r = profile::rused()\n  \$e = environment::eused()\n  assert_type(Profile::Tused, 'x')/" site/profile/manifests/base.pp
run 0 fleet dead --facts-dir "$facts"
for name in 'function profile::used' 'function profile::rused' 'function environment::eused' 'type Profile::Tused'; do
    lacks "$out" "^$name "
    run 0 fleet readers --facts-dir "$facts" "$name"
    holds "$out" ' → class profile::base \(site/profile/manifests/base.pp:2\)$'
    holds "$out" '^    4 of 4 nodes: '
    run 0 fleet readers --facts-dir "$facts" "${name#* }"
    holds "$out" '^    4 of 4 nodes: '
    run 0 fleet dead --facts-dir "$facts"
done
holds "$out" '^function profile::unused \(site/profile/functions/unused.pp:1\)$'
holds "$out" '^function profile::runused \(site/profile/lib/puppet/functions/profile/runused.rb:1\)$'
holds "$out" '^function old_unused \(site/profile/lib/puppet/parser/functions/old_unused.rb:1\)$'
holds "$out" '^function environment::eunused \(functions/eunused.pp:1\)$'
holds "$out" '^type Profile::Tunused \(site/profile/types/tunused.pp:1\)$'
run 0 fleet readers --facts-dir "$facts" profile::unused
holds "$out" '^None of 4 nodes reads profile::unused$'
cp "$scratch/base.pp" site/profile/manifests/base.pp
rm -r site/profile/{functions,types,lib} functions
# A file that a backend reads as a whole is not dead.
cp hiera.yaml "$scratch/hiera.yaml"
echo '  - { name: s, lookup_key: eyaml_lookup_key, path: s.eyaml.yaml, options: { pkcs7_private_key: /k, pkcs7_public_key: /k } }' >>hiera.yaml
echo 'b: 1' >data/s.eyaml.yaml
run 0 fleet dead --facts-dir "$facts"
rm data/s.eyaml.yaml
mv "$scratch/hiera.yaml" hiera.yaml
[ "$out" = 'class profile::unused (site/profile/manifests/unused.pp:1)
data file data/never.yaml
key unused (data/common.yaml)
template site/profile/templates/unused.epp
4 things that none of 4 nodes reads' ] || { echo "FAILED: $out"; failures=$((failures + 1)); }
run 0 fleet dead --at first --json --facts-dir "$facts"
holds "$out" '"dead":\[\{"kind":"key","name":"unused","path":"data/common.yaml","line":0\}\]'
run 0 fleet doctor --facts-dir "$facts" --twice
holds "$out" '^What 4 nodes read is known of all of them$'
holds "$out" '^Two compiles of each node are the same$'
sed -i 's/^  include ntp/  include ntp\n  notify { "at ${Timestamp()}": }/' site/profile/manifests/base.pp
run 0 fleet doctor --facts-dir "$facts" --twice
holds "$out" '^clock \(site/profile/manifests/base.pp:[0-9]+\)$'
holds "$out" '^    4 of 4 nodes: '
holds "$out" '^differs from compile to compile: Notify\[at '
run 1 fleet nonsense --facts-dir "$facts"

# What-if questions.
fresh
run 0 whatif --facts-dir "$facts" --hiera 'ntp::servers=["z", "%{facts.networking.hostname}"]'
holds "$out" '^the working tree → with ntp::servers='
holds "$out" '^    \+server z$'
holds "$out" '^    \+server %\{facts.networking.hostname\}$'
run 2 whatif --facts-dir "$facts" --hiera 'profile::base::greeting=hi' --out "$scratch/w.md" --out "$scratch/w.json" --fail-on 'File[/etc/motd]'
holds "$(<"$scratch/w.md")" '^### Puppet: 4 of 4 nodes change$'
run 0 whatif --facts-dir "$facts" --at first --class profile::db
holds "$out" '^\+ Package\[postgres\]$'
holds "$out" '^4 nodes: 3 changed, 1 the same; exit code [0-3]$'
sed -i "s/^  include ntp/  include ntp\n  if \$facts['os']['release']['major'] == '13' { notify { 'thirteen': } }/" site/profile/manifests/base.pp
run 0 whatif --facts-dir "$facts" --fact os.release.major='"12"' --node web1.example.org
holds "$out" '^\* works again'
run 0 whatif --facts-dir "$facts" --fact os.release.major='"13"' --class nowhere --node web1.example.org
holds "$out" '^1 node: 1 fails otherwise; exit code [0-3]$'
# A string fact remains a string. A fact that no node has causes a note.
for n in web1 web2; do
    printf '{"networking":{"hostname":"%s"},"os":{"release":{"major":"12"}},"up":{"days":1}}' "$n" >"$scratch/facts-$n.json"
done
mkdir -p "$scratch/typed"
for n in web1 web2; do cp "$scratch/facts-$n.json" "$scratch/typed/$n.json"; done
run 0 whatif --facts-dir "$scratch/typed" --fact os.release.major=13
holds "$out" '^\+ Notify\[thirteen\]$'
holds "$out" '^    2 nodes: web\[1-2\]$'
lacks "$out" 'No node has'
run 0 whatif --facts-dir "$scratch/typed" --fact os.relase.major=13
holds "$out" '^Note: No node has the fact os.relase.major: it was added to all. Did you mean os.release.major\?$'
# If a node has two fact files, the newer one is used.
printf '{"name":"web1","values":{"networking":{"hostname":"web1"},"os":{"release":{"major":"13"}}}}' >"$scratch/typed/old.json"
touch -d '2020-01-01' "$scratch/typed/old.json"
run 0 impact --facts-dir "$scratch/typed" --no-because
holds "$out" '^Note: web1 has several fact files: web1.json, the newest, is used, old.json is not$'
holds "$out" '^2 nodes: '
run 1 whatif --facts-dir "$facts"
run 1 whatif --facts-dir "$facts" --fact nonsense
holds "$err" "'nonsense' is not NAME=VALUE"

# Two changes at once: a conflict exists where the result is not the union of both.
fresh
repository checkout -B one first && sed -i 's/hello/hallo/' data/common.yaml && repository commit -am one
repository checkout -B apart first && sed -i 's/installed/latest/' site/profile/manifests/db.pp && repository commit -am apart
repository checkout -B same first && sed -i 's/^profile::base::greeting: hello/profile::base::greeting: ciao/' data/common.yaml && repository commit -am same
repository checkout -B value first && mkdir -p data/nodes && echo 'profile::base::greeting: salut' >data/nodes/web1.example.org.yaml && repository add -A && repository commit -m value
repository checkout -B adds first && sed -i 's/^  include profile::db/  include profile::db, profile::more/' manifests/site.pp && echo 'class profile::more { include profile::extra }' >site/profile/manifests/more.pp && echo 'class profile::extra { }' >site/profile/manifests/extra.pp && repository add -A && repository commit -m adds
impact 0 --from first --to one --with apart --fail-on errors
holds "$out" '^first → one: 4 of 4 nodes change, 0 conflicts with apart$'
impact 2 --from first --to one --with value --fail-on errors
holds "$out" '^first → one: 4 of 4 nodes change, 1 conflict with value$'
holds "$out" '^! File\[/etc/motd\]: content gets two values: "hallo %\{trusted.certname\}.n" by one, "salut .*" by value'
holds "$out" '^    1 node: web1.example.org$'
impact 0 --from first --to one --with same
holds "$out" '^Note: one and same change data/common.yaml in ways that cannot be merged'
impact 0 --from first --to adds --with apart --json
holds "$out" '^\{"with":"apart","from":"first"'
impact 1 --from first --to one --with nothing
holds "$err" "has no revision 'nothing'"
# One change adds a use of a class that the other breaks.
repository checkout -B uses first && sed -i 's/^node default .*/node default { include profile::base, profile::db }/' manifests/site.pp && repository commit -am uses
repository checkout -B breaks first && sed -i "s/ensure => running/ensure => lookup('nowhere')/" site/profile/manifests/db.pp && repository commit -am breaks
impact 0 --from first --to uses --with breaks
holds "$out" '^! fails with both: .*nowhere'
holds "$out" '^    3 nodes: web\[1-3\].example.org$'

# Texts that differ elsewhere but change in the same lines form one group. Node names are folded.
fresh
sed -i "s#^  file { '/etc/x'#  file { '/etc/y': content => \"\${facts['kernel']}\\\\n\${greeting}\\\\n\" }\n  file { '/etc/x'#" site/profile/manifests/base.pp
repository add -A && repository commit -m context
sed -i 's/hello/hallo/' data/common.yaml
mkdir -p "$scratch/many"
for n in 1 2 10; do printf '{"kernel":"k%s","networking":{"hostname":"web%s"}}' "$n" "$n" >"$scratch/many/web$n.json"; done
run 0 impact --facts-dir "$scratch/many"
[ "$(grep -c '^~ File\[/etc/y\] content$' <<<"$out")" = 1 ] || { echo "FAILED: $out"; failures=$((failures + 1)); }
holds "$out" '^    -hello$'
holds "$out" '^    3 nodes: web\[1-2,10\]$'
lacks "$out" '^     k1'
run 0 impact --facts-dir "$scratch/many" --json
holds "$out" '"same_context":false'

# `modules` as a symbolic link that points outside of the repository, as on machines that share
# modules.
fresh
mkdir -p "$scratch/shared/extra/manifests"
echo 'class extra { notify { "extra": } }' >"$scratch/shared/extra/manifests/init.pp"
ln -s "$scratch/shared" modules
printf 'modulepath = site:modules\n' >environment.conf
sed -i 's/^  include ntp/  include ntp, extra/' site/profile/manifests/base.pp
repository add environment.conf site && repository commit -m shared
impact 0 --from HEAD
holds "$out" '^4 nodes: 4 untouched; exit code 0$'
repository add modules && repository commit -m link
sed -i 's/hello/hallo/' data/common.yaml
impact 0 --from HEAD
holds "$out" '^4 nodes: 4 changed; exit code 0$'
rm modules

# A change of an exported resource affects the nodes that collect it.
fresh
cat >site/profile/manifests/peer.pp <<'EOM'
class profile::peer {
  @@host { $trusted['certname']: ip => lookup('peer_ip'), tag => 'peer' }
  Host <<| tag == 'peer' |>>
}
EOM
echo 'peer_ip: 10.1.1.1' >>data/common.yaml
sed -i 's/^  include ntp/  include ntp, profile::peer/' site/profile/manifests/base.pp
repository add -A && repository commit -m peers
mkdir -p data/nodes && echo 'peer_ip: 10.2.2.2' >data/nodes/db1.example.org.yaml
impact 0 --from HEAD --storeconfigs --setting statedir="$scratch/peers"
holds "$out" '^~ Host\[%?.*\] ip$'
holds "$out" 'because Host\[db1.example.org\] exported by db1.example.org$'
holds "$out" '^4 nodes: 4 changed; exit code [0-3]$'
# A PuppetDB that fails in between: nodes whose queries fail are not judged, regardless of the
# change.
cat >"$scratch/dies.py" <<'EOM'
import http.server, json, os, sys
left = 3
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def answer(self, rows):
        body = json.dumps(rows).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer([{"certname": f"{n}.example.org", "facts": {"data": [{"name": "networking", "value": {"hostname": n}}]}} for n in ("db1", "web1", "web2", "web3")])
    def do_GET(self):
        global left
        left -= 1
        if left < 0: os._exit(0)
        self.answer([])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
EOM
repository add -A && repository commit -m peer_of_db1
python3 "$scratch/dies.py" >"$scratch/port" &
for _ in {1..100}; do [ -s "$scratch/port" ] && break; sleep 0.05; done
sed -i 's/hello/hallo/' data/common.yaml
run 3 impact --puppetdb-url "http://127.0.0.1:$(<"$scratch/port")" --storeconfigs --jobs 1 --no-kept
holds "$out" '^Note: 3 nodes were not judged \(.*\): the store or PuppetDB did not answer the queries of its compile$'
holds "$out" '^4 nodes: 1 changed, 3 not judged; exit code [0-3]$'
lacks "$out" 'fail as before|untouched|fails, worked'
wait
# Two nodes whose exports depend on each other may never converge.
fresh
cat >site/profile/manifests/flip.pp <<'EOM'
define profile::flip {
  case $trusted['certname'] {
    'web1.example.org': { unless defined(Host['h2']) { @@host { 'h1': ip => '10.0.0.1' } } }
    'web2.example.org': { if defined(Host['h1']) { @@host { 'h2': ip => '10.0.0.2' } } }
    default: { }
  }
}
EOM
sed -i 's/^  include ntp/  include ntp\n  Host <<| |>>\n  profile::flip { "x": }/' site/profile/manifests/base.pp
impact 0 --from HEAD --storeconfigs --setting statedir="$scratch/flips"
holds "$out" '^Note: The exported resources of these nodes, which collect from each other, did not stabilise: web'
fresh

# A missing submodule, and modules that a Puppetfile installs.
repository -c protocol.file.allow=always submodule add "$scratch/old" site/sub
repository commit -m sub && repository submodule deinit -f site/sub
impact 0 --from HEAD
holds "$err" 'does not hold the files of its submodules: site/sub'
holds "$out" '^Note: HEAD does not hold the files of its submodules \(site/sub\), and no repository in the working folder does: compiles that need them fail$'
fresh
echo "mod 'acme/inst'" >Puppetfile && echo modules >.gitignore
printf 'modulepath = site:modules\n' >environment.conf
sed -i 's/^  include ntp/  include ntp, inst/' site/profile/manifests/base.pp
mkdir -p modules/inst/manifests && echo 'class inst { notify { "installed": } }' >modules/inst/manifests/init.pp
repository add -A && repository commit -m puppetfile
echo "mod 'acme/inst', '2.0.0'" >Puppetfile
impact 0 --from HEAD
holds "$out" '^Note: The Puppetfile differs between the two'
holds "$out" '^4 nodes: 4 untouched; exit code [0-3]$'
# Plugins that agents load are not part of any catalog: a fact, a fact in facts.d, a provider. Files
# that only servers load do not count as plugins.
repository add -A && repository commit --quiet -m 'before plugins'
mkdir -p site/ntp/lib/{facter,puppet/functions,puppet/provider/x} site/ntp/facts.d
echo 'Facter.add(:x) { setcode { exit! 1 } }' >site/ntp/lib/facter/x.rb
echo 'x=1' >site/ntp/facts.d/x.txt
echo '# p' >site/ntp/lib/puppet/provider/x/y.rb
echo '# f' >site/ntp/lib/puppet/functions/f.rb
impact 0
holds "$out" 'plugins of 1 module change for all agents$'
holds "$out" '^~ plugins of module ntp$'
holds "$out" '^    \+facts\.d/x\.txt added$'
holds "$out" '^    \+lib/facter/x\.rb added$'
holds "$out" '^    \+lib/puppet/provider/x/y\.rb added$'
lacks "$out" 'functions/f'
holds "$out" '^    because site/ntp$'
repository add -A && repository commit --quiet -m plugins
echo 'Facter.add(:x) { setcode { 2 } }' >site/ntp/lib/facter/x.rb
rm site/ntp/facts.d/x.txt
impact 2 --json --fail-on changes
holds "$out" '"kind":"plugins","reference":"module ntp","after":"lib/facter/x\.rb changed\\nfacts\.d/x\.txt removed"'
repository checkout -- . && impact 0 --fail-on changes
lacks "$out" plugins
finish
