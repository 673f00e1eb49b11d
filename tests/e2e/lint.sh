#!/bin/bash
# bunraku lint, and a link named puppet-lint: options, configuration files, outputs, exit codes,
# fixes. The texts and codes are those of puppet-lint 5.1.
. "${0%/*}/lib.sh"
cd "$scratch" || exit 1
ln -s "$BUNRAKU" puppet-lint
mkdir -p m/manifests m/data m/.hidden vendor/x
printf '# Class.\nclass m {\n  $a = "b"\n  anchor { "c": }\n}\n' >m/manifests/init.pp
printf '# Class.\nclass n { }\n' >m/manifests/n.pp
printf -- '---\na: "%%{::osfamily}"\n' >m/data/common.yaml
printf 'class bad {\n' >m/.hidden/x.pp
cp m/manifests/n.pp vendor/x/n.pp
same() { [ "$1" = "$2" ] || { printf 'FAILED: got\n%s\nexpected\n%s\n' "$1" "$2"; failures=$((failures + 1)); }; }
# lint STATUS PROGRAM ARGS...: the program is "bunraku" or "puppet-lint".
lint() {
    local expected=$1 program=$2 status=0
    shift 2
    if [ "$program" = bunraku ]; then set -- "$BUNRAKU" lint "$@"; else set -- ./puppet-lint "$@"; fi
    env -u GITHUB_ACTION -u CODECLIMATE_REPORT_FILE PWD="$scratch" "$@" >out 2>err || status=$?
    out=$(<out)
    err=$(<err)
    [ "$status" = "$expected" ] || {
        printf 'FAILED: %s: exit %s, expected %s\n%s\n' "$*" "$status" "$expected" "$out$err"
        failures=$((failures + 1))
    }
}

# Pipes and devices in a folder are skipped.
mkdir -p odd/data odd/manifests
mkfifo odd/manifests/pipe.pp odd/data/pipe.yaml
ln -s /dev/zero odd/manifests/zero.pp
printf '# Class.\nclass odd {\n}\n' >odd/manifests/init.pp
lint 0 bunraku odd
same "$out" ''
rm -r odd

lint 0 puppet-lint m/manifests/init.pp
same "$out" 'WARNING: double quoted string containing no variables on line 3 (check: double_quoted_strings)
WARNING: double quoted string containing no variables on line 4 (check: double_quoted_strings)'
lint 0 bunraku m/manifests/init.pp
holds "$out" '^WARNING: manifest includes anchor resource on line 4 \(check: anchor_resource\)$'
lint 0 bunraku --no-plugins m/manifests/init.pp
lacks "$out" anchor
lint 0 puppet-lint --plugins m/manifests/init.pp
holds "$out" anchor
lint 1 puppet-lint --fail-on-warnings m/manifests/init.pp
lint 1 puppet-lint m
same "$out" 'm/manifests/init.pp - WARNING: double quoted string containing no variables on line 3 (check: double_quoted_strings)
m/manifests/init.pp - WARNING: double quoted string containing no variables on line 4 (check: double_quoted_strings)
m/manifests/n.pp - ERROR: n not in autoload module layout on line 2 (check: autoloader_layout)
m/data/common.yaml - WARNING: legacy fact '"'osfamily'"' on line 2 (check: legacy_facts)'
lint 0 puppet-lint --error-level warning --no-autoloader_layout-check m
lacks "$out" ERROR
lint 0 puppet-lint --only-checks=hard_tabs,80chars m
same "$out" ''
lint 0 puppet-lint vendor/x/n.pp
same "$out" ''
lint 1 puppet-lint --ignore-paths 'm/manifests/i*' vendor/x/n.pp m/manifests/init.pp
same "$out" 'vendor/x/n.pp - ERROR: n not in autoload module layout on line 2 (check: autoloader_layout)'
lint 1 puppet-lint --log-format '%{filename}:%{line}:%{column} %{kind} 100%% %{x}' m/manifests/n.pp
same "$out" 'n.pp:2:7 error 100% %{x}'
lint 0 puppet-lint --with-context --only-checks double_quoted_strings m/manifests/init.pp
holds "$out" '^  \$a = "b"$'

# Wrong use.
lint 1 puppet-lint
same "$out" "puppet-lint: no file specified
puppet-lint: try 'puppet-lint --help' for more information"
lint 1 puppet-lint --nope
holds "$out" '^puppet-lint: invalid option: --nope$'
lint 1 puppet-lint --error-level
holds "$out" '^puppet-lint: missing argument: --error-level$'
lint 1 puppet-lint nope.pp
holds "$out" 'no file specified or specified file does not exist'
lint 0 puppet-lint --version
holds "$out" '^puppet-lint 5\.'
lint 0 puppet-lint --help
holds "$out" 'no-140chars-check'
lint 0 puppet-lint --load x.rb m/manifests/init.pp
holds "$err" 'checks in Ruby cannot be loaded'
lint 0 puppet-lint --list-checks
[ "$(wc -l <<<"$out")" = 40 ] || same "$out" '40 checks'
lint 0 bunraku --list-checks
holds "$out" '^version_comparison$'

# Configuration files: one option per line, before the arguments.
printf '# a comment\n--only-checks=documentation\n\n' >.puppet-lint.rc
lint 0 puppet-lint m/manifests/init.pp
same "$out" ''
lint 0 puppet-lint --double_quoted_strings-check m/manifests/init.pp
holds "$out" 'double quoted'
lint 0 puppet-lint --no-config m/manifests/init.pp
holds "$out" 'double quoted'
printf -- '--nope\n' >.puppet-lint.rc
lint 1 puppet-lint m/manifests/init.pp
rm .puppet-lint.rc
printf -- '--fail-on-warnings\n' >other.rc
lint 1 bunraku -c other.rc m/manifests/init.pp

# Formats.
lint 1 puppet-lint --json m/manifests/n.pp
same "$out" '[
  [
    {
      "message": "n not in autoload module layout",
      "line": 2,
      "column": 7,
      "kind": "error",
      "check": "autoloader_layout",
      "fullpath": "'"$scratch"'/m/manifests/n.pp",
      "path": "m/manifests/n.pp",
      "filename": "n.pp",
      "KIND": "ERROR"
    }
  ]
]'
lint 1 bunraku --format github m/manifests/n.pp
holds "$out" '^::error file=m/manifests/n.pp,line=2,col=7::n not in autoload module layout \(check: autoloader_layout\)$'
lint 1 bunraku --sarif --codeclimate-report-file climate.json m
python3 - "$scratch" <<'PYTHON' || failures=$((failures + 1))
import json, sys
run = json.load(open("out"))["runs"][0]
assert run["originalUriBaseIds"]["ROOTPATH"]["uri"] == "file://%s/m/" % sys.argv[1]
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
for result in run["results"]:
    assert rules[result["ruleIndex"]] == result["ruleId"]
place = [r for r in run["results"] if r["ruleId"] == "autoloader_layout"][0]["locations"][0]["physicalLocation"]
assert place["artifactLocation"]["uri"] == "manifests/n.pp" and place["region"] == {"startLine": 2, "startColumn": 7}
issues = json.load(open("climate.json"))
assert {"type": "issue", "severity": "major"}.items() <= issues[-2].items() or any(i["severity"] == "major" for i in issues)
assert len({issue["fingerprint"] for issue in issues}) == len(issues)
PYTHON

# Control comments and fixes.
printf '# Class.\nclass f {\n  $a = "b" # lint:ignore:double_quoted_strings on purpose\n  $c = "d"   \n}\n' >f.pp
lint 0 puppet-lint --show-ignored --only-checks double_quoted_strings f.pp
same "$out" 'IGNORED: double quoted string containing no variables on line 3 (check: double_quoted_strings)
  on purpose
WARNING: double quoted string containing no variables on line 4 (check: double_quoted_strings)'
printf '# lint:endignore\n' >e.pp
lint 0 puppet-lint e.pp
holds "$err" '^WARNING: lint:endignore comment with no opening'
lint 1 puppet-lint --fix f.pp
same "$out" 'ERROR: f not in autoload module layout on line 2 (check: autoloader_layout)
FIXED: double quoted string containing no variables on line 4 (check: double_quoted_strings)
FIXED: trailing whitespace found on line 4 (check: trailing_whitespace)'
same "$(cat f.pp)" '# Class.
class f {
  $a = "b" # lint:ignore:double_quoted_strings on purpose
  $c = '"'d'"'
}'
printf '$a = "b\n' >bad.pp
lint 1 puppet-lint --fix bad.pp
same "$out" 'ERROR: Syntax error (unterminated string) on line 1 (check: syntax)'
same "$err" 'Try running `puppet parser validate <file>`'
same "$(cat bad.pp)" '$a = "b'
before=$(cat m/data/common.yaml)
lint 0 puppet-lint --fix m/data/common.yaml
same "$(cat m/data/common.yaml)" "$before"

# Only manifests are changed, and none becomes empty.
printf '$a = "b"\n' >not-a-manifest
lint 0 puppet-lint --fix not-a-manifest
same "$out" 'WARNING: double quoted string containing no variables on line 1 (check: double_quoted_strings)'
same "$(cat not-a-manifest)" '$a = "b"'
cp not-a-manifest UPPER.PP
lint 0 puppet-lint --fix UPPER.PP
same "$(cat UPPER.PP)" "\$a = 'b'"
printf '\n\n' >blank.pp
lint 0 puppet-lint --plugins --fix blank.pp
same "$(wc -c <blank.pp)" 2
finish
