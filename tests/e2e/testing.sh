#!/bin/bash
# Support for users' tests: `compile --worker` and its use by the gem, `test`, and `migrate check`.
. "${0%/*}/lib.sh"
equal() {
    [ "$1" = "$2" ] || { printf 'FAILED: %s is not %s\n' "$1" "$2"; failures=$((failures + 1)); }
}
modules=$scratch/envs/production/modules
mkdir -p "$modules"/{web,base}/manifests "$scratch/envs/production/manifests" "$scratch/facts"
cat >"$modules/web/manifests/init.pp" <<'EOM'
class web { file { '/tmp/web': content => $facts['os']['family'] } }
EOM
cat >"$modules/web/manifests/picky.pp" <<'EOM'
class web::picky {
  if $facts['os']['family'] != 'Debian' { fail("not on ${facts['os']['family']}") }
}
EOM
cat >"$modules/web/manifests/circle.pp" <<'EOM'
class web::circle {
  notify { 'a': before => Notify['b'] }
  notify { 'b': before => Notify['a'] }
}
EOM
echo 'class web::needs(Integer $port) { }' >"$modules/web/manifests/needs.pp"
printf '# @api private\nclass web::hidden { fail("never by itself") }\n' >"$modules/web/manifests/hidden.pp"
echo 'class base { notify { "base": } }' >"$modules/base/manifests/init.pp"
echo 'class web::refused { file { "relative": } }' >"$modules/web/manifests/refused.pp"
echo 'node default { include base }' >"$scratch/envs/production/manifests/site.pp"
echo '{"os":{"family":"Debian"},"kernel":"Linux"}' >"$scratch/facts/deb.json"
echo '{"os":{"family":"RedHat"},"kernel":"Linux"}' >"$scratch/facts/rhel.json"

# -- the worker: requests are independent, environments stay loaded, errors do not end it
requests() {
    cat <<EOM
{"id": 1, "node": "n1", "modulepath": ["$modules"], "code": "include web", "facts": {"os": {"family": "Debian"}}}
{"id": "two", "node": "n2", "modulepath": ["$modules"], "code": "include web::circle", "checks": true}
{"id": 3, "node": "n3", "code": "notify { x: }\nnope()"}

nonsense
[1]
{"id": 4, "facts": 1}
{"id": 5, "code": "notice(\$v, \$trusted['extensions']['pp_role'], \$settings::strict)", "variables": {"v": [1]}, "trusted": {"extensions": {"pp_role": "db"}}, "settings": {"strict": "off"}}
{"id": 6, "modulepath": ["$modules"], "classes": {"web::needs": {"port": 80}}, "code": ""}
{"id": 7, "modulepath": ["$modules"], "code": "include web::refused", "checks": true}
EOM
}
mkdir "$scratch/tmp"
export TMPDIR=$scratch/tmp
answers=$(requests | "$BUNRAKU" compile --worker "${places[@]}" 2>"$scratch/err") || { echo "FAILED: worker"; failures=$((failures + 1)); }
equal "$(wc -l <<<"$answers")" 9
answer() { sed -n "$1p" <<<"$answers"; }
holds "$(answer 1)" '^\{"id":1,"catalog":.*"title":"/tmp/web".*"content":"Debian".*"logs":\[\]\}$'
holds "$(answer 2)" '"id":"two",.*"refused":null,"cycles":\["\(Notify\[b?a?\] => Notify\[[ab]\] => Notify\[[ab]\]\)"\]'
holds "$(answer 3)" '"error":\{"message":"Evaluation Error: Unknown function: .nope.\. \(line: 2, column: 1\) on node n3","issue_code":"UNKNOWN_FUNCTION","line":2\}'
holds "$(answer 4)" '^\{"id":null,"error":\{"message":"Unrecognized token'
holds "$(answer 5)" 'A request must be a JSON object'
holds "$(answer 6)" "'facts' of a request must be an object"
holds "$(answer 7)" '"message":"\[1\] db off"'
holds "$(answer 8)" '"title":"Web::Needs".*"port":80'
holds "$(answer 9)" '"refused":"[^"]*File paths must be fully qualified'
lacks "$answers" 'bunraku-worker'
equal "$(ls "$scratch/tmp")" ""
# A change of the code between two requests takes effect.
coproc worker { exec "$BUNRAKU" compile --worker "${places[@]}" 2>/dev/null; }
worker_pid=$!
ask() { echo "$1" >&"${worker[1]}" && read -r reply <&"${worker[0]}"; }
ask "{\"modulepath\":[\"$modules\"],\"code\":\"include base\"}"
holds "$reply" '"title":"base"'
echo 'class base { notify { "other": } }' >"$modules/base/manifests/init.pp"
ask "{\"modulepath\":[\"$modules\"],\"code\":\"include base\"}"
holds "$reply" '"title":"other"'
exec {worker[1]}>&-
wait "$worker_pid" || { echo "FAILED: the worker failed at the end of its input"; failures=$((failures + 1)); }
run 1 compile --worker -e 'notice(1)'
if command -v ruby >/dev/null; then
    gem=$SOURCE/share/rspec-puppet-bunraku/lib
    for file in "$gem"/*.rb "$gem"/*/*.rb; do ruby -c "$file" >/dev/null || failures=$((failures + 1)); done
    equal "$(ruby -I "$gem" -e 'module RSpec; module Puppet; end; end
require "rspec-puppet-bunraku/worker"
worker = RSpec::Puppet::Bunraku::Worker.new(ENV["BUNRAKU"])
puts worker.ask(code: "notify { a: }")["catalog"]["resources"].map { |r| r["title"] }.join(" ")
puts worker.ask(code: "fail(1)")["error"]["issue_code"]
puts worker.alive?' 2>&1)" "main Settings main a
RUNTIME_ERROR
true"
    # rspec-puppet 4 has no setting for server facts. The stub provides what the gem needs of any
    # version.
    mkdir -p "$scratch/rspec"
    cat >"$scratch/rspec/rspec-puppet.rb" <<'EOM'
module RSpec
  class << self
    attr_accessor :configuration
  end
  module Puppet
    module Support; end
    %i[ClassExampleGroup DefineExampleGroup HostExampleGroup TypeAliasExampleGroup].each { |name| const_set(name, Module.new) }
    module ManifestMatchers
      class Compile; end
    end
  end
end
EOM
    equal "$(ruby -I "$gem" -I "$scratch/rspec" -e 'require "rspec-puppet-bunraku"
[Struct.new(:trusted_server_facts).new(true), Struct.new(:trusted_server_facts).new(false), Object.new].each do |configuration|
  RSpec.configuration = configuration
  puts RSpec::Puppet::Bunraku.server_facts?
end' 2>&1)" "true
false
true"
fi

# -- Ruby child processes outlive a request's code, and a catalog, but not a change of their own
# code
if command -v ruby >/dev/null; then
    ruby_modules=$scratch/ruby
    mkdir -p "$ruby_modules"/gate/{manifests,lib/puppet/{functions/gate,type,provider/gate}}
    echo 'class gate { gate { "a": } }' >"$ruby_modules/gate/manifests/init.pp"
    cat >"$ruby_modules/gate/lib/puppet/functions/gate/child.rb" <<'EOM'
Puppet::Functions.create_function(:'gate::child') { dispatch(:child) { }; def child; "of #{Process.pid}"; end }
EOM
    cat >"$ruby_modules/gate/lib/puppet/type/gate.rb" <<'EOM'
Puppet::Type.newtype(:gate) do
  @doc = 'counts'
  ensurable
  newparam(:name, namevar: true)
  validate do
    raise Puppet::Error, "made by #{provider.class.name}" unless provider.class.name == :deb
    raise Puppet::Error, "left over: #{catalog.resources.map(&:ref)}" if catalog.resources.count { |r| r.ref == 'Gate[a]' } > 1
  end
end
EOM
    for family in deb:debian red:redhat; do
        echo "Puppet::Type.type(:gate).provide(:${family%:*}) { defaultfor 'os.family' => :${family#*:}; confine 'os.family' => :${family#*:} }" \
            >"$ruby_modules/gate/lib/puppet/provider/gate/${family%:*}.rb"
    done
    run 1 test --modulepath "$ruby_modules" --facts-dir "$scratch/facts" --jobs 1 gate
    holds "$out" '^FAILED gate on rhel$'
    holds "$out" 'made by red'
    holds "$out" '^1 passed, 1 failed \('
    coproc worker { exec "$BUNRAKU" compile --worker "${places[@]}" 2>/dev/null; }
    worker_pid=$!
    of='"modulepath":["'$ruby_modules'"],"facts":{"os":{"family":"Debian"}},"checks":true'
    ask "{$of,\"code\":\"notify { gate::child(): } include gate\"}"
    first=$(grep -oE 'of [0-9]+' <<<"$reply" | head -n 1)
    holds "$reply" '"refused":null'
    ask "{$of,\"code\":\"notify { gate::child(): }  include gate  notify { other: }\"}"
    holds "$reply" "\"title\":\"$first\""
    holds "$reply" '"refused":null'
    sed -i 's/made by/now by/; s/:deb$/:none/' "$ruby_modules/gate/lib/puppet/type/gate.rb"
    ask "{$of,\"code\":\"include gate\"}"
    holds "$reply" '"refused":"[^"]*now by deb'
    exec {worker[1]}>&-
    wait "$worker_pid"
fi

# -- test
run 1 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts"
holds "$out" '^FAILED web::picky on rhel$'
holds "$out" '^    Evaluation Error: .*not on RedHat'
holds "$out" '^FAILED web::circle on deb, rhel$'
holds "$out" '^    A circle: \(Notify\['
holds "$out" '^FAILED web::refused on deb, rhel$'
holds "$out" "^skipped web::needs: .*expects a value for parameter 'port'"
holds "$out" '^5 passed, 5 failed, 2 skipped \('
lacks "$out" hidden
run 0 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts" web base --nodes
holds "$out" '^6 passed, 0 failed \('
run 1 test --path "$scratch/envs/production" --facts-dir "$scratch/facts" --format tap --junit "$scratch/junit.xml" 'web::p*' web::needs
equal "$(head -n 3 <<<"$out")" "TAP version 13
1..4
not ok 1 - web::needs on deb"
holds "$out" '^ok 3 - web::picky on deb$'
python3 - "$scratch/junit.xml" <<'EOM' || failures=$((failures + 1))
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert (root.get("tests"), root.get("failures")) == ("4", "3"), root.attrib
assert [s.get("name") for s in root] == ["web::needs", "web::picky"]
assert "not on RedHat" in root[1][1][0].text
EOM
mkdir -p "$modules/role/manifests"
echo 'class role::web { include web }' >"$modules/role/manifests/web.pp"
run 0 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts" --list
equal "$out" "role::web on deb
role::web on rhel"
for wrong in "--format xml" "--jobs 0" "nothing::like::it" "--facts-dir $scratch/none"; do
    run 1 test --environmentpath "$scratch/envs" $wrong
done

# -- expectations, written in Puppet
expect=$modules/web/spec/expect
mkdir -p "$expect/deep"
cat >"$modules/web/manifests/site.pp" <<'EOM'
define web::site(Integer $port = 80) { file { "/srv/${name}": mode => '0755', tag => 'site', notify => Service['web'] } }
EOM
cat >"$modules/web/manifests/full.pp" <<'EOM'
class web::full(Integer $port = 80) {
  package { 'web': ensure => installed }
  -> class { 'web::inner': }
  web::site { 'a': port => $port }
  service { 'web': require => Class['web::inner'] }
  @package { 'idle': }
  user { 'u': password => Sensitive('s3cret') }
}
EOM
echo 'class web::inner { file { "/etc/web": content => "port 80" } }' >"$modules/web/manifests/inner.pp"
cat >"$expect/fine.pp" <<'EOM'
class { 'web::full': port => 8080 }
class expect {
  class { 'web::full': port => Integer[1024] }
  package { 'web': ensure => 'installed', before => [File['/etc/web'], Service['web']] }
  web::site { 'a': port => 8080 }
  file { '/etc/web': content => /^port \d+$/, owner => undef }
  Package['web'] -> File['/etc/web'] -> Service['web']
  Web::Site['a'] ~> Service['web']
  @package { ['idle', 'none']: }
  @file { '/etc/web': ensure => absent }
  File <| tag == 'site' and title != '/x' |> { mode => '0755' }
  File { ensure => undef }
  user { 'u': password => 's3cret' }
  include web::inner
  if File['/srv/a']['mode'] != '0755' or defined(Package['idle']) { fail('odd') }
  case $facts['os']['family'] { 'Debian', 'RedHat': { } default: { fail('no facts') } }
}
EOM
cat >"$expect/deep/wrong.pp" <<'EOM'
include web::full
class expect {
  package { 'web': ensure => 'latest' }
  package { 'other': }
  package { 'idle': }
  @file { '/etc/web': }
  Service['web'] -> Package['web']
  Package['web'] ~> Service['web']
  File <| title == '/none' |>
  File { mode => '0755' }
  user { 'u': password => 'other' }
  error { 'never': }
}
EOM
cat >"$expect/error.pp" <<'EOM'
class { 'web::needs': port => $facts['port'] }
class expect {
  error { 'expects an Integer': }
  error { 'as a pattern': message => /port.*Integer/ }
}
EOM
echo 'port: many' >"$expect/error.yaml"
run 1 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts" 'spec/*'
holds "$out" '^FAILED spec/expect/deep/wrong.pp on deb, rhel$'
lacks "$out" 's3cret'
lacks "$out" 'FAILED spec/expect/(fine|error)'
equal "$(sed -n 's/^    //p' <<<"$out" | sed "s#$modules#DIR#g")" "Package[web]: ensure is 'installed', and not 'latest' (file: DIR/web/spec/expect/deep/wrong.pp, line: 3)
Package[other] is not in the catalog (file: DIR/web/spec/expect/deep/wrong.pp, line: 4)
Package[idle] is not in the catalog (file: DIR/web/spec/expect/deep/wrong.pp, line: 5)
File[/etc/web] is in the catalog, declared (file: DIR/web/manifests/inner.pp, line: 1) (file: DIR/web/spec/expect/deep/wrong.pp, line: 6)
Service[web] is not ordered before Package[web] (file: DIR/web/spec/expect/deep/wrong.pp, line: 7)
Package[web] does not notify Service[web] (file: DIR/web/spec/expect/deep/wrong.pp, line: 8)
no resource matches File <| title == '/none' |> (file: DIR/web/spec/expect/deep/wrong.pp, line: 9)
File[/etc/web]: mode is undef, and not '0755' (file: DIR/web/spec/expect/deep/wrong.pp, line: 10)
User[u]: password does not have the expected value (file: DIR/web/spec/expect/deep/wrong.pp, line: 11)
the compile succeeds, without the error 'never' (file: DIR/web/spec/expect/deep/wrong.pp, line: 12)"
holds "$out" '^4 passed, 2 failed \('
rm "$expect/deep/wrong.pp"
echo 'include web' >"$expect/deep/none.pp"
run 1 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts" '*none.pp'
holds "$out" "none.pp has no class 'expect'"
echo 'class expect { nope() }' >"$expect/deep/none.pp"
run 1 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts" '*none.pp'
holds "$out" 'Unknown function: .nope.'
printf 'fail("unforeseen")\nclass expect { }\n' >"$expect/deep/none.pp"
run 1 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts" '*none.pp'
holds "$out" '^    Evaluation Error: .*unforeseen'
rm -r "$expect/deep"
run 0 test --environmentpath "$scratch/envs" --facts-dir "$scratch/facts" --coverage 'spec/*' web
holds "$out" '^coverage: 3 of 10 classes, 1 of 2 parameters, 6 of 7 resources$'
holds "$out" '^  class base: in no catalog$'
holds "$out" '^  File\[/tmp/web\]: not expected$'
rm -r "$expect" "$modules"/web/manifests/{full,inner,site}.pp

# -- migrate check
cat >"$scratch/etc/puppet.conf" <<EOM
[main]
environmentpath = $scratch/envs
location_trusted = true
stringify_facts = false
[server]
mystery = 1
node_terminus = ldap
EOM
mkdir -p "$modules/web/lib/puppet/face"
echo '# a face' >"$modules/web/lib/puppet/face/web.rb"
echo 'class web::broken {' >"$modules/web/manifests/broken.pp"
printf -- '---\nversion: 5\nhierarchy:\n  - name: x\n    lookup_key: eyaml_lookup_key\n    options: { pkcs7_private_key: %s/none }\n' "$scratch" \
    >"$scratch/envs/production/hiera.yaml"
run 1 migrate check --no-catalogs
for text in "^differs .*location_trusted has no effect here" '^note .*stringify_facts was removed in Puppet 8' \
    '^note .*mystery is not a setting of Puppet 8' "^differs .*'ldap' is not supported here" '^differs .*lib/puppet/face: subcommands' \
    '^broken .*web/manifests/broken.pp: .*Syntax error' '^broken .*pkcs7_private_key .*/none cannot be read' \
    '^[0-9]+ broken, [0-9]+ differ, [0-9]+ notes$'; do
    holds "$out" "$text"
done
printf '[main]\nenvironmentpath = %s\n' "$scratch/envs" >"$scratch/etc/puppet.conf"
rm -r "$modules/web/manifests/broken.pp" "$modules/web/lib" "$scratch/envs/production/hiera.yaml"
mkdir "$scratch/nodes"
# Differences of the stored form do not count: sorted relationships, Deferred as text, omitted
# Sensitive values.
cat >"$modules/base/manifests/init.pp" <<'EOM'
class base {
  notify { ['b', 'a']: }
  notify { 'later': message => Deferred('upcase', ['x']), require => [Notify['b'], Notify['a']] }
  file { '/tmp/key': content => Sensitive('k'), before => [Notify['later'], Notify['a']] }
}
EOM
for node in n1 n2; do
    run 0 compile --node "$node" --facts "$scratch/facts/deb.json" --storeconfigs
    cp "$scratch/facts/deb.json" "$scratch/nodes/$node.json"
done
from=(--facts-from "$scratch/nodes")
run 0 migrate check "${from[@]}"
holds "$out" '^2 nodes: 2 the same, 0 different, 0 failed$'
echo 'class base { notify { "changed": } }' >"$modules/base/manifests/init.pp"
run 2 migrate check "${from[@]}"
holds "$out" '^differs: n1, n2$'
holds "$out" 'changed'
run 2 migrate check --node n1 --json "${from[@]}"
holds "$out" '"nodes":\[\{"node":"n1","state":"different"'
echo 'class base { fail("no more") }' >"$modules/base/manifests/init.pp"
run 1 migrate check --node n2 "${from[@]}"
holds "$out" '^does not compile: n2$'
run 1 migrate
run 1 migrate nonsense
finish
