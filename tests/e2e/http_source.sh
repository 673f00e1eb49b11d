#!/bin/bash
# Files with an HTTP source, applied twice: checks the messages, the requests to the server and the
# resulting files. The behaviour is that of Puppet 8.11 (of OpenVox 8.26 for entity tags), except that
# each URL is requested once,
# that the message for a refused connection differs, and that `source_permissions => use` does not
# fail if there is no owner.
. "${0%/*}/lib.sh"
here=$SOURCE/tests/e2e/http_source
mkdir -p "$scratch/web" "$scratch/top"
python3 -B "$here/server.py" "$scratch/web" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do [ -f "$scratch/web/port" ] && break; sleep 0.05; done
port=$(<"$scratch/web/port")
export FACTER_port=$port FACTER_top=$scratch/top
{
    for _ in 1 2; do
        "$BUNRAKU" apply "$here/site.pp" --detailed-exitcodes --basemodulepath "$scratch/none" "${places[@]}" 2>&1
        echo "== $?"
    done
    cd "$scratch/top" && stat -c '%n %a %s' ./*
    sort "$scratch/web/asked" | uniq -c
} | sed -E "/(Compiled|Applied) catalog/d; s#127.0.0.1:$port#HOST#g; s#$scratch#DIR#g; s#$here#HERE#g
    s/\{mtime\}[0-9: -]+[+-][0-9]{4}/{mtime}TIME/g; s/^ +//" >"$scratch/said"
[ "${1:-}" = --show ] && cat "$scratch/said" && exit
if ! diff "$here/expected" "$scratch/said" >"$scratch/diff"; then
    printf 'FAILED:\n%s\n' "$(<"$scratch/diff")"
    failures=$((failures + 1))
fi
finish
