#!/usr/bin/env bash
# `facts`: show, find, info, diff, and upload to a server.
. "$SOURCE/tests/e2e/lib.sh"
is() { [ "$1" = "$2" ] || { printf 'FAILED: %s is not %s\n' "$1" "$2"; failures=$((failures + 1)); }; }
mkdir "$scratch/ext"
echo '{"site": {"name": "north", "racks": [1, "two"]}, "empty": {}}' >"$scratch/ext/site.json"
own=(--external-dir "$scratch/ext" --no-custom-facts)

# show, in every format, as `puppet facts show` of 8.11 prints it.
run 0 facts show site.name kernel "${own[@]}"
is "$out" '{
  "kernel": "Linux",
  "site.name": "north"
}'
run 0 facts site --render-as json "${own[@]}"
is "$out" '{"site":{"name":"north","racks":[1,"two"]}}'
run 0 facts site --render-as yaml "${own[@]}"
is "$out" '---
site:
  name: north
  racks:
  - 1
  - two'
run 0 facts site --render-as flat "${own[@]}"
is "$out" 'site.name=north
site.racks.0=1
site.racks.1=two'
run 0 facts --value-only site.racks.1 "${own[@]}"
is "$out" two
run 0 facts --value-only --render-as json site.racks.1 "${own[@]}"
is "$out" '"two"'
run 0 facts --value-only --render-as flat site "${own[@]}"
is "$out" 'name=north
racks.0=1
racks.1=two'
run 0 facts xen "${own[@]}"
is "$out" '{
  "xen": ""
}'
run 0 facts ipaddress_lo --timing "${own[@]}"
holds "$out" "^fact 'site.json', took: \([0-9.]+\) seconds$"
run 1 facts show --render-as xx
is "$err" "Error: Could not parse application options: I don't know how to render 'xx'"
echo 'facts : { blocklist : [ "kernel" ] }' >"$scratch/facter.conf"
run 0 facts --value-only kernel --config-file "$scratch/facter.conf" "${own[@]}"
is "$out" ''
run 0 facts --value-only kernel --config-file "$scratch/facter.conf" --no-block "${own[@]}"
is "$out" Linux

# Executable external facts that print nothing, or nothing that is a fact, leave out only themselves.
mkdir "$scratch/quiet"
echo 'loud=yes' >"$scratch/quiet/z.txt"
count=0
for output in '' '\n' '---\n' '# only a comment\n' 'null\n' '\0' '\357\273\277' '- a\n' 'a\n' '=a\n'; do
    count=$((count + 1))
    # shellcheck disable=SC2059
    printf "${output/#-/\\055}" >"$scratch/quiet/.$count"
    printf '#!/bin/sh\ncat "%s"\n' "$scratch/quiet/.$count" >"$scratch/quiet/$count.sh"
    chmod 755 "$scratch/quiet/$count.sh"
done
quiet=(--external-dir "$scratch/quiet" --no-custom-facts)
run 0 facts show loud "${quiet[@]}"
is "$out" '{
  "loud": "yes"
}'
is "$err" ''
run 0 facts show loud --debug "${quiet[@]}"
is "$(grep -c "Structured data fact file $scratch/quiet/[0-9]*.sh was parsed but was either empty or an invalid filetype" <<<"$out$err")" $count
mkdir -p "$scratch/quiet_site/m"
cp -r "$scratch/quiet" "$scratch/quiet_site/m/facts.d"
run 0 apply --modulepath "$scratch/quiet_site" -e 'notice($facts["loud"])'
holds "$out" 'Scope\(Class\[main\]\): yes$'
lacks "$err" facts.d

# find: Puppet's facts document.
run 0 facts find --certname web.example "${own[@]}"
holds "$out" '^  "name": "web.example",$'
holds "$out" '^    "clientcert": "web.example",$'
holds "$out" '^  "expiration": "20[0-9T:.+-]+"$'
lacks "$out" '"osfamily"'
run 0 facts find other --render-as yaml --include_legacy_facts "${own[@]}"
holds "$out" '^--- !ruby/object:Puppet::Node::Facts$'
holds "$out" '^name: other$'
holds "$out" '^  osfamily: '
mkdir -p "$scratch/kept/facts"
printf -- '--- !ruby/object:Puppet::Node::Facts\nname: web1\nvalues:\n  role: web\n' >"$scratch/kept/facts/web1.yaml"
run 0 facts find web1 --terminus yaml --clientyamldir "$scratch/kept"
holds "$out" '"role": "web"'
run 0 facts find web2 --terminus yaml --clientyamldir "$scratch/kept"
is "$out" ''
run 1 facts find web2 --terminus bla
holds "$err" "^Error: Could not set 'facts' terminus to 'bla' \(Could not find terminus bla for indirection facts\)"
run 1 facts find a b
holds "$err" '^Error: .* facts find takes 1 argument, but you gave 2$'
run 0 facts info
is "$out" "Run mode 'user': facter"
run 0 facts info --render-as json
is "$out" "\"Run mode 'user': facter\""
run 1 facts info x
holds "$err" 'facts info takes 0 arguments, but you gave 1$'
holds "$err" "^Error: Try '.* help facts info' for usage$"

# diff: from a file to now, and between two files.
echo '{"a": {"b": 1, "c": [1, 2]}, "gone": true}' >"$scratch/one.json"
echo '{"a": {"b": 2, "c": [1, 2, 3]}, "new": "x"}' >"$scratch/two.json"
run 2 facts diff "$scratch/one.json" "$scratch/two.json" --render-as json
is "$out" '{"a.b":{"new_value":2,"old_value":1},"a.c.2":{"new_value":3},"gone":{"old_value":true},"new":{"new_value":"x"}}'
run 2 facts diff "$scratch/one.json" "$scratch/two.json" --exclude '^a\.' --exclude gone --render-as flat
is "$out" 'new.new_value=x'
run 0 facts diff "$scratch/one.json" "$scratch/one.json"
is "$out" '{
}'
run 0 facts find "${own[@]}"
echo "$out" >"$scratch/now.json"
run 0 facts diff "$scratch/now.json" "${own[@]}" --exclude '^(memory|load_averages|system_uptime|mountpoints)\.'
echo '{"site": {"name": "south"}}' >"$scratch/ext/site.json"
run 2 facts diff "$scratch/now.json" "${own[@]}" --exclude '^(memory|load_averages|system_uptime|mountpoints)\.' \
    --render-as flat
is "$out" 'empty.old_value={}
site.name.new_value=south
site.name.old_value=north
site.racks.0.old_value=1
site.racks.1.old_value=two'
run 1 facts diff "$scratch/none.json"
run 1 facts diff "$scratch/one.json" --exclude '['
holds "$err" "Invalid pattern '\['"

# upload: with the certificate of the agent, to the server of the agent.
run 1 facts upload --server localhost "${own[@]}"
holds "$err" "^Error: Failed to initialize SSL: The CA certificates are missing from '$scratch/etc/ssl/certs/ca.pem'$"
holds "$err" '^Error: Run `puppet agent -t`$'
"$BUNRAKU" server --https 127.0.0.1:0 --certname localhost --autosign true --cadir "$scratch/server-ca" \
    --confdir "$scratch/server-etc" --ssldir "$scratch/server-ssl" \
    --vardir "$scratch/server-var" --statedir "$scratch/server-state" >"$scratch/server.out" 2>"$scratch/server.err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 200); do
    [ -s "$scratch/server.out" ] && break
    sleep 0.05
done
port=$(grep -oE 'https://[^ ]*:[0-9]+' "$scratch/server.out" | grep -oE '[0-9]+$' | head -1)
agent=(--server localhost --serverport "$port" --ca_port "$port" --certname web1)
run 0 agent --onetime --no-daemonize --noop --no-usecacheonfailure --no-pluginsync "${agent[@]}"
run 0 facts upload "${agent[@]}" "${own[@]}"
is "$out" "Notice: Uploading facts for 'web1' to 'localhost'"
is "$err" ''
kill -TERM $server
wait $server
places=(--confdir "$scratch/etc" --ssldir "$scratch/etc/ssl" --vardir "$scratch/var" --statedir "$scratch/server-state")
run 0 facts find web1 --terminus puppetdb
holds "$out" '"name": "south"'
run 0 facts find web7 --terminus puppetdb
is "$out" ''
run 1 facts upload "${agent[@]}" "${own[@]}"
holds "$err" "$port"
finish
