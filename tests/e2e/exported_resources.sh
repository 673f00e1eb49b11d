#!/bin/bash
# Nodes that learn from each other through the store, and what happens when two export the same.
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

# A third node exports the same title: both sides are named, nothing is printed.
compile 0 c
compile 1 b
holds "$err" 'Host\[a\]'
holds "$err" '\ba\b.*\bc\b|\bc\b.*\ba\b'
[ -z "$out" ] || { echo "FAILED: output beside an error"; failures=$((failures + 1)); }

# Its next catalog no longer has it.
sed -i "s/^node c  .*/node c { }/" "$scratch/site.pp"
compile 0 c
compile 0 b
holds "$out" '"type":"Host","title":"a"'

# A node that is deactivated exports nothing; its next catalog brings it back.
run 0 node deactivate a
compile 0 b
lacks "$out" '"type":"Host"'
compile 0 a
compile 0 b
holds "$out" '"type":"Host","title":"a"'

# A compile that fails stores nothing.
run 1 compile --node a --setting storeconfigs=true -e 'fail("no")'
compile 0 b
holds "$out" '"type":"Host","title":"a"'
finish
