#!/bin/bash
# Explains the sources of values in a catalog, and the reasons why a resource is not in it.
. "${0%/*}/lib.sh"
control=$scratch/control facts=$scratch/facts
mkdir -p "$control"/{manifests,data/nodes} "$control"/site/{profile/{manifests,functions},ntp/{manifests,templates}} "$facts"
cd "$control" || exit 1
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
profile::base::manage: true
pw: s3cret
lookup_options:
  pw: { convert_to: Sensitive }
EOM
echo 'ntp::keys: 1' >data/nodes/web1.yaml
cat >manifests/site.pp <<'EOM'
File { mode => '0640' }
node default { include profile::base }
node 'db1' { include profile::db }
EOM
cat >site/profile/manifests/base.pp <<'EOM'
class profile::base (Boolean $manage = false, String $owner = 'root') {
  case $facts['os']['family'] { 'RedHat', 'Debian', 'Suse': { $family = 'deb' } default: { $family = 'other' } }
  if $manage and $facts['os']['family'] == 'Debian' {
    include ntp
    file { '/etc/motd': content => "${family} ${trusted['certname']}", owner => $owner }
  } else {
    file { '/etc/other': content => 'x' }
  }
  @user { 'bob': uid => 1000 }
  User <| tag == 'others' |>
  $pw = lookup('pw')
  file { '/etc/secret': content => Sensitive("p=${pw.unwrap}") }
  notify { 'plain': message => "${pw.unwrap[0]}" }
  ['a', 'b'].each |$i, $n| { profile::thing { "t_${n}": text => profile::upper($n) } }
  case $facts['os']['family'] {
    'RedHat': { package { 'httpd': } }
    default: { package { 'apache2': ensure => lookup('apache', { default_value => 'latest' }) } }
  }
  File <| title == '/etc/motd' |> { group => 'wheel' }
  create_resources('host', { 'h1' => { ip => $facts['ip'] } })
}
EOM
cat >site/profile/manifests/thing.pp <<'EOM'
define profile::thing (String $text) {
  file { "/etc/things/${title}": content => $text }
  File["/etc/things/${title}"] -> File['/etc/secret']
}
EOM
cat >site/profile/functions/upper.pp <<'EOM'
function profile::upper(String $x, String $suffix = '!') {
  $u = upcase($x)
  "${u}${suffix}"
}
EOM
echo 'class profile::db { package { "postgres": } }' >site/profile/manifests/db.pp
cat >site/ntp/manifests/init.pp <<'EOM'
class ntp (Array $servers, $keys = 0) {
  file { '/etc/ntp.conf': content => epp('ntp/ntp.conf.epp', { servers => $servers }) }
  file { '/etc/ntp.keys': content => template('ntp/keys.erb'), mode => '0600' }
}
class ntp::extra inherits ntp {
  File['/etc/ntp.keys'] { mode => '0400' }
}
EOM
mv site/ntp/manifests/init.pp site/ntp/manifests/all.pp
sed -n '1,4p' site/ntp/manifests/all.pp >site/ntp/manifests/init.pp
sed -n '5,7p' site/ntp/manifests/all.pp >site/ntp/manifests/extra.pp
rm site/ntp/manifests/all.pp
sed -i 's/    include ntp/    include ntp, ntp::extra/' site/profile/manifests/base.pp
printf '<%% | $servers | -%%>\n<%% $servers.each |$s| { -%%>\nserver <%%= $s %%>\n<%% } -%%>\n' >site/ntp/templates/ntp.conf.epp
printf 'k <%%= @keys %%>\n' >site/ntp/templates/keys.erb
for n in web1 db1; do printf '{"os":{"family":"Debian"},"ip":"10.0.0.1","hostname":"%s"}' "$n" >"$facts/$n.json"; done
# explain STATUS ARGS...: runs `explain`. $tree is the output; in $out each level of the tree is
# replaced by two spaces.
explain() {
    local status=$1
    shift
    run "$status" explain --facts-dir "$facts" "$@"
    tree=$out
    out=$(perl -Mutf8 -CSD -pe 's/^((?:│  |   |├─ |└─ )+)/"  " x (length($1)\/3)/e' <<<"$out")
}

# The facts of one node are read from its own file, and no other file is opened.
echo '{' >"$facts/broken.json"
explain 0 web1 'File[/etc/ntp.conf]' content
rm "$facts/broken.json"

# The argument of a template, down to the Hiera level that has the key, and the level before that
# lacks it.
explain 0 web1 'File[/etc/ntp.conf]' content
holds "$out" '^content is "server a\\n"$'
holds "$tree" '^└─ content => epp'
holds "$tree" '^   (│  |   )*└─ data/common.yaml \(common\): has ntp::servers, line 3$'
holds "$out" "^  content => epp\('ntp/ntp.conf.epp', \{ servers => .servers \}\) \(site/ntp/manifests/init.pp:2\)$"
holds "$out" '^ +\$servers is \["a"\], a parameter of class ntp$'
holds "$out" '^ +Hiera has ntp::servers$'
holds "$out" '^ +data/nodes/web1.yaml \(node\): has no ntp::servers$'
holds "$out" '^ +data/common.yaml \(common\): has ntp::servers, line 3$'
holds "$out" '^declared in class ntp \(site/ntp/manifests/init.pp:2\)$'
holds "$out" '^    include ntp, ntp::extra in class profile::base \(site/profile/manifests/base.pp:4\)$'
holds "$out" '^      because \$manage and \$facts\[.os.\]\[.family.\] == .Debian. is true \(site/profile/manifests/base.pp:3\)$'
holds "$out" '^ +fact os.family is "Debian"$'
holds "$out" '^ +in node default, which web1 is \(manifests/site.pp:2\)$'
explain 0 --at "$control" web1 'File[/etc/ntp.conf]' content
holds "$out" 'data/common.yaml \(common\): has ntp::servers, line 3$'
# An ERB template; an override; a resource default; a collector's override; the default of a
# define's parameter.
explain 0 web1 'File[/etc/ntp.keys]'
holds "$out" '^ +data/nodes/web1.yaml \(node\): has ntp::keys, line 1$'
holds "$out" "^  overridden: mode => '0400' \(site/ntp/manifests/extra.pp:2\)$"
holds "$out" "^  in place of mode => '0600' \(site/ntp/manifests/init.pp:3\)$"
explain 0 web1 'File[/etc/motd]'
holds "$out" "^  a default of File in the main manifest: mode => '0640' \(manifests/site.pp:1\)$"
holds "$out" "^  the collector File <\| title == '/etc/motd' \|> \{ group => 'wheel' \} sets group => 'wheel' "
holds "$out" "^ +the default: 'root' \(site/profile/manifests/base.pp:1\)$"
holds "$out" '^ +trusted certname is "web1"$'
holds "$out" "^ +because .facts\['os'\]\['family'\] is \"Debian\", the case 'Debian' "
# A parameter of a define, through a function and a block; a relationship.
explain 0 web1 'File[/etc/things/t_b]'
holds "$out" '^ +profile::upper\(\$n\) is "B!" \(site/profile/manifests/base.pp:14\)$'
holds "$out" "^ +.n is \"b\", given by \['a', 'b'\].each "
holds "$out" "^ +.suffix is \"!\", the default \(site/profile/functions/upper.pp:1\)$"
holds "$out" "^  by the relationship File\[\"/etc/things/..title.\"\] -> File\['/etc/secret'\] \(site/profile/manifests/thing.pp:3\)$"
explain 0 web1 'Host[h1]' ip
holds "$out" '^  given by create_resources\('
holds "$out" '^ +fact ip is "10.0.0.1"$'
explain 0 web1 'Package[apache2]'
holds "$out" '^ +no level has it; the default of the call applies$'
# Secret values are not shown, even where the code unwraps them.
explain 0 web1 'File[/etc/secret]'
holds "$out" '^content is hidden$'
holds "$out" '^ +data/common.yaml \(common\): has pw, line 6$'
lacks "$out" 's3cret'
explain 0 --json web1 'Notify[plain]'
lacks "$out" 's3cret'
# A class, with all statements that included it.
echo 'include ntp' >>site/ntp/manifests/init.pp
printf 'class profile::base2 { include ntp }\n' >site/profile/manifests/base2.pp
sed -i 's/^node default { include profile::base }/node default { include profile::base, profile::base2 }/' manifests/site.pp
sed -i '$d' site/ntp/manifests/init.pp
explain 0 web1 'Class[Ntp]'
holds "$out" '^  include ntp, ntp::extra in class profile::base '
holds "$out" '^  class ntp::extra inherits from it '
holds "$out" '^  include ntp in class profile::base2 \(site/profile/manifests/base2.pp:1\)$'

# A resource that another node exported.
run 0 compile --node db1 --facts "$facts/db1.json" --setting storeconfigs=true \
    -e '@@host { "exported": ip => "10.9.9.9" }'
printf 'class profile::base2 {\n  include ntp\n  Host <<| |>> { comment => "c" }\n}\n' >site/profile/manifests/base2.pp
explain 0 --storeconfigs web1 'Host[exported]'
holds "$out" '^exported by db1'
holds "$out" '^collected by Host <<\| \|>> \{ comment => "c" \} \(site/profile/manifests/base2.pp:3\)$'
holds "$out" '^ip is "10.9.9.9"$'
holds "$out" '^  exported by db1'
holds "$out" '^  the collector Host <<\| \|>> .* sets comment => "c"'

# One part of a hash, through parameters, merges and functions that declare resources; the text of a
# template.
mkdir -p site/parts/{manifests,templates}
cat >site/parts/manifests/init.pp <<'EOM'
class parts (Hash $given = { 'one' => 'first', 'deep' => { 'x' => 'ex', 'y' => 'why' } }) {
  $all = deep_merge($given, { 'deep' => { 'y' => 'later' } }) + { 'three' => 'third' }
  parts::made { 'd': options => $all }
  $common = { owner => 'common', mode => '0600' }
  create_resources('file', { '/p/1' => { owner => 'own', group => $all['one'] } }, $common)
  file { '/p/2': * => $common }
  ensure_resource('file', '/p/3', { owner => 'third owner', content => template('parts/t.erb') })
  each({ 'k' => 'kay', 'l' => 'ell' }) |$name, $text| { file { "/p/${name}": content => $text } }
  $list = ['zero', 'first of list']
  file { '/p/4': content => $list[1] }
  $set = true
  $given_none = $given['none']
  file { '/p/5': purge => $set and $given_none =~ String }
}
EOM
cat >site/parts/manifests/made.pp <<'EOM'
define parts::made ($options) {
  file { '/d': owner => $options['deep']['x'], group => $options['deep']['y'], content => $options['three'] }
}
EOM
echo 'nothing that varies' >site/parts/templates/t.erb
sed -i 's/^node default {/node default { include parts /' manifests/site.pp
function deep_of { explain 0 web1 "$1" "$2" && out=$(sed '/^declared/,$d' <<<"$out"); }
deep_of 'File[/d]' owner
holds "$out" '^ +\$given has "ex" there, a parameter of class parts \(site/parts/manifests/init.pp:1\)$'
lacks "$out" "later|third|first|why'?,"
deep_of 'File[/d]' group
holds "$out" '^ +\$options has "later" there, a parameter of Parts::Made\[d\] \(site/parts/manifests/init.pp:2\)$'
deep_of 'File[/d]' content
holds "$out" 'init.pp:2'
deep_of 'File[/p/1]' group
holds "$out" '^ +\$given has "first" there, a parameter of class parts \(site/parts/manifests/init.pp:1\)$'
lacks "$out" "'0600'|common'"
deep_of 'File[/p/1]' mode
holds "$out" "^ +'0600' \(site/parts/manifests/init.pp:4\)$"
lacks "$out" '^ +.own'
deep_of 'File[/p/2]' owner
holds "$out" "'common' \(site/parts/manifests/init.pp:4\)$"
deep_of 'File[/p/3]' content
holds "$out" '^ +the text of the template \(site/parts/templates/t.erb\)$'
lacks "$out" 'third owner. \('
deep_of 'File[/p/l]' content
holds "$out" '^ +\$text is "ell", given by .* \(site/parts/manifests/init.pp:8\)$'
deep_of 'File[/p/4]' content
holds "$out" 'init.pp:9'
deep_of 'File[/p/5]' purge
holds "$out" '^ +.given_none is undef: '
lacks "$out" '^ +.set is'
explain 0 --all web1
holds "$out" '^File\[/p/4\]$'
holds "$out" '^content is "first of list"$'
sed -i 's/^node default { include parts /node default {/' manifests/site.pp

# Reasons why a resource is missing.
explain 0 --missing web1 'File[/etc/other]'
holds "$out" "^file \{ '/etc/other': content => 'x' \} in class profile::base \(site/profile/manifests/base.pp:7\)$"
holds "$out" '^  because \$manage and .* is true, and it is in the branch for false '
holds "$out" '^ +data/common.yaml \(common\): has profile::base::manage, line 5$'
explain 0 --missing web1 'Package[postgres]'
holds "$out" '^  class profile::db is not in the catalog '
holds "$out" "^      node 'db1' is not web1 \(manifests/site.pp:3\)$"
explain 0 --missing web1 'Package[httpd]'
holds "$out" "is \"Debian\", and it is in the case 'RedHat' "
explain 0 --missing web1 'User[bob]'
holds "$out" '^User\[bob\] is virtual, and no collector matches it '
holds "$out" "^  User <\| tag == 'others' \|> does not match it "
explain 0 --missing web1 'File[/etc/things/t_c]'
holds "$out" '^  its value there is \["File\[/etc/things/t_a\]"\]'
explain 0 --missing web1 'Cron[x]'
holds "$out" '^no manifest of the environment declares it$'
explain 2 --missing web1 'File[/etc/motd]'
explain 2 web1 'File[/etc/other]'

# A compile that fails explains what it evaluated. Wrong arguments are reported.
echo 'fail("broken")' >>manifests/site.pp
explain 0 --missing web1 'File[/etc/motd]'
holds "$err" 'The compile ended with an error.*broken'
explain 0 --missing web1 'File[/etc/ntp.conf]'
holds "$out" '^ +the compile ended before node default was evaluated '
sed -i '$d' manifests/site.pp
sed -i '2s/^/  fail("broken")\n/' site/profile/manifests/base.pp
explain 0 --missing web1 'File[/etc/secret]'
holds "$out" '^  the surrounding code ended before reaching it '
sed -i '2d' site/profile/manifests/base.pp
explain 1 web1 nonsense
holds "$err" "'nonsense' is not a reference"
explain 1 web1 'File[/etc/motd]' colour
holds "$err" 'File\[/etc/motd\] has no parameter colour; its parameters are content'
explain 1 nobody 'File[/etc/motd]'
holds "$err" 'its facts are not available'
explain 1 web1
python3 - "$scratch" <<'EOM' || failures=$((failures + 1))
import json, os, subprocess, sys
def explain(*args):
    done = subprocess.run([os.environ["BUNRAKU"], "explain", "--json", "--facts-dir", sys.argv[1] + "/facts", *args],
                          stdout=subprocess.PIPE, cwd=sys.argv[1] + "/control")
    return json.loads(done.stdout)
data = explain("web1", "File[/etc/ntp.conf]", "content")
assert data["found"] and data["parameter"] == "content", data
parameter = data["reasons"][0]
assert parameter["kind"] == "parameter" and parameter["value"] == "server a\n", parameter
attribute = parameter["because"][0]
assert (attribute["kind"], attribute["file"], attribute["line"]) == ("attribute", "site/ntp/manifests/init.pp", 2)
assert attribute["expression"].startswith("epp(")
EOM
# All values, each with a complete explanation.
explain 0 --all --json web1
python3 - "$scratch/out" <<'EOM' || failures=$((failures + 1))
import json, sys
all = {d["reference"]: d for d in map(json.loads, open(sys.argv[1]))}
assert {"File[/etc/motd]", "File[/etc/ntp.conf]", "Class[Ntp]"} <= set(all), all.keys()
for d in all.values():
    assert d["found"] and d["node"] == "web1"
    for r in d["reasons"]:
        assert r["kind"] != "parameter" or r["because"] and "see above" not in json.dumps(r["because"][0].get("text")), r
EOM
explain 1 --all web1 'File[/etc/motd]'
explain 1 --all --missing web1
# The explanation of an error code.
run 0 explain unknown_variable
holds "$out" '^UNKNOWN_VARIABLE$'
run 1 explain UNKNOWN_VARIABEL
holds "$err" "There is no error code 'UNKNOWN_VARIABEL'.*UNKNOWN_VARIABLE"
finish
