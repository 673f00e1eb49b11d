#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the console in Chromium: starts a server, fills it, and runs browser.mjs. Skipped (77) without
# Chromium or without the packages of package-lock.json, unless BUNRAKU_NO_SKIP is set.
#   BUNRAKU=build/release/bunraku tests/console/run.sh [NODES] [BROWSER OPTIONS]
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
"$here/generate_code.sh" "$scratch/code"
"$BUNRAKU" forge "${places[@]:4}" create --repo test >/dev/null
"$BUNRAKU" forge "${places[@]:4}" upload --repo test "$scratch"/code/modules/*.tar.gz >/dev/null
"$BUNRAKU" forge "${places[@]:4}" publish --repo test >/dev/null
: >"$scratch/out"
"$BUNRAKU" server --roles store,forge,console --environmentpath "$scratch/code/environments" --http 127.0.0.1:0 "${places[@]}" >"$scratch/out" 2>"$scratch/err" &
server=$!
until url=$(grep -o 'is ready: .*' "$scratch/out" | cut -d' ' -f3) && [ -n "$url" ]; do
    kill -0 "$server" || { cat "$scratch/err"; exit 1; }
    sleep 0.1
done
token=$("$BUNRAKU" token create --name test --role admin "${places[@]}" 2>/dev/null)
python3 -B "$here/generate_fleet.py" "$url" --nodes "$nodes" --runs 5
# Waits until the queue is empty.
until curl -sf "$url/status/v1/services/puppetdb-status" | grep -q '"queue_depth":0'; do sleep 0.2; done
# The tasks come first, because browser.mjs adds nodes.
node "$here/tasks.mjs" "$url" "$token" --chromium "$browser"
node "$here/browser.mjs" "$url" "$token" --chromium "$browser" "$@"
