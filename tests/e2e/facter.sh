#!/bin/bash
# `facter`: Facter's output, options, messages and exit codes. A custom fact that hangs does not
# block the others.
. "${0%/*}/lib.sh"
ln -s "$BUNRAKU" "$scratch/facter"
# facter STATUS ARGS...: like run, but starts the program as facter.
facter() {
    local expected=$1 status=0
    shift
    "$scratch/facter" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    out=$(<"$scratch/out")
    err=$(<"$scratch/err")
    [ "$status" -eq "$expected" ] || {
        printf 'FAILED: facter %s: exit %s, expected %s\n%s\n' "$*" "$status" "$expected" "$err"
        failures=$((failures + 1))
    }
}
is() { [ "$1" = "$2" ] || { printf 'FAILED: %s is not %s\n' "$1" "$2"; failures=$((failures + 1)); }; }
mkdir -p "$scratch"/{ext,custom}
printf 'role=web\nodd="a" b\n' >"$scratch/ext/a.txt"
printf 'role: later\ndeep: {list: [1, {x: yes}], text: "1.5"}\n' >"$scratch/ext/b.yaml"
printf '{"none": null, "kernel": "Own"}' >"$scratch/ext/c.json"
printf '#!/bin/sh\necho said >&2\necho from=program\n' >"$scratch/ext/d.sh"
printf '[1]' >"$scratch/ext/e.json"
chmod +x "$scratch/ext/d.sh"
printf 'facts : { blocklist : [ "d.sh", "e.json", "os.selinux" ] }\n' >"$scratch/conf"
ext=(--config "$scratch/conf" --external-dir "$scratch/ext" --no-color)

facter 0 --version
is "$out" 4.11.0
facter 0 "${ext[@]}" role
is "$out" later
facter 0 "${ext[@]}" deep
is "$out" '{
  list => [
    1,
    {
      x => true
    }
  ],
  text => "1.5"
}'
facter 0 "${ext[@]}" deep.text.
is "$out" 1.5
facter 0 "${ext[@]}" deep.list.1.x kernel nothing
is "$out" 'deep.list.1.x => true
kernel => Own
nothing => '
facter 0 "${ext[@]}" -j odd deep.text
is "$out" '{
  "deep.text": "1.5",
  "odd": "\"a\" b"
}'
facter 0 "${ext[@]}" -y role deep
is "$out" 'deep:
  list:
  - 1
  - x: true
  text: '"'1.5'"'
role: later'
facter 0 "${ext[@]}" --hocon role deep
is "$out" 'deep={
    list=[
        1,
        {
            x=true
        }
    ]
    text="1.5"
}
role=later'
facter 0 "${ext[@]}"
holds "$out" '^role => later$'
holds "$out" '^odd => "a" b$'
lacks "$out" 'selinux|^from|^osfamily'
is "$err" ''
facter 0 --no-external-facts --config "$scratch/conf" --no-block --show-legacy os
holds "$out" 'selinux => \{'
facter 1 --external-dir "$scratch/ext" --config /none --no-color from
is "$out" program
holds "$err" '\] WARN d.sh - Command .*/d.sh completed with the following stderr message: said $'
holds "$err" '\] ERROR LegacyFacter::Util::DirectoryLoader - Structured data fact file .*/e.json was parsed but no key=>value data was returned. $'
FACTER_role=variable facter 0 "${ext[@]}" role
is "$out" variable
facter 1 --strict --no-external-facts nothing.there
holds "$err" 'ERROR Facter - .*fact "nothing.there" does not exist\.'
facter 0 --no-external-facts --timing kernel
holds "$out" "^fact 'kernel', took: \([0-9.]+\) seconds$"
facter 0 -d --no-color --no-external-facts kernel
holds "$err" 'DEBUG Facter::FactManager - fact "kernel" has resolved to: Linux $'
facter 1 --nonsense
holds "$err" "ERROR Facter::OptionsValidator - .*unrecognised option '--nonsense'"
holds "$out" '^facter \[options\] \[query\]'
facter 1 --json --yaml
holds "$err" '\-\-json and --yaml options conflict: please specify only one\.'
facter 0 --list-block-groups --external-dir "$scratch/ext"
holds "$out" '^- ec2_metadata$'
holds "$out" '^d.sh$'
is "$("$BUNRAKU" facter --no-external-facts kernel)" Linux

# Fact groups, cached facts and blocked facts. This needs a separate mount namespace, because the
# cache is below /opt.
place=(unshare -m)
[ "$(id -u)" -eq 0 ] || place+=(-r)
if command -v ruby >/dev/null && "${place[@]}" mount -t tmpfs kept /opt 2>/dev/null; then
    mkdir "$scratch/counted" "$scratch/counters"
    cat >"$scratch/counted/slow.rb" <<EOR
Facter.add(:slow) { setcode { File.write('$scratch/runs', 'x', mode: 'a'); File.size('$scratch/runs') } }
EOR
    printf '#!/bin/sh\nprintf y >>%s/programs\necho from=$(wc -c <%s/programs)\n' "$scratch" "$scratch" \
        >"$scratch/counters/count.sh"
    chmod +x "$scratch/counters/count.sh"
    cat >"$scratch/kept.conf" <<'EOC'
facts : {
    blocklist : [ "noisy" ],
    ttls : [ { "costly" : 1 hour }, { "count.sh" : 2 days }, { "kernel" : 1 day } ]
}
fact-groups : { costly : [ "slow", "facterversion" ], noisy : [ "load_averages", "system_uptime.days" ] }
EOC
    cat >"$scratch/kept.sh" <<'EOS'
mount -t tmpfs kept /opt
kept=/opt/puppetlabs/facter/cache/cached_facts
f() { "$1/facter" --config "$1/kept.conf" --custom-dir "$1/counted" --external-dir "$1/counters" --no-color "${@:2}"; }
for i in 1 2; do f "$1" slow from facterversion load_averages system_uptime.days; done
ls "$kept"
cat "$kept/costly"
echo
f "$1" --no-cache slow
f "$1" slow
f "$1" --timing slow from kernel | sed 's/([^)]*)/N/'
touch -d '2 hours ago' "$kept"/*
f "$1" slow from
f "$1" --no-block load_averages.1m | grep -c '^[0-9]'
f "$1" --list-cache-groups | sed -n '/^costly/,$p'
printf '{"facterversion": "Kept", "slow": 9, "cache_format_version": 1}' >"$kept/costly"
f "$1" slow facterversion
EOS
    is "$("${place[@]}" bash "$scratch/kept.sh" "$scratch" 2>&1)" "facterversion => 4.11.0
from => 1
load_averages => 
slow => 1
system_uptime.days => 
facterversion => 4.11.0
from => 1
load_averages => 
slow => 1
system_uptime.days => 
costly
count.sh
{
  \"facterversion\": \"4.11.0\",
  \"slow\": 1,
  \"cache_format_version\": 1
}
2
1
cached fact 'count.sh', took: N seconds
cached fact 'slow', took: N seconds
cached fact 'from', took: N seconds
cached fact 'kernel', took: N seconds
fact 'kernel', took: N seconds
from => 1
kernel => Linux
slow => 1
from => 1
slow => 3
1
costly
- slow
- facterversion
noisy
- load_averages
- system_uptime.days
count.sh
facterversion => Kept
slow => 9"
fi

if command -v ruby >/dev/null; then
    cat >"$scratch/custom/a.rb" <<'EOR'
Facter.add(:good) { setcode { "good #{Facter.value('os.family').class}" } }
Facter.add(:stubborn) { setcode { begin; sleep; rescue Exception; retry; end } }
Facter.add(:slow, timeout: 0.2) { setcode { sleep 9 } }
Facter.add(:command) { setcode { Facter::Core::Execution.execute('sleep 9', timeout: 1) } }
Facter.add(:fallback) { has_weight 5; setcode { Process.kill(:STOP, $$) } }
Facter.add(:fallback) { setcode { 'second' } }
Facter.add(:bad) { setcode { raise 'oh' } }
Facter.add(:chunked, type: :aggregate) do
  chunk(:a) { { 'x' => 1 } }
  chunk(:b, require: :a) { |a| { 'y' => a['x'] + 1 } }
end
EOR
    printf 'load_stuck = 1\nsleep\n' >"$scratch/custom/b.rb"
    printf 'Facter.add(:role) { has_weight 10_001; setcode { "custom" } }\n' >"$scratch/custom/c.rb"
    printf 'global : { fact-timeout : 1 }\n' >"$scratch/conf"
    custom=(--config "$scratch/conf" --external-dir "$scratch/ext" --custom-dir "$scratch/custom" --no-color)
    rm "$scratch"/ext/{d.sh,e.json}
    facter 1 "${custom[@]}" -j good stubborn slow command fallback chunked role bad
    is "$out" '{
  "bad": null,
  "chunked": {
    "x": 1,
    "y": 2
  },
  "command": null,
  "fallback": "second",
  "good": "good String",
  "role": "custom",
  "slow": null,
  "stubborn": null
}'
    holds "$err" "ERROR Facter - Timed out after 1 seconds while resolving fact='stubborn', resolution='<anonymous>'"
    holds "$err" "ERROR Facter - Timed out while resolving fact='fallback', resolution='<anonymous>' \\(.*/a.rb:5\\): its Ruby process was killed"
    holds "$err" "ERROR Facter - Timed out after 0.2 seconds while resolving fact='slow', resolution='<anonymous>'"
    holds "$err" "ERROR Facter - error while resolving custom facts in .*/b.rb execution expired"
    holds "$err" "ERROR Facter - Error while resolving custom fact fact='bad', resolution='<anonymous>': oh"
    is "$(grep -c 'b.rb execution expired' <<<"$err")" 1
    facter 1 "${custom[@]}" --trace bad
    holds "$err" "^$scratch/custom/a.rb:7:in"
    # Code that exits, kills its process or closes its descriptors does not affect other facts.
    mkdir "$scratch/rude"
    cat >"$scratch/rude/a.rb" <<'EOR'
Facter.add(:leaves) { setcode { exit 3 } }
Facter.add(:runs_away) { setcode { exit! 4 } }
Facter.add(:dies) { setcode { Process.kill(:KILL, $$); sleep } }
Facter.add(:closes) { setcode { (3..20).each { |n| IO.for_fd(n).close rescue nil }; 'closed' } }
Facter.add(:deep) { setcode { list = []; 3000.times { list = [list] }; list } }
Facter.add(:bytes) { setcode { "\xff\xfe".b } }
Facter.add(:talks) { setcode { puts 'noise'; 'talked' } }
EOR
    facter 1 --config "$scratch/conf" --no-external-facts --custom-dir "$scratch/rude" --no-color \
        -j leaves runs_away dies closes deep bytes talks
    is "$out" '{
  "bytes": null,
  "closes": null,
  "deep": null,
  "dies": null,
  "leaves": null,
  "runs_away": null,
  "talks": "talked"
}'
    holds "$err" "fact='leaves': .*called exit \(status 3\)"
    holds "$err" "fact='runs_away', .*ended unexpectedly \(exit status 4\)"
    holds "$err" "fact='dies', .*ended unexpectedly \(signal 9\)"
fi

# -- External facts that Facter rejects cause an error each; the other facts remain (messages of
# 4.11).
mkdir "$scratch/odd"
printf '#!/bin/sh\ntrue\n' >"$scratch/odd/a.sh"
printf '#!/bin/sh\nprintf "bads=\\377x\\ngoods=2\\n"\n' >"$scratch/odd/e.sh"
chmod +x "$scratch/odd"/*.sh
printf 'bad=\xff\xfe\ngood=1\n' >"$scratch/odd/b.txt"
printf 'bady: "a\xffb"\n' >"$scratch/odd/c.yaml"
printf '{"badj": "a\xffb", "goodj": 1, "\xff": 1}' >"$scratch/odd/d.json"
printf 'sym: :abc\n' >"$scratch/odd/h.yaml"
printf ':key: abc\n' >"$scratch/odd/i.yaml"
printf '{"nul": "a\\u0000b", "list": ["a\\u0000"], "goodn": 1}' >"$scratch/odd/j.json"
printf 'nult=a\0b\ngoodt=1\n' >"$scratch/odd/l.txt"
printf 'day: 2020-01-01\nat: 2020-01-01 10:00:00 # a time\n' >"$scratch/odd/o.yaml"
printf 'time: 2020-01-01 10:00:00\nday: 2020-01-01\n' >"$scratch/odd/p.yaml"
printf '#!/bin/sh\necho "symbol: :abc"\n' >"$scratch/odd/q.sh"
chmod +x "$scratch/odd/q.sh"
facter 1 --config /none --no-color --external-dir "$scratch/odd" -j \
    bad badj bads bady day goodj goodn goods goodt key list nul nult sym symbol time
is "$out" '{
  "bad": null,
  "badj": null,
  "bads": null,
  "bady": null,
  "day": "2020-01-01",
  "goodj": 1,
  "goodn": 1,
  "goods": null,
  "goodt": "1",
  "key": null,
  "list": null,
  "nul": null,
  "nult": null,
  "sym": null,
  "symbol": "abc",
  "time": "2020-01-01 10:00:00"
}'
odd="ERROR Facter - Failed to handle $scratch/odd"
holds "$err" "$odd/b.txt as LegacyFacter::Util::Parser::TextParser facts: invalid byte sequence in UTF-8 \$"
holds "$err" "$odd/c.yaml as LegacyFacter::Util::Parser::YamlParser facts: invalid byte sequence in UTF-8 \$"
holds "$err" "$odd/e.sh as LegacyFacter::Util::Parser::ScriptParser facts: invalid byte sequence in UTF-8 \$"
holds "$err" "$odd/h.yaml as .*::YamlParser facts: Tried to load unspecified class: Symbol \$"
holds "$err" "$odd/i.yaml as .*::YamlParser facts: Tried to load unspecified class: Symbol \$"
holds "$err" "$odd/o.yaml as .*::YamlParser facts: Tried to load unspecified class: Time \$"
holds "$err" "ERROR Facter - Fact resolution fact='badj', resolution='<anonymous>' resolved to an invalid value: String \"a.xFFb\" doesn't match the reported encoding UTF-8 \$"
holds "$err" "fact='nul', resolution='<anonymous>' resolved to an invalid value: String \"a.u0000b\" contains a null byte reference; unsupported for all facts. \$"
holds "$err" "The name of a fact in $scratch/odd/d.json is invalid: String \".xFF\" doesn't match"
# A run that loads these facts continues.
mkdir -p "$scratch/site/m"
cp -r "$scratch/odd" "$scratch/site/m/facts.d"
run 0 apply --modulepath "$scratch/site" -e 'notice($facts["goodn"], " ", $facts["badj"])'
holds "$out" 'Scope\(Class\[main\]\): 1 +$'
holds "$err" "^Error: Facter: Fact resolution fact='badj'"
# An external fact in an environment variable.
facter_bad=$'\xff' facter 1 -y bad
is "$out" 'bad: ""'

# -- Integers beyond 64 bits are exact.
mkdir "$scratch/large"
printf '{"big": 123456789012345678901234567890, "in": [-99999999999999999999], "text": "123456789012345678901234567890"}' \
    >"$scratch/large/a.json"
printf 'ybig: 123_456_789_012_345_678_901_234_567_890\n' >"$scratch/large/b.yaml"
large=(--config /none --no-color --external-dir "$scratch/large")
facter 0 "${large[@]}" -j big in text ybig
is "$out" '{
  "big": 123456789012345678901234567890,
  "in": [
    -99999999999999999999
  ],
  "text": "123456789012345678901234567890",
  "ybig": 123456789012345678901234567890
}'
facter 0 "${large[@]}" -y big in text
is "$out" 'big: 123456789012345678901234567890
in:
- "-99999999999999999999"
text: '"'123456789012345678901234567890'"
facter 0 "${large[@]}" big
is "$out" 123456789012345678901234567890

if command -v ruby >/dev/null; then
    # -- The parts of Facter's API that custom facts use, and Kernel#warn.
    mkdir -p "$scratch/inner" "$scratch/path/facter"
    cat >"$scratch/inner/a.rb" <<'EOR'
Facter.add(:resolved) { setcode { Facter.resolve('kernel os.family').keys.join(' ') } }
Facter.add(:resolver) { setcode { Facter::Resolvers::Uname.resolve(:kernelname) } }
Facter.add(:option) { setcode { [Facter::OptionStore.debug, Facter::Options[:show_legacy]].inspect } }
class OwnResolver < Facter::Resolvers::BaseResolver
  init_resolver
  def self.post_resolve(name, _options) = @fact_list[name] = "own #{name}"
end
Facter.add(:own) { setcode { OwnResolver.resolve(:x) } }
Facter.add(:warned) { setcode { warn 'heard'; Kernel.warn 'as well'; 'said' } }
EOR
    printf 'Facter.add(:on_path) { setcode { "found" } }\n' >"$scratch/path/facter/on_path.rb"
    export RUBYLIB=$scratch/path
    facter 0 --config /none --no-color --no-external-facts --custom-dir "$scratch/inner" -j resolved resolver option own warned on_path
    unset RUBYLIB
    is "$out" '{
  "on_path": "found",
  "option": "[false, true]",
  "own": "own x",
  "resolved": "kernel os.family",
  "resolver": "Linux",
  "warned": "said"
}'
    is "$err" 'heard
as well'
fi
# External facts whose reading would never end, or would take all memory.
mkdir "$scratch/endless"
mkfifo "$scratch/endless/pipe.txt"
ln -s /dev/zero "$scratch/endless/zero.json"
truncate -s 1G "$scratch/endless/large.yaml"
echo 'fine=1' >"$scratch/endless/a.txt"
facter 1 --config /none --no-color --no-custom-facts --external-dir "$scratch/endless" fine
holds "$out" '^1$'
for file in 'pipe.txt is not a regular file' 'zero.json is not a regular file' 'large.yaml is larger than 64 MiB'; do
    holds "$err" "The external fact file $scratch/endless/$file"
done

# Custom facts use types of Puppet and their providers.
if command -v ruby >/dev/null; then
    mkdir "$scratch/types"
    cat >"$scratch/types/t.rb" <<'EOF'
Facter.add(:runs) { setcode { %w[true false].map { |c| Puppet::Type.type(:service).new(name: 'x', provider: 'base', status: c).provider.status } } }
Facter.add(:mine) { setcode { Puppet::Type.type(:service).newservice(name: 'x', status: '/bin/true').provider.status } }
Facter.add(:user) { setcode { Puppet::Type.type(:user).new(name: 'root').provider.uid.to_s } }
Facter.add(:nobody) { setcode { Puppet::Type.type(:user).new(name: 'not_there').provider.exists? } }
Facter.add(:group) { setcode { Puppet::Type::Group.new(name: 'root').provider.gid.to_s } }
Facter.add(:package) { setcode { Puppet::Type.type(:package).new(name: 'not_there', provider: 'dpkg').provider.properties[:ensure] } }
Facter.add(:titled) { setcode { Puppet::Type.type(:file).new(path: '/etc/passwd').title } }
EOF
    facter 0 --config /none --no-color --no-external-facts --custom-dir "$scratch/types" -j runs mine user nobody group package titled
    holds "$(tr -d ' \n' <<<"$out")" '^\{"group":"0","mine":"running","nobody":false,"package":"purged","runs":\["running","stopped"\],"titled":"/etc/passwd","user":"0"\}$'
fi
finish
