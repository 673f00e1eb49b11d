#!/bin/bash
# The legacy flat facts of Facter 4.3 and Puppet 8.11. They are available by name and on request,
# but not listed by default.
. "${0%/*}/lib.sh"
is() { [ "$1" = "$2" ] || { printf 'FAILED: %s is not %s\n' "$1" "$2"; failures=$((failures + 1)); }; }
same() { # same LEGACY STRUCTURED: checks that both facts have the same value.
    run 0 facts --value-only "$1"
    local old=$out
    run 0 facts --value-only "$2"
    is "$old" "$out"
}
same osfamily os.family
same operatingsystemmajrelease os.release.major
same hostname networking.hostname
same processorcount processors.count
same uptime_days system_uptime.days
run 0 facts osfamily
holds "$out" '^  "osfamily": "[A-Z]'
run 0 facts
lacks "$out" '^  "(osfamily|memorysize_mb|interfaces|hostname)"'
run 0 facts --show-legacy
holds "$out" '^  "osfamily": "'
holds "$out" '^  "memorysize_mb": [0-9]+\.[0-9]+,$'
holds "$out" '^  "mtu_lo": [0-9]+,$'
holds "$out" '^  "processor0": "'
holds "$out" '^  "interfaces": "([^"]*,)?lo[,"]'

# Legacy facts are part of a compile's facts only with the setting, and are then variables, too.
code='notify { "fact ${facts[osfamily]}": } notify { "known ${defined(\x27$osfamily\x27)}": }'
code=$(printf '%b' "$code")
run 0 apply --noop -e "$code"
holds "$out" 'Notify\[fact \]'
holds "$out" 'Notify\[known false\]'
run 1 apply --noop -e 'notify { $osfamily: }'
holds "$err" "Unknown variable: 'osfamily'"
run 0 apply --noop --include_legacy_facts -e "$code"
holds "$out" 'Notify\[fact [A-Z]'
holds "$out" 'Notify\[known true\]'
run 0 apply --noop --include_legacy_facts -e 'notify { "${osfamily} ${os[family]}": }'
holds "$out" 'Notify\[([A-Z][a-z]+) \1\]'
printf '[main]\ninclude_legacy_facts = true\n' >"$scratch/etc/puppet.conf"
run 0 apply --noop -e "$code"
holds "$out" 'Notify\[fact [A-Z]'
run 0 compile -e "$code"
holds "$out" '"title":"known true"'
rm "$scratch/etc/puppet.conf"

# A custom fact may read legacy facts, and may replace one.
if command -v ruby >/dev/null; then
    mkdir -p "$scratch/facter"
    cat >"$scratch/facter/mine.rb" <<'EOF'
Facter.add('mine') { confine operatingsystem: Facter.value('os')['name']; setcode { "#{Facter.value(:hostname)} #{Facter.value('osfamily')}" } }
Facter.add('osfamily') { has_weight 100; setcode { 'Mine' } }
EOF
    run 0 facts --custom-dir "$scratch/facter" mine
    holds "$out" '"mine": "[^ ]+ Mine"'
    run 0 facts --custom-dir "$scratch/facter"
    holds "$out" '^  "osfamily": "Mine"'
    lacks "$out" '^  "hostname"'
fi
finish
