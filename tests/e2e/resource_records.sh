#!/bin/bash
# `resource` for types that are lines of a file: a single resource looks the same as in the list.
. "${0%/*}/lib.sh"
list() { run 0 resource "$1"; }
one_is_as_listed() {
    list "$1"
    local all=$out title
    while IFS= read -r title; do
        [ -n "$title" ] || continue
        run 0 resource "$1" "$title"
        if ! grep -qF -- "$(sed -n 1p <<<"$out")" <<<"$all" || [[ "$all" != *"$out"* ]]; then
            printf 'FAILED: %s %s:\n%s\nis not in the list:\n%s\n' "$1" "$title" "$out" "$all"
            failures=$((failures + 1))
        fi
    done < <(sed -n "s/^$1 { '\(.*\)':\$/\1/p" <<<"$all")
}
for type in host mount cron mailalias sshkey yumrepo; do one_is_as_listed "$type"; done
run 0 resource host nosuch.example
holds "$out" "^  ensure   => 'absent',$"
lacks "$out" 'target'
run 0 resource sshkey nosuch
holds "$out" "^sshkey \{ 'nosuch@':$"
holds "$out" "^  name     => 'nosuch',$"
# The list is empty if no provider is suitable.
for type in selboolean selmodule; do
    [ -x /usr/sbin/semodule ] || [ -x /usr/sbin/getsebool ] && continue
    run 0 resource "$type"
    [ -z "$(tr -d '\n' <<<"$out")" ] || { echo "FAILED: $type: $out"; failures=$((failures + 1)); }
done
finish
