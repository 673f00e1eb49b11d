#!/bin/bash
# The explanations that follow Puppet's own error text. They appear only with --explain-errors or on
# a terminal. The first lines are those of Puppet 8.11.
. "${0%/*}/lib.sh"

code=$scratch/code
mkdir -p "$code/data" "$code/modules/ntp/manifests" "$code/modules/apache/manifests/mod"
cat >"$code/hiera.yaml" <<'Y'
version: 5
hierarchy:
  - name: Common settings
    path: common.yaml
    datadir: data
Y
cat >"$code/data/common.yaml" <<'Y'
ntp::server: a
ntp::port: "123"
Y
echo 'class ntp(Integer $port) { }' >"$code/modules/ntp/manifests/init.pp"
echo 'class apache::mod::ssl { }' >"$code/modules/apache/manifests/mod/ssl.pp"
places+=(--hiera_config "$code/hiera.yaml" --modulepath "$code/modules" --node n)

# diagnose MANIFEST: compiles a manifest and stores the messages, with the folder replaced by DIR.
diagnose() {
    printf '%s\n' "$1" >"$code/site.pp"
    run 1 compile --explain-errors "$code/site.pp"
    messages=${err//"$code"/DIR}
}
# messages_are TEXT: checks that TEXT is the complete message.
messages_are() {
    if [ "$messages" != "$1" ]; then
        printf 'FAILED: expected\n%s\ngot\n%s\n' "$1" "$messages"
        failures=$((failures + 1))
    fi
}

diagnose '$package_name = "x"
package { $pakage_name: }'
messages_are "Error: Evaluation Error: Unknown variable: 'pakage_name'. (file: DIR/site.pp, line: 2, column: 11) on node n
  2 | package { \$pakage_name: }
    |           ^^^^^^^^^^^^
    = did you mean \$package_name?"
run 1 compile "$code/site.pp"
[ "$err" = "Error: Evaluation Error: Unknown variable: 'pakage_name'. (file: $code/site.pp, line: 2, column: 11) on node n" ] ||
    { printf 'FAILED: additional output\n%s\n' "$err"; failures=$((failures + 1)); }
run 1 compile --explain-errors --log-format json "$code/site.pp"
holds "$err" '"explanation":\{.*"\$package_name"'
run 1 compile --log-format sarif "$code/site.pp"
python3 - "$scratch/err" <<'P' || failures=$((failures + 1))
import json, sys
log = json.load(open(sys.argv[1]))
result, = log["runs"][0]["results"]
assert log["version"] == "2.1.0", log
assert result["ruleId"] == "UNKNOWN_VARIABLE", result
region = result["locations"][0]["physicalLocation"]["region"]
assert (region["startLine"], region["startColumn"]) == (2, 11), region
P

diagnose 'include ntp'
messages_are "Error: Evaluation Error: Error while evaluating a Function Call, Class[Ntp]: parameter 'port' expects an Integer value, got String (file: DIR/site.pp, line: 1, column: 1) on node n
  1 | include ntp
    | ^^^^^^^^^^^
  DIR/data/common.yaml:2:1: the value is set here, in the Hiera level 'Common settings'
  2 | ntp::port: \"123\"
    | ----------------
  DIR/modules/ntp/manifests/init.pp:1:19: the parameter is declared here
  1 | class ntp(Integer \$port) { }
    |                   -----
    = hint: A number in quotes is a String: remove the quotes, or use Integer(\$x)"

diagnose 'include apache::mods::ssl'
messages_are "Error: Evaluation Error: Error while evaluating a Function Call, Could not find class ::apache::mods::ssl for n (file: DIR/site.pp, line: 1, column: 1) on node n
  1 | include apache::mods::ssl
    | ^^^^^^^^^^^^^^^^^^^^^^^^^
    = did you mean apache::mod::ssl?
    = hint: The expected file DIR/modules/apache/manifests/mods/ssl.pp does not exist"

diagnose 'package { "vim": ensure => installed }
package { "vim": ensure => latest }'
holds "$messages" "^  DIR/site.pp:1:1: the first declaration$"

diagnose 'package { "openssh-server": }
service { "ssh": require => Package["openssh-sever"] }'
holds "$messages" '^    = did you mean Package\[openssh-server\]\?$'

diagnose 'packge { "vim": }'
holds "$messages" '^    = did you mean package\?$'

diagnose '$x = lookup("ntp::servr")'
holds "$messages" '^    = did you mean ntp::server\?$'

# Syntax errors: the location of the unclosed brace, and further errors of the same file.
diagnose 'class a {
  notify { "x": }
'
holds "$messages" 'Syntax error at end of input'
diagnose 'file { "/a"
  ensure => file }
if true { notify { "b" message => 1 } }'
holds "$messages" '^  1 \| file \{ "/a"$|^  2 \|   ensure => file \}$'

# Unusual texts do not crash the program.
for text in '"' "'" '{' '}' '@(x' '@("x"/L)' '$' '/*' $'\xff\xfe{' "$(printf '(%.0s' {1..2000})"; do
    diagnose "$text"
    holds "$messages" '^Error: '
done
# The Puppetfile of the environment names a module that is not installed.
mkdir -p "$scratch/envs/production/manifests"
echo 'include special' >"$scratch/envs/production/manifests/site.pp"
printf "forge 'https://forge.example.org'\nmod 'acme/special', '1.0.0'\n" >"$scratch/envs/production/Puppetfile"
places=(--confdir "$scratch/etc" --vardir "$scratch/var" --statedir "$scratch/state")
run 1 compile --explain-errors --node n --environmentpath "$scratch/envs" --basemodulepath "$scratch/base"
holds "$err" "^ +. hint: There is no module special in $scratch/envs/production/modules, $scratch/base\$"
holds "$err" '^ +. hint: The Puppetfile lists acme-special: `bunraku module sync` installs it$'
finish
