#!/bin/bash
# Nodes exchange exported resources through the store. Two nodes that export the same resource
# conflict.
. "${0%/*}/lib.sh"
cat >"$scratch/site.pp" <<'PP'
node a, d { @@host { $trusted['certname']: ip => '192.0.2.1', tag => 'x' } }
node c    { @@host { 'a': ip => '192.0.2.3', tag => 'x' } }
node c2   { }
node b    { Host <<| tag == 'x' |>> }
PP
compile() { run "$1" compile --node "$2" --setting storeconfigs=true "${@:3}" "$scratch/site.pp"; }

compile 0 a
lacks "$out" '"type":"Host"'
compile 0 b
holds "$out" '"type":"Host","title":"a"'
holds "$out" '"ip":"192.0.2.1"'

# A third node exports the same title. The error names both nodes, and no catalog is printed.
compile 0 c
compile 1 b
holds "$err" 'Host\[a\]'
holds "$err" '\ba\b.*\bc\b|\bc\b.*\ba\b'
[ -z "$out" ] || { echo "FAILED: output in spite of an error"; failures=$((failures + 1)); }

# The compile of the second exporter warned about both source locations and the collecting node.
# `catalog exports` lists the conflict.
compile 0 c
holds "$err$out" 'Host\[a\]: exported by a at .*site.pp.* and exported by c at .*site.pp.*, collected by b'
run 0 catalog exports
holds "$out" '^Host  collected by b where \["=","tag","x"\]'
holds "$out" '^Host\[a\]  exported by a \(.*site.pp:1\), c \(.*site.pp:2\); collected by b'
run 0 catalog exports --json
holds "$out" '"clashes":\[\{"type":"Host","title":"a"'
# With strict_exports, the second exporter fails.
compile 1 c --setting strict_exports=true
holds "$err" 'A duplicate resource was found while collecting exported resources.*exported by a at '
compile 0 a

# The exporter's next catalog no longer contains the resource.
sed -i "s/^node c  .*/node c { }/" "$scratch/site.pp"
compile 0 c
compile 0 b
holds "$out" '"type":"Host","title":"a"'

# A deactivated node exports nothing until its next catalog.
run 0 node deactivate a
compile 0 b
lacks "$out" '"type":"Host"'
compile 0 a
compile 0 b
holds "$out" '"type":"Host","title":"a"'

# A Sensitive value gets from the exporter to the collector, and is stored nowhere in plain text.
secret='@@user { "u": password => Sensitive("Pl4nted-5ecret"), tag => "s" }'
run 0 compile --node e --setting storeconfigs=true -e "$secret"
run 0 compile --node f --setting storeconfigs=true -e 'User <<| tag == "s" |>>'
holds "$out" 'Pl4nted-5ecret'
run 0 db query 'resources { title = "u" }'
lacks "$out" 'Pl4nted-5ecret'
run 0 db export "$scratch/state/all.tgz"
gzip -dc "$scratch/state/all.tgz" >"$scratch/state/all.tar"
grep -raq '"u"' "$scratch/state/all.tar" || { echo "FAILED: no resource in the archive"; failures=$((failures + 1)); }
lacks "$(grep -ral Pl4nted-5ecret "$scratch/state" "$scratch/var")" .
# Without the key, collecting fails, and the error names the setting.
run 0 db key
holds "$out" '^[0-9a-f]{16}$'
chmod 644 "$scratch/etc/ssl/store.key"
run 1 compile --node f --setting storeconfigs=true -e 'User <<| tag == "s" |>>'
holds "$err" 'store.key \(setting store_key\): other users can read or write it'
chmod 600 "$scratch/etc/ssl/store.key"
run 1 compile --node f --setting storeconfigs=true --setting store_key="$scratch/other.key" -e 'User <<| tag == "s" |>>'
holds "$err" 'setting store_key'

# A compile that fails stores nothing.
run 1 compile --node a --setting storeconfigs=true -e 'fail("no")'
compile 0 b
holds "$out" '"type":"Host","title":"a"'

# History: one version for each catalog that differed from its predecessor.
run 0 catalog log c
holds "$out" '^[0-9T:.-]+Z  \+0 -1 +production'
holds "$out" '^[0-9T:.-]+Z  first stored catalog'
[ "$(wc -l <<<"$out")" -eq 2 ] || { echo "FAILED: catalog log c: $out"; failures=$((failures + 1)); }
first=$(tail -1 <<<"$out" | cut -d' ' -f1)
run 0 catalog diff c
holds "$out" '^- Host\[a\]'
run 0 catalog diff "c@$first" c@now --json
holds "$out" '"removed":\["?.*Host'
run 0 catalog show "c@$first"
holds "$out" '"type":"Host","title":"a",.*"ip":"192.0.2.3"'
run 0 catalog show c
lacks "$out" '"type":"Host"'
run 1 catalog show c@2001-01-01
holds "$err" 'No catalog of c at 2001-01-01 is known'
run 1 catalog show c@yesterday
holds "$err" "Invalid time 'yesterday'"
run 1 catalog log nobody
holds "$err" 'No catalog of nobody is known'
run 1 catalog diff c2
holds "$err" 'No catalog of c2 is known|Fewer than two catalogs of c2 are known'
run 1 catalog log
run 0 catalog drift --json
holds "$out" '^\[\]$'
run 1 catalog drift --by moon
finish
