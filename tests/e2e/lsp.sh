#!/bin/bash
# The language server with Neovim as its editor, and with streams that are not valid.
. "$(dirname "$0")/lib.sh"

# A header that is not valid ends the session with a message; so does the end of the input.
run 1 lsp < <(printf 'Content-Length: x\r\n\r\n')
holds "$err" "Invalid Content-Length 'x'"
run 1 lsp < <(printf 'Content-Length: 2\r\n\r\n{}')
holds "$out" '"code":-32600'
run 1 lsp --socket 0
holds "$err" "Invalid port '0'"
run 1 lsp --pipe "$scratch/none"
holds "$err" 'No such file'

if ! command -v nvim >/dev/null; then
    echo "skipped: nvim is not installed"
    [ "$failures" -eq 0 ] || finish
    exit 77
fi
cp -r "$SOURCE/examples/control" "$scratch/control"
export LSP_ROOT=$scratch/control XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data \
    XDG_STATE_HOME=$scratch/state XDG_CACHE_HOME=$scratch/cache
out=$(timeout 120 nvim --headless --clean -n -S "$SOURCE/tests/lsp/editor.lua" 2>&1)
holds "$out" 'server: true'
holds "$out" 'severity: 1'
holds "$out" 'hover: whom to ask for the time'
holds "$out" 'completion: absent'
holds "$out" 'cursor: 3,6'
holds "$out" 'done: true'
holds "$(cat "$scratch/control/environments/production/data/common.yaml")" '^ntp::peers:'
holds "$(cat "$scratch/control/modules/ntp/manifests/init.pp")" 'String\[1\]\] \$peers'
finish
