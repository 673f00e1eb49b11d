#!/bin/bash
# What is said of a mistake below Puppet's own text, and that without --explain-errors and a terminal
# nothing is. Texts of first lines: Puppet 8.11.
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

# mistake MANIFEST: what is said of it; the folder is DIR.
mistake() {
    printf '%s\n' "$1" >"$code/site.pp"
    run 1 compile --explain-errors "$code/site.pp"
    said=${err//"$code"/DIR}
}
# says TEXT: that is all of it.
says() {
    if [ "$said" != "$1" ]; then
        printf 'FAILED: expected\n%s\nbut it is\n%s\n' "$1" "$said"
        failures=$((failures + 1))
    fi
}

mistake '$package_name = "x"
package { $pakage_name: }'
says "Error: Evaluation Error: Unknown variable: 'pakage_name'. (file: DIR/site.pp, line: 2, column: 11) on node n
  2 | package { \$pakage_name: }
    |           ^^^^^^^^^^^^
    = did you mean \$package_name?"
run 1 compile "$code/site.pp"
[ "$err" = "Error: Evaluation Error: Unknown variable: 'pakage_name'. (file: $code/site.pp, line: 2, column: 11) on node n" ] ||
    { printf 'FAILED: more than the text\n%s\n' "$err"; failures=$((failures + 1)); }
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

mistake 'include ntp'
says "Error: Evaluation Error: Error while evaluating a Function Call, Class[Ntp]: parameter 'port' expects an Integer value, got String (file: DIR/site.pp, line: 1, column: 1) on node n
  1 | include ntp
    | ^^^^^^^^^^^
  DIR/data/common.yaml:2:1: the value comes from here, Hiera's level 'Common settings'
  2 | ntp::port: \"123\"
    | ----------------
  DIR/modules/ntp/manifests/init.pp:1:19: the parameter is declared here
  1 | class ntp(Integer \$port) { }
    |                   -----
    = hint: A number in quotes is a String: leave the quotes away, or Integer(\$x)"

mistake 'include apache::mods::ssl'
says "Error: Evaluation Error: Error while evaluating a Function Call, Could not find class ::apache::mods::ssl for n (file: DIR/site.pp, line: 1, column: 1) on node n
  1 | include apache::mods::ssl
    | ^^^^^^^^^^^^^^^^^^^^^^^^^
    = did you mean apache::mod::ssl?
    = hint: It would stand in DIR/modules/apache/manifests/mods/ssl.pp, which is not there"

mistake 'package { "vim": ensure => installed }
package { "vim": ensure => latest }'
holds "$said" "^  DIR/site.pp:1:1: the first declaration$"

mistake 'package { "openssh-server": }
service { "ssh": require => Package["openssh-sever"] }'
holds "$said" '^    = did you mean Package\[openssh-server\]\?$'

mistake 'packge { "vim": }'
holds "$said" '^    = did you mean package\?$'

mistake '$x = lookup("ntp::servr")'
holds "$said" '^    = did you mean ntp::server\?$'

# Syntax: where the brace was opened, and further errors of the same file.
mistake 'class a {
  notify { "x": }
'
holds "$said" 'Syntax error at end of input'
mistake 'file { "/a"
  ensure => file }
if true { notify { "b" message => 1 } }'
holds "$said" '^  1 \| file \{ "/a"$|^  2 \|   ensure => file \}$'

# Odd texts end nothing.
for text in '"' "'" '{' '}' '@(x' '@("x"/L)' '$' '/*' $'\xff\xfe{' "$(printf '(%.0s' {1..2000})"; do
    mistake "$text"
    holds "$said" '^Error: '
done
finish
