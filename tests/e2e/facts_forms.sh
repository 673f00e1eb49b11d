#!/bin/bash
# Every facts file format, for every command that reads facts.
. "${0%/*}/lib.sh"
number=0
# shellcheck disable=SC2016
code='notify { "${facts[os][family]} ${facts[a]}": }'
# form ENDING TEXT: writes a facts file; checks that it yields the facts of web1: os.family Debian
# and a 5.
form() {
    number=$((number + 1))
    file=$scratch/form$number.$1
    printf '%s' "$2" >"$file"
    run 0 compile --node web1 --facts "$file" -e "$code"
    holds "$out" '"title":"Debian 5"'
    lacks "$out" '_timestamp'
}
# wrong ENDING TEXT ERROR: checks the error message for a facts file.
wrong() {
    number=$((number + 1))
    file=$scratch/form$number.$1
    printf '%s' "$2" >"$file"
    run 1 compile --node web1 --facts "$file" -e "$code"
    [ "$err" = "Error: ${3//FILE/$file}" ] ||
        { printf 'FAILED: %s\n%s\nnot: %s\n' "$2" "$err" "$3"; failures=$((failures + 1)); }
}
values='{"os":{"family":"Debian"},"a":5}'
rows='[{"name":"os","value":{"family":"Debian"}},{"name":"a","value":5}]'
form json "$values"
form json "{\"name\":\"web1\",\"values\":$values,\"timestamp\":\"2026-11-22\",\"expiration\":\"2026-11-23\"}"
form json "{\"certname\":\"web1\",\"values\":$values,\"environment\":null,\"timestamp\":\"t\",\"producer\":\"p\"}"
form json "{\"command\":\"replace facts\",\"version\":5,\"payload\":{\"certname\":\"web1\",\"values\":$values}}"
form json "{\"certname\":\"web1\",\"hash\":\"aa\",\"facts\":{\"href\":\"/x\",\"data\":$rows}}"
form json "[{\"certname\":\"web0\",\"facts\":{\"data\":[]}},{\"certname\":\"web1\",\"facts\":{\"data\":$rows}}]"
form json '[{"certname":"web0","name":"a","value":4},{"certname":"web1","name":"os","value":{"family":"Debian"}},{"certname":"web1","environment":"production","name":"a","value":5}]'
form json "$rows"
form json "[{\"certname\":\"web1\",\"facts\":$values,\"trusted\":{},\"timestamp\":\"t\",\"environment\":\"e\",\"resources\":[]}]"
form json "[{\"certname\":\"web2\",\"values\":{}},{\"certname\":\"web1\",\"values\":$values}]"
form yaml '--- !ruby/object:Puppet::Node::Facts
name: web1
values:
  os:
    family: Debian
  a: 5
  :_timestamp: 2020-01-01 00:00:00.000000000 Z
timestamp: 2020-01-01 00:00:00.000000000 +00:00
expiration: 2020-01-01 00:30:00.000000000 +00:00
'
form yaml '--- !ruby/object:Puppet::Node::Facts
  expiration: 2010-06-07 19:15:36.519351 -07:00
  name: web1
  values: 
    os: {family: Debian}
    a: 5
    !ruby/sym _timestamp: Mon Jun 07 18:45:36 -0700 2010
'
form yaml '---
:os:
  :family: Debian
:a: 5
'
form facts '---
os: {family: Debian}
a: 5
'
# Facter's default text output.
form txt 'kernel => Linux
os => {
  family => "Debian",
  list => [
    1,
    {
      x => null
    }
  ]
}
a => 5
'
wrong json '{"certname":"web1"}' 'FILE looks like the facts of a node, but has neither "values" nor "facts"'
wrong json '{"certname":"web1","values":null}' 'FILE looks like the facts of a node, but "values" is not a hash'
wrong json '{"certname":"web1","facts":{"href":"/x"}}' 'FILE contains only a link ("href") to the facts of a node, not the facts'
wrong json '[]' 'FILE does not contain facts: the list is empty'
wrong json '5' 'FILE does not contain facts: expected a hash or a list'
wrong json '[1]' 'FILE is a list that contains something other than the facts of named nodes'
wrong json '[{"certname":"x","values":{}},{"certname":"y","values":{}}]' \
    "FILE contains the facts of 2 nodes, but not of 'web1'; select a node with --node"
wrong yaml '--- !ruby/object:Foo
a: 1' 'Could not parse FILE: (FILE): Tried to load unspecified class: Foo'
# A fact may have the same name as a field of a wrapper document.
echo '{"name":"x","certname":"y","kernel":"Linux"}' >"$scratch/plain.json"
run 0 compile --node web1 --facts "$scratch/plain.json" -e 'notify { "$kernel ${facts[certname]}": }'
holds "$out" '"title":"Linux y"'

# The other commands read the same formats.
echo "[{\"certname\":\"web2\",\"values\":{}},{\"certname\":\"web1\",\"values\":$values}]" >"$scratch/fleet.json"
run 0 epp render -e '<%= $facts["a"] + 1 %>' --node web1 --facts "$scratch/fleet.json"
[ "$out" = 6 ] || { echo "FAILED: epp: $out"; failures=$((failures + 1)); }
run 0 eval --node web1 --facts "$scratch/fleet.json" -e '$facts["a"]'
[ "$out" = 5 ] || { echo "FAILED: eval: $out"; failures=$((failures + 1)); }
run 0 apply --noop --node web1 --facts "$scratch/fleet.json" -e "$code"
holds "$out" "defined 'message' as 'Debian 5' \(noop\)"
mkdir -p "$scratch/data"
printf -- 'version: 5\nhierarchy:\n  - {name: f, path: "%%{facts.os.family}.yaml", datadir: %s/data}\n' "$scratch" >"$scratch/hiera.yaml"
echo 'key: found' >"$scratch/data/Debian.yaml"
run 0 lookup --node web1 --facts "$scratch/fleet.json" --hiera_config "$scratch/hiera.yaml" key
holds "$out" 'found'

# The procedure of docs/compiling.md: exports the facts of a fleet from the store, and shows the
# effect of a change on all nodes.
mkdir -p "$scratch/in/puppetdb-bak/facts"
echo '{"timestamp":"2026-11-22T00:00:00Z","command_versions":{"replace_facts":5}}' \
    >"$scratch/in/puppetdb-bak/export-metadata.json"
for n in $(seq 1 40); do
    printf '{"certname":"web%s.example.org","values":{"networking":{"hostname":"web%s","fqdn":"web%s.example.org","ip":"10.0.0.%s"},"os":{"family":"Debian"}},"environment":"production","timestamp":"2026-11-22T00:00:00Z","producer_timestamp":"2026-11-22T00:00:00Z","producer":"p"}' \
        "$n" "$n" "$n" "$n" >"$scratch/in/puppetdb-bak/facts/web$n.example.org.json"
done
tar -czf "$scratch/in.tgz" -C "$scratch/in" puppetdb-bak/export-metadata.json puppetdb-bak/facts
run 0 db import "$scratch/in.tgz"
run 0 db export "$scratch/fleet.tgz"
mkdir "$scratch/archive"
tar -xzf "$scratch/fleet.tgz" -C "$scratch/archive"
dir=$(dirname "$(find "$scratch/archive" -path '*facts*' -name '*.json' | head -1)")
mkdir -p "$scratch"/envs/{production,feature}/manifests
# shellcheck disable=SC2016
for e in production feature; do
    echo 'file { "/etc/${facts[networking][fqdn]}": content => "'$e' ${trusted[certname]}\nip ${facts[networking][ip]}\n" }' \
        >"$scratch/envs/$e/manifests/site.pp"
done
both=(--environmentpath "$scratch/envs" --from-env production --to-env feature)
run 2 diff "${both[@]}" --facts-dir "$dir"
holds "$out" '^40 nodes: 0 the same, 40 different, 0 failed$'
# One change, although the text contains the name of each node.
[ "$(grep -c '^diff ' <<<"$out")" = 1 ] || { echo "FAILED: not grouped: $out"; failures=$((failures + 1)); }
holds "$out" 'File\[/etc/%\{trusted\.certname\}\]'
holds "$out" '^      -production %\{trusted\.certname\}$'
holds "$out" '^       ip %\{facts\.networking\.ip\}$'
run 2 diff "${both[@]}" --facts-dir "$dir" --no-group --node web7.example.org --node web8.example.org
[ "$(grep -c '^diff ' <<<"$out")" = 2 ] || { echo "FAILED: grouped: $out"; failures=$((failures + 1)); }
holds "$out" '^      -production web7\.example\.org$'
# One file may contain the facts of all nodes.
cat "$dir"/*.json | sed 's/^/,/; 1s/^,/[/; $s/$/]/' >"$scratch/all.json"
# shellcheck disable=SC2016
echo 'fail("no, ${trusted[certname]}")' >"$scratch/envs/feature/manifests/site.pp"
run 1 diff "${both[@]}" --facts-dir "$dir"
[ "$(wc -l <<<"$err")" = 1 ] || { echo "FAILED: errors are not grouped: $err"; failures=$((failures + 1)); }
holds "$err" '^Error: Evaluation Error: Error while evaluating a Function Call, no, %\{trusted\.certname\} \(file: .*\) on 40 nodes: web1\.example\.org, '
holds "$out" '^40 nodes: 0 the same, 0 different, 40 failed$'
finish
