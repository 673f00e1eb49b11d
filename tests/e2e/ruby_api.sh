#!/bin/bash
# Puppet's Ruby API as code of modules calls it: probes with the answers of Puppet 8.11 (tests/ruby/probes/api.txt).
. "${0%/*}/lib.sh"
if ! command -v ruby >/dev/null; then
    echo "skipped: there is no Ruby on this machine"
    exit 0
fi
"$SOURCE/tests/ruby/probe_api" "$BUNRAKU" || failures=$((failures + 1))
finish
