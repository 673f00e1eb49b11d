#!/bin/bash
# Compares two catalogs: from files, between environments, for a set of nodes, and with environments
# from a node classifier.
. "${0%/*}/lib.sh"
envs=$scratch/envs
for e in production feature; do mkdir -p "$envs/$e/manifests" "$envs/$e/modules/m"/{manifests,files}; done
cat >"$envs/production/manifests/site.pp" <<'EOF'
node /^db/ { include m }
node default { notify { 'plain': message => $facts['role'] } }
EOF
cp "$envs/production/manifests/site.pp" "$envs/feature/manifests/site.pp"
cat >"$envs/production/modules/m/manifests/init.pp" <<'EOF'
class m {
  file { '/etc/m': content => "one\ntwo\n", mode => '0644' }
  file { '/etc/n': source => 'puppet:///modules/m/n' }
  exec { '/bin/true': }
}
EOF
sed -e 's/two/2/; s/0644/0600/; s,/bin/true,/bin/false,' "$envs/production/modules/m/manifests/init.pp" \
    >"$envs/feature/modules/m/manifests/init.pp"
echo before >"$envs/production/modules/m/files/n"
echo after >"$envs/feature/modules/m/files/n"
mkdir "$scratch/facts"
echo '{"role": "a"}' >"$scratch/facts/web1.json"
printf -- '---\nname: db1\nvalues:\n  role: b\n' >"$scratch/facts/first.yaml"
echo '{"role": "b"}' >"$scratch/facts/db2.json"
both=(--environmentpath "$envs" --from-env production --to-env feature)

run 2 diff "${both[@]}" --node db1 --facts "$scratch/facts/first.yaml" --display-detail-add
holds "$out" '^diff production feature \(db1\)$'
holds "$out" '^- Exec\[/bin/true\]$'
holds "$out" '^\+ Exec\[/bin/false\]'
holds "$out" '^      -two$'
holds "$out" '^      \+ "0600"$'
holds "$out" '^      \+ "after\\n"$|^      \+after$'
run 0 diff "${both[@]}" --node web1 --facts "$scratch/facts/web1.json"
[ -z "$out" ] || { echo "FAILED: output for equal catalogs: $out"; failures=$((failures + 1)); }
run 2 diff "${both[@]}" --facts-dir "$scratch/facts"
holds "$out" '^diff production feature \(db2, db1\)$'
holds "$out" '^3 nodes: 1 the same, 2 different, 0 failed$'
run 0 diff "${both[@]}" --facts-dir "$scratch/facts" --ignore 'Exec[*]' --ignore-attr content --ignore 'File[/etc/*]::mode=+>0600'
holds "$out" '^3 nodes: 3 the same, 0 different, 0 failed$'
run 0 diff "${both[@]}" --no-compare-file-text --node db1 --facts-dir "$scratch/facts" --ignore 'Exec' --ignore 'File[/etc/m]'
run 2 diff "${both[@]}" --json --node db2 --facts-dir "$scratch/facts"
holds "$out" '^\{"from":"production","to":"feature","nodes":\[\{"node":"db2","same":false,"diff":\{"added":\[\{"type":"Exec"'
run 2 diff --from-path "$envs/production" --to-path "$envs/feature" --node db1 --facts "$scratch/facts/first.yaml"
run 2 diff "${both[@]}" --node web1 --facts "$scratch/facts/web1.json" --to-fact-override role=other
holds "$out" '^      \+ "other"$'

# Files: catalogs of agents, wire formats, and a mix of both.
run 0 compile --environmentpath "$envs" --node db1 --facts "$scratch/facts/first.yaml"
echo "$out" >"$scratch/old.json"
run 0 compile --environmentpath "$envs" --environment feature --node db1 --facts "$scratch/facts/first.yaml"
echo "$out" >"$scratch/new.json"
run 0 compile --environmentpath "$envs" --node db1 --facts "$scratch/facts/first.yaml" --format wire-v9
echo "$out" >"$scratch/wire.json"
run 2 diff "$scratch/old.json" "$scratch/new.json"
run 0 diff "$scratch/old.json" "$scratch/wire.json"
run 2 diff "$scratch/old.json" --to-env feature --environmentpath "$envs" --node db1 --facts "$scratch/facts/first.yaml"

# Invalid input.
run 1 diff "$scratch/old.json"
holds "$err" 'Two catalogs are needed'
run 1 diff "$scratch/old.json" "$scratch/none.json"
holds "$err" 'Could not read .*/none.json'
echo '{"resources": 1}' >"$scratch/bad.json"
run 1 diff "$scratch/old.json" "$scratch/bad.json"
holds "$err" 'bad.json does not contain a catalog: '
run 1 diff "${both[@]}" --to-env nowhere --node db1 --facts "$scratch/facts/first.yaml"
holds "$err" "Could not find a directory environment named 'nowhere' anywhere in the path: .*/envs. Does the directory exist\?"
echo 'class m { fail("not here") }' >"$envs/feature/modules/m/manifests/init.pp"
run 1 diff "${both[@]}" --facts-dir "$scratch/facts"
holds "$err" 'not here .* on 2 nodes: db2, db1$'
holds "$out" '^3 nodes: 1 the same, 0 different, 2 failed$'

# A node classifier returns classes with parameters, and the environment.
cat >"$scratch/enc" <<'EOF'
#!/bin/sh
[ "$1" = none ] && exit 0
[ "$1" = bad ] && { echo oops; exit 3; }
printf -- '---\nclasses: {e: {x: 1}}\nparameters: {p: q}\nenvironment: feature\n'
EOF
chmod +x "$scratch/enc"
mkdir -p "$envs/feature/modules/e/manifests"
echo 'class e($x) { notify { "${x} ${p} ${environment}": } }' >"$envs/feature/modules/e/manifests/init.pp"
enc=(--environmentpath "$envs" --node_terminus exec --external_nodes "$scratch/enc" --facts "$scratch/facts/web1.json")
run 0 compile --node web1 "${enc[@]}"
holds "$out" '"title":"1 q feature"'
run 1 compile --node bad "${enc[@]}"
holds "$err" "^Error: Failed when searching for node bad: Failed to find bad via exec: Execution of '.*/enc bad' returned 3: oops$"
run 1 compile --node none "${enc[@]}"
holds "$err" "^Error: Could not find node 'none'; cannot compile$"
run 1 compile --node x "${enc[@]}" --external_nodes enc
holds "$err" 'You must set the exec parameter to a fully qualified command$'

# The recorded inputs of a compile.
run 0 compile --environmentpath "$envs" --node db1 --facts "$scratch/facts/first.yaml" --inputs "$scratch/inputs" \
    -e 'include m notice(lookup("some::key", {default_value => 1}), file("m/n"))'
holds "$(<"$scratch/inputs")" '^\{"node":"db1","environment":"production","reads":\{"definition":\["[^"]*/m/manifests/init.pp#class m"\],'
holds "$(<"$scratch/inputs")" '"file":\[.*/m/files/n"'
holds "$(<"$scratch/inputs")" '"missing":\[.*/production/hiera.yaml"'

# environment.conf: config_version, and unknown settings.
printf '%s\n' 'config_version = "bin/version $environment"' 'nonsense = 1' 'modulepath = modules:$basemodulepath' \
    >"$envs/production/environment.conf"
mkdir "$envs/production/bin"
printf '#!/bin/sh\necho "v1 $1"\n' >"$envs/production/bin/version"
chmod +x "$envs/production/bin/version"
run 0 compile --environmentpath "$envs" --node web1 --facts "$scratch/facts/web1.json"
holds "$out" '"version":"v1 production"'
holds "$err" 'The following unknown setting\(s\) are being ignored: nonsense$'
printf '#!/bin/sh\necho no; exit 4\n' >"$envs/production/bin/version"
run 1 compile --environmentpath "$envs" --node web1 --facts "$scratch/facts/web1.json"
holds "$err" "Execution of config_version command \`.*/bin/version production\` failed: Execution of '.*/bin/version production' returned 4: no"
finish
