#!/bin/bash
# The catalog face of Puppet, as `puppet catalog ..` provides it and as octocatalog-diff 2.1.0 calls
# it. Texts are those of Puppet 8.11.
. "${0%/*}/lib.sh"
ln -s "$BUNRAKU" "$scratch/puppet"
BUNRAKU=$scratch/puppet
envs=$scratch/envs
mkdir -p "$envs/production/manifests" "$envs/latin/manifests" "$scratch"/var/{yaml,client_yaml}/facts \
    "$scratch/var/server_data/facts"
cat >"$envs/production/manifests/site.pp" <<'EOF'
node 'web1' {
  notify { "${facts['os']['family']} ${trusted['certname']} ${server_facts['serverversion']}": }
  file { '/tmp/a': }
  notice('noticed')
  warning('warned')
}
node default { notify { "nobody ${facts}": } }
EOF
printf 'notify { "caf\xe9": }\n' >"$envs/latin/manifests/site.pp"
facts() { # facts FAMILY: prints a facts file as Puppet writes it.
    printf -- '--- !ruby/object:Puppet::Node::Facts\nname: web1\nvalues:\n  os:\n    family: %s\n' "$1"
    printf 'timestamp: "2026-11-22T18:46:27.879261814+00:00"\nexpiration: 2026-11-22 19:16:27.879262706 +00:00\n'
}
facts Debian >"$scratch/var/yaml/facts/web1.yaml"
facts RedHat >"$scratch/var/client_yaml/facts/web1.yaml"
echo '{"name": "web1", "values": {"os": {"family": "Suse"}}}' >"$scratch/var/server_data/facts/web1.json"
yaml=(--environmentpath "$envs" --facts_terminus yaml)

run 0 catalog compile web1 "${yaml[@]}"
holds "$out" '^Notice: Scope\(Node\[web1\]\): noticed$'
holds "$out" '^Notice: Compiled catalog for web1 in environment production in [0-9.]+ seconds$'
holds "$out" '^      "title": "Debian  8\.28\.1",$'
holds "$out" '^  "name": "web1",$'
[ "$err" = 'Warning: Scope(Node[web1]): warned' ] || { echo "FAILED: errors: $err"; failures=$((failures + 1)); }
# A node without facts does not get the facts of this machine.
run 0 catalog compile web2 "${yaml[@]}"
holds "$out" '"title": "nobody \{\}"'
run 0 catalog compile web1 --environmentpath "$envs" --facts_terminus json
holds "$out" '"title": "Suse '
run 0 catalog compile web1 --environmentpath "$envs" --facts <(facts Debian | sed 's/os:/os: {family: Arch}\n  x:/')
holds "$out" '"title": "Arch '
run 0 catalog find web1 "${yaml[@]}"
holds "$out" '"title": "RedHat '
run 0 catalog select web1 file "${yaml[@]}"
holds "$out" '^File\[/tmp/a\]$'
lacks "$out" 'Notify'
run 0 catalog select web1 '*' "${yaml[@]}" --render-as json
holds "$out" '^\[\{"type":"Stage","title":"main"'

# Output formats.
run 0 catalog compile web1 "${yaml[@]}" --render-as json
holds "$out" '^\{"tags":\["settings","web1","node"\],"name":"web1","version":[0-9]+,"code_id":null,'
run 0 catalog compile web1 "${yaml[@]}" --render-as yaml
holds "$out" '^--- !ruby/object:Puppet::Resource::Catalog$'
holds "$out" '^- source: Node\[web1\]$'
mkdir -p "$scratch/var/client_yaml/catalog"
sed '/^Notice/d' <<<"$out" >"$scratch/var/client_yaml/catalog/web1.yaml"
run 0 catalog select web1 file --terminus yaml
[ "$out" = 'File[/tmp/a]' ] || { echo "FAILED: from the file: $out"; failures=$((failures + 1)); }
run 0 catalog find web2 --terminus yaml
[ -z "$out$err" ] || { echo "FAILED: a missing catalog: $out$err"; failures=$((failures + 1)); }
run 0 catalog compile web1 "${yaml[@]}" --render-as dot
holds "$out" '^    "Node\[web1\]" -> "File\[/tmp/a\]" \[$'
run 0 catalog info
[ "$out" = "Run mode 'user': compiler" ] || { echo "FAILED: info: $out"; failures=$((failures + 1)); }

# Invalid calls, with Puppet's messages.
refused() { # refused TEXT ARGS...
    local text=$1
    shift
    run 1 "$@"
    grep -qxF -- "$text" <<<"$err" || { printf 'FAILED: %s: no "%s" in\n%s\n' "$*" "$text" "$err"; failures=$((failures + 1)); }
}
refused "Error: puppet catalog select takes 2 arguments, but you gave 1" catalog select web1
refused "Error: 'catalog' has no 'frob' action.  See \`puppet help catalog\`." catalog frob
refused "Error: puppet catalog save takes 1 argument, but you gave 0" catalog save
refused "Error: Could not parse application options: I don't know how to render 'nope'" \
    catalog compile web1 --render-as nope
refused "Error: Could not set 'catalog' terminus to 'nope' (Could not find terminus nope for indirection catalog); valid terminus types are compiler, json, msgpack, puppetdb, rest, store_configs, yaml" \
    catalog find web1 --terminus nope
refused "Error: Could not find a directory environment named 'nope' anywhere in the path: $envs. Does the directory exist?" \
    catalog compile web1 "${yaml[@]}" --environment nope
refused "Error: Could not call 'find' on 'catalog': Failed when searching for node ../web1: Could not retrieve facts for ../web1: invalid key" \
    catalog compile ../web1 "${yaml[@]}"
refused "Error: Could not parse for environment latin: invalid byte sequence in UTF-8 on node web1" \
    catalog compile web1 "${yaml[@]}" --environment latin
refused "Error: Try 'puppet help catalog compile' for usage" catalog compile web1 "${yaml[@]}" --environment latin
printf -- '--- !ruby/object:Puppet::Node::Facts\nname: web3\nvalues: [' >"$scratch/var/yaml/facts/web3.yaml"
refused "Error: Failed when searching for node web3: Could not retrieve facts for web3: Could not parse YAML data for facts web3: ($scratch/var/yaml/facts/web3.yaml): did not find expected node content while parsing a flow node at line 4 column 1" \
    catalog compile web3 "${yaml[@]}"

# The folder layout and the calls of octocatalog-diff: one folder for everything, a routes.yaml, and
# a PuppetDB that must not get the catalog.
build=$scratch/build
mkdir -p "$build"/{environments,facts} "$build"/var/{ssl,yaml/facts}
ln -s "$envs/production" "$build/environments/production"
facts Gentoo | sed '/^timestamp\|^expiration/d' >"$build/var/yaml/facts/web1.yaml"
printf '[main]\nserver_urls = https://127.0.0.1:9\n' >"$build/puppetdb.conf"
cat >"$build/routes.yaml" <<'EOF'
---
master:
  facts:
    terminus: yaml
    cache: yaml
  catalog:
    cache: json
EOF
printf -- '---\nversion: 5\nhierarchy: []\n' >"$build/hiera.yaml"
saved=("${places[@]}")
places=()
for stores in --no-storeconfigs '--storeconfigs --storeconfigs_backend=puppetdb'; do
    # shellcheck disable=SC2086
    run 0 catalog compile web1 $stores "--factpath=$build/var/yaml/facts" --facts_terminus=yaml \
        --no-daemonize --color=false --environment=production "--hiera_config=$build/hiera.yaml" \
        "--environmentpath=$build/environments" "--vardir=$build/var" "--logdir=$build/var" \
        "--ssldir=$build/var/ssl" "--confdir=$build"
    holds "$out" '"title": "Gentoo  8\.28\.1"'
done
run 0 --version
holds "$out" '^[0-9.]+$'
places=("${saved[@]}")

# The catalog is found, applied, and reported as JSON.
# shellcheck disable=SC2016
echo 'file { "${facts[scratch]}/applied": content => $trusted[certname] }' >"$envs/production/manifests/site.pp"
run 0 catalog apply --environmentpath "$envs" --certname web9
holds "$(<"$scratch/applied")" '^web9$'
holds "$out" '^Notice: Compiled catalog for web9 in environment production in '
holds "$out" '^  "host": "web9",$'
holds "$out" '^  "status": "changed",$'
refused "Error: Could not find catalog for web9" catalog apply --terminus json --certname web9

# An argument of `compile` that is a manifest is still a manifest.
echo 'notify { "by hand": }' >"$scratch/hand.pp"
run 0 compile --node web1 "$scratch/hand.pp"
holds "$out" '"title":"by hand"'
finish
