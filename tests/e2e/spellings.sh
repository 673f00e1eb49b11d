#!/usr/bin/env bash
# Spellings of paths against rules of auth.conf. For each path, `spellings/recorded` contains the
# responses of puppetserver 8.7 to web1, which the rules allow, and to web2. No spelling that
# puppetserver refuses is served here, and every plain path is served. `tests/peer/run spellings`
# records the responses.
. "$SOURCE/tests/e2e/lib.sh"
command -v openssl >/dev/null || { echo "skipped: openssl is not installed"; exit 0; }
here=$SOURCE/tests/e2e/spellings
. "$here/site.sh"
spelling_modules "$scratch/code/environments/production/modules"
site=(--confdir "$scratch/etc" --ssldir "$scratch/ssl" --cadir "$scratch/ca" --vardir "$scratch/var"
    --codedir "$scratch/code" --setting certname=localhost --setting auth_config="$here/auth.conf")
"$BUNRAKU" server --roles ca,compiler --https 127.0.0.1:0 --statedir "$scratch/state" "${site[@]}" \
    >"$scratch/url" 2>"$scratch/err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 200); do [ -s "$scratch/url" ] && break; sleep 0.05; done
spelling_clients "$scratch/ca" "$scratch/made" || { echo "FAILED: a client has no certificate"; exit 1; }
python3 -B "$here/ask.py" "$(sed 's/.*://' "$scratch/url")" "$scratch/made" "${SPELLINGS:-$here/recorded}" ${ASK:-} || failures=1
finish
