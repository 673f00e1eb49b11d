#!/bin/bash
# Output that does not depend on a manifest: help, versions, unknown commands, invalid input.
. "${0%/*}/lib.sh"
places=()
run 0 help
holds "$out" 'compile +Compile'
run 0 help compile
holds "$out" 'bunraku compile'
run 0 compile --help
holds "$out" 'bunraku compile'
run 0 --version
holds "$out" '^bunraku [0-9.]+ \(Puppet language 8\.[0-9.]+\)$'
run 1 nonsense
holds "$err" "Unknown subcommand 'nonsense'"
run 1 aply
holds "$err" 'Did you mean apply\?'
run 1 compile --enviroment x
holds "$err" 'Did you mean --environment\?'
run 1 compile --nonsense
holds "$err" 'Could not parse application options: invalid option: --nonsense'
run 1 compile "$scratch/none.pp"
holds "$err" 'Could not find file'
[ -z "$out" ] || { echo "FAILED: output in spite of an error"; failures=$((failures + 1)); }
run 1 compile -e 'notice($x)'
holds "$err" "^Error: Evaluation Error: Unknown variable: 'x'\. \(line: 1, column: 8\) on node "
run 1 compile --log-format json -e 'notice($x)'
holds "$err" '^\{"level":"err","message":".*","line":1,"pos":8,"issue_code":"UNKNOWN_VARIABLE"\}$'
run 0 eval -e '[3, 1, 2].sort' --format json
holds "$out" '^\[1, ?2, ?3\]$'
run 1 parser validate -e 'class {'
holds "$err" 'Syntax error at'
# Deep nesting causes an error, not a crash.
run 1 compile -e "\$a = $(printf '[%.0s' {1..20000})"
run 1 compile -e "\$a = $(printf '(%.0s' {1..20000})1"
run 0 facts --value-only kernel
holds "$out" '^Linux$'
run 0 config print --vardir /v statedir
holds "$out" '^/v/state$'

# Without rich data, values become strings, with a warning or error for each according to `strict`.
rich='notify { "r": message => [/a/, { 1 => Integer[1, 2] }, default] }'
run 1 compile --setting rich_data=false -e "$rich"
holds "$err" "^Error: Evaluation Error: Notify\[r\]\['message'\]\[0\] contains a Regexp value\. It will be converted to the String '/a/' \(line: 1\)$"
run 0 compile --setting rich_data=false --setting strict=warning -e "$rich"
holds "$err" "Notify\[r\]\['message'\]\[1\] contains a hash with an Integer key\. It will be converted to the String '1'"
holds "$err" "Notify\[r\]\['message'\]\[1\]\['1'\] contains an Integer-Type value\. It will be converted to the String 'Integer\[1, 2\]'"
holds "$err" "\['message'\]\[2\] contains the special value default\."
holds "$out" '"message":\["/a/",\{"1":"Integer\[1, 2\]"\},"default"\]'
run 0 compile --setting rich_data=false --setting strict=off -e "$rich"
lacks "$err" 'converted'

# Lists the nodes of any store.
run 0 compile --storeconfigs --statedir "$scratch/state" --node n1.example.org -e ''
run 0 node list --database "sqlite:$scratch/state/store.sqlite3"
holds "$out" '^n1\.example\.org$'
run 0 node list --database "$scratch/none.sqlite3"
lacks "$out" 'n1'

# The program ends without a message if its reader closes the pipe.
for words in "help" "nonsense"; do
    { sleep 0.1 && "$BUNRAKU" "$words" 2>&1; echo "$?" >"$scratch/code"; } | :
    holds "$(cat "$scratch/code")" '^(1|141)$'
done

# The same program, started under the name puppet.
ln -s "$BUNRAKU" "$scratch/puppet"
holds "$("$scratch/puppet" --version)" '^8\.[0-9.]+$'

# For all commands: output that cannot be written is reported as an error, but a closed pipe is not.
echo "notify { 'x': }" >"$scratch/x.pp"
"$BUNRAKU" compile -e '' --node n >"$scratch/a.json"
"$BUNRAKU" compile "$scratch/x.pp" --node n >"$scratch/b.json"
writers=("help" "facts kernel" "compile -e ''" "eval -e 1" "diff $scratch/a.json $scratch/b.json"
    "parser dump $scratch/x.pp" "config print all" "describe --list" "lookup --compile x --default y"
    "epp render -e x" "node list --database $scratch/none.sqlite3")
for words in "${writers[@]}"; do
    if [ -w /dev/full ]; then
        code=0
        eval "\"\$BUNRAKU\" $words \"\${places[@]}\"" >/dev/full 2>"$scratch/err" || code=$?
        if [ -s "$scratch/err" ] || [ "$words" != "node list --database $scratch/none.sqlite3" ]; then
            holds "$words: $code $(<"$scratch/err")" '^[^:]*: [12] Error: Could not write to standard output(: No space left on device)?$'
        fi
    fi
    { sleep 0.3 && eval "\"\$BUNRAKU\" $words \"\${places[@]}\"" 2>"$scratch/err"; echo "$?" >"$scratch/code"; } | :
    sleep 0.1
    holds "$words: $(<"$scratch/code")" ': (0|141)$'
    lacks "$words: $(<"$scratch/err")" 'Error'
    # No file gets the descriptor of a standard stream if all of them are closed.
    eval "\"\$BUNRAKU\" $words \"\${places[@]}\"" <&- >&- 2>&-
done

# Colours according to Puppet's setting.
for choice in ansi true yes; do
    holds "$("$BUNRAKU" eval --color $choice -e 'warning(x)' 2>&1)" $'^\033\\[1;33mWarning: .*x\033\\[0m$'
done
for choice in false no none 0 off; do
    holds "$("$BUNRAKU" eval --color $choice -e 'warning(x)' 2>&1)" '^Warning: .*x$'
done
holds "$("$BUNRAKU" eval --color html -e 'warning(x)' 2>&1)" '^<span style="color: #FFFF60">Warning: .*x</span>$'

# eval reads standard input if no option or argument gives the code.
holds "$(echo '[1, 2].map |$x| { $x * 2 }' | "$BUNRAKU" eval)" '^\[2, 4\]$'

# A missing fact is an empty string, as in Puppet, with a warning.
run 0 facts --yaml kernelmajversion
# Quoted as by Psych in `puppet facts show --render-as yaml` (8.11).
holds "$out" "^kernelmajversion: '[0-9.]+'$"
run 0 facts show no_such_fact
holds "$out" '"no_such_fact": ""'
holds "$err" "^Warning: There is no fact 'no_such_fact'$"
run 0 facts --value-only kernel virtual
holds "$err" 'Incorrect use of --value-only'

# Setting values that Puppet rejects.
run 1 compile --certname FOO -e ''
holds "$err" '^Error: Could not initialize global default settings: Certificate names must be lower case$'
run 1 compile --runinterval 2x -e ''
holds "$err" "^Error: Invalid duration format '\"2x\"' for parameter: runinterval\$"
run 1 eval --log-level loud -e 1
holds "$err" '^Error: Could not initialize global default settings: Invalid loglevel loud$'

# config: Puppet's messages and values.
places=(--confdir "$scratch/etc")
conf=$scratch/etc/puppet.conf
run 0 config delete server
holds "$err" "^Warning: The puppet.conf file does not exist $conf\$"
run 0 config set server a.example.org
[ -z "$out$err" ] || { echo "FAILED: config set printed $out$err"; failures=$((failures + 1)); }
"$BUNRAKU" config set server a.example.org --confdir "$scratch/new/etc"
holds "$(<"$scratch/new/etc/puppet.conf")" '^server = a.example.org$'
# `apply` needs no client certificate and logs no warning about one.
run 0 apply -e 'notice(1)'
[ -z "$err" ] || { echo "FAILED: apply printed $err"; failures=$((failures + 1)); }
run 0 config print server
holds "$out" '^a\.example\.org$'
run 0 config print --json server certname
holds "$out" '^\{"certname":"[^"]*","server":"a\.example\.org"\}$'
run 0 config delete server
holds "$out" "^Deleted setting from 'main': 'server = a\.example\.org'\$"
run 0 config delete server
holds "$err" "^Warning: No setting found in configuration file for section 'main' setting name 'server'\$"
run 1 config set runinterval 2x
holds "$err" 'Invalid duration format'
run 1 config set a
holds "$err" '^Error: bunraku config set takes 2 arguments, but you gave 1$'
run 1 config zap
holds "$err" "'config' has no 'zap' action"
# The section [user] is separate from [main].
printf '[main]\nserver=m\n[user]\nserver=u\n[agent]\nserver=a\nserver_list = x:1, y\n' >"$conf"
run 0 config print server
holds "$out" '^m$'
run 0 config print server --section agent
holds "$out" '^a$'
run 0 config print server_list --section agent
holds "$out" '^x:1, y$'
run 0 config print name pidfile http_extra_headers --http_extra_headers A:b,C:d
holds "$out" '^http_extra_headers = \[\["A", "b"\], \["C", "d"\]\]$'
holds "$out" '^name = config$'
holds "$out" '/main\.pid$'
# Settings of the environment.
mkdir -p "$scratch/envs/production" "$scratch/envs/test"
printf 'modulepath = mods:$basemodulepath\nmanifest = site.pp\nenvironment_timeout = 3m\n' >"$scratch/envs/test/environment.conf"
at=(--environmentpath "$scratch/envs" --basemodulepath /b)
run 0 config print manifest modulepath "${at[@]}"
holds "$out" "^manifest = $scratch/envs/production/manifests\$"
holds "$out" "^modulepath = $scratch/envs/production/modules:/b\$"
run 0 config print manifest modulepath environment_timeout --environment test "${at[@]}"
holds "$out" "^manifest = $scratch/envs/test/site.pp\$"
holds "$out" "^modulepath = $scratch/envs/test/mods:/b\$"
holds "$out" '^environment_timeout = 180$'
run 0 config print manifest --environmentpath "$scratch/none"
holds "$out" '^no_manifest$'
# Manifests see these values, too. environment.conf has precedence over puppet.conf, and the command
# line over both (8.11).
cat >"$scratch/envs/test/environment.conf" <<'EOS'
modulepath = site:/q:$basemodulepath
manifest = manifests { mode = 755 }
environment_timeout = 3m
config_version = /bin/echo v1
static_catalogs = false
EOS
# shellcheck disable=SC2016
seen='notice("<${settings::modulepath}|${settings::manifest}|${settings::environment_timeout}|${settings::config_version}|${settings::static_catalogs}|${settings::all_local["manifest"]}>")'
seen_in() { run 0 apply --color false --environment "$1" "${at[@]}" "${@:2}" -e "$seen"; }
seen_in test
e=$scratch/envs/test
holds "$out" "<$e/site:/q:/b\|$e/manifests\|180\|/bin/echo v1\|false\|$e/manifests>"
seen_in test --modulepath /m --no-static_catalogs
holds "$out" "</m\|$e/manifests\|180\|"
seen_in production
e=$scratch/envs/production
holds "$out" "<$e/modules:/b\|$e/manifests\|0\|\|true\|$e/manifests>"
echo 'environment_timeout = unlimited' >"$scratch/envs/test/environment.conf"
seen_in test
holds "$out" '\|Infinity\|'
echo 'config_version = bin/nope' >"$scratch/envs/test/environment.conf"
run 1 apply --environment test "${at[@]}" -e ''
holds "$err" "returned 1: Error: Could not execute posix command: No such file or directory - $scratch/envs/test/bin/nope on node "
printf '\nfoo\n' >"$scratch/envs/test/environment.conf"
run 1 compile --environment test "${at[@]}" -e '' --node x
holds "$err" "Could not match line foo \(file: $scratch/envs/test/environment.conf, line: 2\)"
# Braces after a value are not part of it.
printf '[main]\nautosign = $confdir/autosign.conf { mode = 664 }\nexternal_nodes = /x/enc { mode = 755 }\npluginsync = true\n' >"$conf"
run 0 config print autosign external_nodes --section server
holds "$out" "^autosign = $(dirname "$conf")/autosign.conf\$"
holds "$out" '^external_nodes = /x/enc$'
holds "$err" '^Notice: external_nodes does not support meta data. Ignoring.$'
holds "$err" "^Warning: Setting 'pluginsync' is deprecated.$"
# `config set` can repair a configuration file that cannot be parsed.
echo nonsense >"$conf"
run 1 compile -e ''
run 0 config print server
holds "$err" "^Error: Could not parse $conf: Could not match line nonsense$"
holds "$err" "^ \(file: $conf, line: 1\)$"
run 0 config set server b
rm "$conf"
places=()

# The settings that catalogs see have the same types as in Puppet (8.11).
run 0 eval --format json -e '[$settings::runinterval, $settings::disable_warnings, $settings::ca_fingerprint, $settings::noop, $settings::server_list, $settings::masterport, $settings::server]' --server_list a:1,b
holds "$out" '^\[1800,\[\],null,false,\[\["a","1"\],\["b"\]\],8140,"puppet"\]$'

# The older notation of the syntax tree is the default, as in Puppet.
run 0 parser dump -e 'notify { x: message => "a${b}" }'
holds "$out" '^\(resource notify$'
holds "$out" "\(message => \(cat 'a' \(str \\\$b\)\)\)"
run 0 parser dump --format pn -e '$a'
holds "$out" '^\(var "a"\)$'

run 0 parser dump -e '$a =~ /^\/b\.c/'
holds "$out" '^\(=~ \$a /\^\\/b\\.c/\)$'

# System errors are reported with their description.
run 1 module sync --puppetfile "$scratch/none"
holds "$err" "^Error: $scratch/none: No such file or directory\$"

# All errors of a file are reported, not only their number.
cat >"$scratch/two.pp" <<'MANIFEST'
$a = { 1 => 2, 1 => 3 }
if true { class q {} }
MANIFEST
run 1 parser validate --render-as json "$scratch/two.pp"
holds "$(python3 -c 'import json, sys
(file, entry), = json.loads(sys.argv[1]).items()
print(entry["message"], [(e["issue_code"], e["line"], e["pos"]) for e in entry["errors"]])' "$out")" \
    "^Language validation logged 2 errors\. Giving up \[\('DUPLICATE_KEY', 1, 18\), \('NOT_TOP_LEVEL', 2, 11\)\]\$"

# Types in modules.
mkdir -p "$scratch/mods/gear/lib/puppet/type"
cat >"$scratch/mods/gear/lib/puppet/type/cog.rb" <<'RUBY'
Puppet::Type.newtype(:cog) do
  @doc = 'Manages cogs. They turn.'
  newparam(:name, namevar: true) { desc 'The name of the cog.' }
  newproperty(:teeth) { desc 'How many.'; newvalues(/^\d+$/) }
end
RUBY
run 0 describe nosuchtype
holds "$out" '^Unknown type nosuchtype$'
if command -v ruby >/dev/null; then
    run 0 describe --list --modulepath "$scratch/mods"
    holds "$out" '^cog +- Manages cogs$'
    run 0 describe Cog --modulepath "$scratch/mods"
    holds "$out" '^- \*\*teeth\*\*$'
    [ "$(grep -c 'Values can match' <<<"$out")" = 1 ] || { echo "FAILED: $out"; failures=$((failures + 1)); }
fi
run 0 filebucket --configprint hiera_config --hiera_config /h
holds "$out" '^/h$'
run 0 apply --configprint hiera_config,certname --certname me --hiera_config /h
holds "$out" '^certname = me$'
holds "$out" '^hiera_config = /h$'
run 1 apply --configprint nonesuch
holds "$out" '^invalid setting: nonesuch$'

# Every help page describes the exit codes. The error for a wrong call ends with the command that
# prints the right page.
for command in $("$BUNRAKU" help --json | python3 -c 'import json, sys
for c in json.load(sys.stdin): print(c["name"])'); do
    run 0 help "$command"
    grep -qiE 'exit (code|status)' <<<"$out" || { echo "FAILED: no exit code in help $command"; failures=$((failures + 1)); }
done
run 1 apply --nonsense
holds "$(tail -1 <<<"$err")" "^Try 'bunraku help apply' for usage$"
for call in "db nonsense" "db export" "db key nonsense" "token nonsense" "completion" "query" "deploy"; do
    # shellcheck disable=SC2086
    run 1 $call
    holds "$(tail -1 <<<"$err")" "^Try '[a-z]+ help ${call%% *}' for usage$"
done

# Commands with machine-readable output support JSON.
run 0 version -o json
python3 -c 'import json, sys; v = json.loads(sys.argv[1]); assert v["version"] and v["libraries"], v' "$out" || failures=$((failures + 1))
run 0 --version --json
holds "$out" '"puppet_language":"8\.'
lacks "$out" '"target"'
# What a bug report needs.
run 0 --version --verbose
[ "$(sed -n 's/^\([a-z][a-z]*\( demand\)\?\)  *[^ ].*/\1/p' <<<"$out" | tr '\n' ' ')" = \
    "bunraku level commit build libraries options target allocator on demand programs formats system program " ] ||
    { echo "FAILED: --version --verbose: $out"; failures=$((failures + 1)); }
holds "$out" '^formats    store schema [0-9]+, queue 1$'
holds "$out" '^system     .+, Linux [^,]+, '"$(uname -m)"'$'
holds "$out" "^program    $(realpath "$BUNRAKU")\$"
holds "$out" '^on demand  (no libarchive|libarchive 3\.[0-9]+\.[0-9]+), (no libpq|libpq [0-9]+\.[0-9]+), (no )?libaugeas$'
run 0 --version --verbose --json
python3 -c 'import json, sys; v = json.loads(sys.argv[1]); assert v["target"] and v["formats"].startswith("store schema "), v' "$out" || failures=$((failures + 1))
run 0 apply --json -e 'notify { "n": }'
python3 -c 'import json, sys; assert "Notify[n]" in json.loads(sys.argv[1])["resource_statuses"]' "$out" || failures=$((failures + 1))
holds "$err" 'defined .message. as .n.'
run 0 config print -o json certname
holds "$out" '^\{"certname":'
run 0 eval -o json -e '[1, Integer]'
python3 -c 'import json, sys; json.loads(sys.argv[1])' "$out" || failures=$((failures + 1))
mkdir -p "$scratch/tested/modules/m/manifests"
echo 'class m { notify { "x": } }' >"$scratch/tested/modules/m/manifests/init.pp"
echo 'class m::broken { fail("broken") }' >"$scratch/tested/modules/m/manifests/broken.pp"
run 1 test --path "$scratch/tested" --json
python3 -c 'import json, sys
told = json.loads(sys.argv[1])
assert (told["passed"], told["failed"], told["skipped"]) == (1, 1, 0), told
assert {t["subject"]: t["state"] for t in told["tests"]} == {"m": "passed", "m::broken": "failed"}, told' "$out" || failures=$((failures + 1))
run 1 completion -o json
holds "$err" 'completion has no output in JSON'
run 1 config print -o yaml certname
holds "$err" "-o is json, not 'yaml'"

# Bunraku's own commands name a file that they cannot read without Ruby's system calls; Puppet's
# commands print Puppet's words.
# plainly STATUS ARGS...
plainly() {
    run "$@"
    lacks "$err" '@ (rb|dir|io)_'
    holds "$err" "$missing"
}
missing=$scratch/missing/file
plainly 2 fmt "$missing"
plainly 2 fmt "$scratch/tested" "$missing"
plainly 1 diff "$missing" "$missing"
plainly 1 db export "$missing" --database "$scratch/exported.sqlite3"
plainly 1 db import "$missing" --database "$scratch/imported.sqlite3"
plainly 1 doc "$missing"
plainly 1 deploy environment --r10k "$missing"
plainly 1 impact --path "$missing"
plainly 1 compile --facts "$missing" -e 1
plainly 1 simulate-agents 1 --facts "$missing"
run 1 apply --catalog "$missing"
holds "$err" "No such file or directory @ rb_sysopen - $missing"

# Colours, progress and escapes appear only on terminals that support them.
printf 'notify { "x": message => "y" }\nnotify { "é": }\nwarning("w")\n' >"$scratch/one.pp"
printf 'notify { "x": message => "z" }\n' >"$scratch/two.pp"
for n in one two; do
    run 0 compile --node n1 "$scratch/$n.pp"
    printf '%s' "$out" >"$scratch/$n.json"
done
cat >"$scratch/on_terminal" <<'EOF'
# Runs a program on a terminal and copies what it prints.
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))))
EOF
# on_terminal TERM ARGS...: prints what the program writes to a terminal of this kind.
on_terminal() {
    local term=$1
    shift
    env -u NO_COLOR TERM="$term" python3 "$scratch/on_terminal" "$BUNRAKU" "$@" "${places[@]}" </dev/null 2>&1
}
escape=$'\033'
for words in "test --path $scratch/tested" "apply $scratch/one.pp" "diff $scratch/one.json $scratch/two.json" \
    "compile -e notice(\$x)" "eval -e [1,\$x]" "lint $scratch/one.pp"; do
    # shellcheck disable=SC2086
    colored=$(on_terminal xterm $words) plain=$(on_terminal dumb $words)
    [ -n "$plain" ] || { echo "FAILED: $words prints nothing"; failures=$((failures + 1)); }
    lacks "$plain" "$escape"
    [ "${words%% *}" = lint ] || holds "$colored" "$escape"
done
finish
