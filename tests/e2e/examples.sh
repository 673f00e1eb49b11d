#!/bin/bash
# Applies the examples. The first run makes changes, the second none. A noop run changes nothing.
. "${0%/*}/lib.sh"
web=(apply --detailed-exitcodes --modulepath "$SOURCE/examples/webserver/modules"
    "$SOURCE/examples/webserver/site.pp")
run 0 "${web[@]}" --noop
holds "$out" 'ensure: created \(noop\)'
[ ! -e "$scratch/www" ] || { echo "FAILED: a noop run made changes"; failures=$((failures + 1)); }
run 2 "${web[@]}"
holds "$out" "Exec\[reload webserver\]: Triggered 'refresh' from 3 events"
holds "$(<"$scratch/www/conf/sites/shop.example.org.conf")" 'server_name shop.example.org www.shop.example.org;'
[ ! -e "$scratch/users/eve" ] || { echo "FAILED: a guest got a home directory"; failures=$((failures + 1)); }
run 0 "${web[@]}"
lacks "$out" 'ensure:'

for node in web1 web2 monitor; do
    run 0 apply --storeconfigs --certname "$node.example.org" "$SOURCE/examples/exchange/site.pp"
done
holds "$(<"$scratch/monitor.example.org/hosts")" '^192\.0\.2\.12\s+web2\.example\.org\s+web2$'
holds "$(<"$scratch/monitor.example.org/checks/web1.example.org.cfg")" 'check_http -H 192.0.2.11 -p 8080'

# script/run demonstrates an installed program, and builds nothing.
export -n FACTER_scratch
BUNRAKU_BINARY=$BUNRAKU "$SOURCE/script/run" "$scratch/demonstration" >"$scratch/out" 2>"$scratch/err" || {
    cat "$scratch/err"
    echo "FAILED: script/run"
    failures=$((failures + 1))
}
out=$(<"$scratch/out")
lacks "$out" 'Building'
holds "$out" '^\[14, 28, 42\]$'
holds "$out" '^      192\.0\.2\.12\s+web2\.example\.org\s+web2$'
if BUNRAKU_BINARY=/bin/false "$SOURCE/script/run" "$scratch/none" >"$scratch/out" 2>"$scratch/err"; then
    echo "FAILED: script/run took another program"
    failures=$((failures + 1))
fi
holds "$(<"$scratch/err")" '^BUNRAKU_BINARY is not a program of Bunraku: /bin/false$'
finish
