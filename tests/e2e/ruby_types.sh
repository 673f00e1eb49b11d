#!/bin/bash
# Types and providers of modules at work on the machine. Each case is applied twice; what is said,
# the exit codes and the files afterwards are those that Puppet 8.11 left (recorded with it:
# tests/e2e/ruby_types.sh --record DIR PROGRAM.. writes such files).
. "${0%/*}/lib.sh"
if ! command -v ruby >/dev/null; then
    echo "skipped: there is no Ruby on this machine"
    exit 0
fi
here=$SOURCE/tests/e2e/ruby_types

# journey CASE PROGRAM..: the case on an empty machine, as text.
journey() {
    local case=$1 top place
    shift
    top=$(mktemp -d "$scratch/XXXXXX")
    export WORK=$top/work
    mkdir -p "$WORK" "$top/var" "$top/conf"
    sed "s#WORK#$WORK#g" "$case" >"$top/site.pp"
    {
        for _ in 1 2; do
            "$@" apply --modulepath "$here/modules" --vardir "$top/var" --confdir "$top/conf" \
                --codedir "$top/conf" --basemodulepath "$top/none" "$top/site.pp" 2>&1
            echo "== $?"
        done
        cd "$WORK" || exit
        find . -type f | sort | while read -r place; do
            echo "-- $place"
            cat "$place"
            echo
        done
    } | sed -E 's/\x1b\[[0-9;]*m//g
        /^Notice: (Compiled|Applied) catalog|^(Warning|Error): Facter|warning: /d
        s#'"$WORK#WORK#g; s#$top#DIR#g"'
        s/[0-9a-f]{64}/SHA256/g'
}

# shown PROGRAM..: what `resource` says and does, each on a machine with two entries.
shown() {
    local words top
    while read -r words; do
        top=$(mktemp -d "$scratch/XXXXXX")
        export WORK=$top/work
        mkdir -p "$WORK" "$top/var" "$top/conf"
        printf 'x a,b true\ny c false\n' >"$WORK/entries"
        echo "## $words"
        # shellcheck disable=SC2086
        "$@" resource $words --modulepath "$here/modules" --basemodulepath "$top/none" \
            --vardir "$top/var" --confdir "$top/conf" --codedir "$top/conf" 2>&1 |
            sed -E 's/\x1b\[[0-9;]*m//g; /^(Warning|Error): Facter|warning: /d'
        cat "$WORK/entries"
    done <<'EOS'
entry
entry x
entry new ensure=present members=q on=true
entry x ensure=absent
entry x -y
thing
thing a
thing bad size=7 ensure=present
thing bad size=many
crasher c
nosuch
EOS
}

if [ "${1:-}" = --record ]; then
    to=$2
    shift 2
    shown "$@" >"$to/resource.shown"
    for case in "$here"/cases/*.pp; do
        journey "$case" "$@" >"$to/$(basename "$case" .pp).expected"
    done
    exit
fi
for case in "$here"/cases/*.pp; do
    journey "$case" "$BUNRAKU" >"$scratch/said"
    if ! diff "${case%.pp}.expected" "$scratch/said" >"$scratch/diff"; then
        printf 'FAILED: %s\n%s\n' "$(basename "$case")" "$(<"$scratch/diff")"
        failures=$((failures + 1))
    fi
done

shown "$BUNRAKU" >"$scratch/said"
if ! diff "$here/cases/resource.shown" "$scratch/said" >"$scratch/diff"; then
    printf 'FAILED: resource\n%s\n' "$(<"$scratch/diff")"
    failures=$((failures + 1))
fi

# A process that dies takes nothing else along: what was read at once is read again.
top=$scratch/died
export WORK=$top/work
mkdir -p "$WORK"
printf 'x a true\n' >"$WORK/entries"
cat >"$top/site.pp" <<'EOS'
crasher { 'kill': how => 'kill' }
-> notify { 'skipped': }
entry { 'x': ensure => present, members => ['a'], on => true }
crasher { 'exit': how => 'exit' }
thing { 'after': ensure => present, size => 1 }
EOS
run 0 apply --modulepath "$here/modules" --basemodulepath "$top/none" "$top/site.pp"
holds "$err" "Crasher\[kill\]/how: change from 'not' to 'kill' failed: .*its Ruby process ended unexpectedly \(signal 9\)"
holds "$err" "Notify\[skipped\]: Skipping because of failed dependencies"
holds "$err" "Crasher\[exit\]/how: change from 'not' to 'exit' failed: the Ruby code called exit \(status 3\)"
lacks "$out$err" 'Entry\[x\]'
holds "$out" 'Thing\[after\]/ensure: created'
holds "$(<"$WORK/after")" '^1$'
finish
