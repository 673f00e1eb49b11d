#!/bin/bash
# Puppet's Ruby API as modules use it: probes with the results of Puppet 8.11
# (tests/ruby/probes/api.txt).
. "${0%/*}/lib.sh"
if ! command -v ruby >/dev/null; then
    echo "skipped: Ruby is not installed on this machine"
    exit 0
fi
"$SOURCE/tests/ruby/probe_api" "$BUNRAKU" || failures=$((failures + 1))
finish
