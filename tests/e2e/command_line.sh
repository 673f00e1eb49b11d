#!/bin/bash
# What the program says for itself: help, versions, unknown words, bad input.
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
holds "$err" "Unknown Puppet subcommand 'nonsense'"
run 1 compile --nonsense
holds "$err" 'Could not parse application options: invalid option: --nonsense'
run 1 compile "$scratch/none.pp"
holds "$err" 'Could not find file'
[ -z "$out" ] || { echo "FAILED: output beside an error"; failures=$((failures + 1)); }
run 1 compile -e 'notice($x)'
holds "$err" "^Error: Evaluation Error: Unknown variable: 'x'\. \(line: 1, column: 8\) on node "
run 1 compile --log-format json -e 'notice($x)'
holds "$err" '^\{"level":"err","message":".*","line":1,"pos":8,"issue_code":"UNKNOWN_VARIABLE"\}$'
run 0 eval -e '[3, 1, 2].sort' --format json
holds "$out" '^\[1, ?2, ?3\]$'
run 1 parser validate -e 'class {'
holds "$err" 'Syntax error at'
# Deep nesting is refused, not crashed on.
run 1 compile -e "\$a = $(printf '[%.0s' {1..20000})"
run 1 compile -e "\$a = $(printf '(%.0s' {1..20000})1"
run 0 facts --value-only kernel
holds "$out" '^Linux$'
run 0 config print --vardir /v statedir
holds "$out" '^/v/state$'

# Without rich data: text, and a word about each loss, as strict says.
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

# The nodes of any store.
run 0 compile --storeconfigs --statedir "$scratch/state" --node n1.example.org -e ''
run 0 node list --database "sqlite:$scratch/state/store.sqlite3"
holds "$out" '^n1\.example\.org$'
run 0 node list --database "$scratch/none.sqlite3"
lacks "$out" 'n1'

# A reader that has seen enough ends the program, quietly.
for words in "help" "nonsense"; do
    { sleep 0.1 && "$BUNRAKU" "$words" 2>&1; echo "$?" >"$scratch/code"; } | :
    holds "$(cat "$scratch/code")" '^(1|141)$'
done

# The same program under the name of puppet.
ln -s "$BUNRAKU" "$scratch/puppet"
holds "$("$scratch/puppet" --version)" '^8\.[0-9.]+$'

# What cannot be written is a failure.
if [ -w /dev/full ]; then
    "$BUNRAKU" facts >/dev/full 2>/dev/null && { echo "FAILED: a full disk is no failure"; failures=$((failures + 1)); }
    "$BUNRAKU" compile -e '' >/dev/full 2>/dev/null && { echo "FAILED: a full disk is no failure"; failures=$((failures + 1)); }
fi
finish
