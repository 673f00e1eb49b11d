#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the console in Chromium: starts a server, fills it, and runs browser.mjs. Skipped (77) without
# Chromium or without the packages of package-lock.json, unless BUNRAKU_NO_SKIP is set.
#   BUNRAKU=build/release/bunraku tests/console/run.sh [NODES] [BROWSER OPTIONS]
# The pictures of the manual: tests/console/run.sh 1000 --pictures docs/console
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
nodes=${1:-300}
shift || true
skip() {
    echo "skipped: $*"
    [ -z "${BUNRAKU_NO_SKIP:-}" ] || exit 1
    exit 77
}
browser=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
command -v node >/dev/null || skip "node is not installed"
[ -d "$here/node_modules/playwright-core" ] || skip "run npm ci in tests/console"

scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT
export HOME=$scratch
places=(--confdir "$scratch/etc" --vardir "$scratch/var" --statedir "$scratch/state")
mkdir -p "$scratch/etc"
# Nothing of this machine: neither its certificates nor its modules.
printf '[main]\nssldir = %s/ssl\nbasemodulepath = %s/none\n[server]\ncadir = %s/ca\n' "$scratch" "$scratch" "$scratch" >"$scratch/etc/puppet.conf"
printf 'web1.example.org\ndb2.example.org\n' >"$scratch/etc/autosign.conf"
"$here/generate_code.sh" "$scratch/code"
"$BUNRAKU" forge "${places[@]:4}" create --repo test >/dev/null
"$BUNRAKU" forge "${places[@]:4}" upload --repo test "$scratch"/code/modules/*.tar.gz >/dev/null
"$BUNRAKU" forge "${places[@]:4}" publish --repo test >/dev/null
# start PORT: starts the server and sets url.
start() {
    : >"$scratch/out"
    "$BUNRAKU" server --roles ca,store,forge,console --environmentpath "$scratch/code/environments" \
        --http "127.0.0.1:$1" "${places[@]}" >"$scratch/out" 2>"$scratch/err" &
    server=$!
    until url=$(grep -o 'is ready: .*' "$scratch/out" | cut -d' ' -f3) && [ -n "$url" ]; do
        kill -0 "$server" || { cat "$scratch/err"; exit 1; }
        sleep 0.1
    done
}
start 0
token=$("$BUNRAKU" token create --name test --role admin "${places[@]}" 2>/dev/null)
python3 -B "$here/generate_fleet.py" "$url" --nodes "$nodes" --runs 5
# Waits until the queue is empty.
until curl -sf "$url/status/v1/services/puppetdb-status" | grep -q '"queue_depth":0'; do sleep 0.2; done
"$here/generate_rollouts.py" "$url" "$scratch/code/environments" "$(find "$scratch" -name '*.sqlite3' | head -1)"
# Two nodes have certificates, and the request of another waits.
for name in web1.example.org db2.example.org new.example.org; do
    openssl req -new -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout "$scratch/key.pem" -out "$scratch/request.pem" 2>/dev/null
    curl -sf -X PUT -H 'Content-Type: text/plain' --data-binary "@$scratch/request.pem" \
        "$url/puppet-ca/v1/certificate_request/$name" >/dev/null
done
# The tasks come first, because browser.mjs adds nodes.
node "$here/tasks.mjs" "$url" "$token" --chromium "$browser"
node "$here/browser.mjs" "$url" "$token" --chromium "$browser" "$@"
# Pictures need no restart.
[ $# -eq 0 ] || exit 0
coproc pages { node "$here/restart.mjs" "$url" "$token" --chromium "$browser"; }
tabs=$pages_PID
while read -r step <&"${pages[0]}"; do
    case $step in
        stop) kill "$server"; wait "$server" || true ;;
        start) start "${url##*:}" ;;
        *) echo "$step"; continue ;;
    esac
    echo done >&"${pages[1]}"
done
wait "$tabs"
