#!/bin/bash
# Arguments that are not manifests are rejected, with Puppet 8.11's messages.
. "${0%/*}/lib.sh"
mkdir -p "$scratch"/envs/{production,other}/manifests "$scratch/modules/m/manifests" "$scratch/empty"
printf 'notify { "caf\xe9": }\n' >"$scratch/latin1.pp"
printf '# caf\xe9\n' >"$scratch/comment.pp"
printf '\xff\xfen\x00' >"$scratch/utf16.pp"
printf '\xef\xbb\xbfnotify { bom: }\n' >"$scratch/bom.pp"
printf 'class m { notify { "caf\xe9": } }\n' >"$scratch/modules/m/manifests/init.pp"
echo 'notify { "café": }' >"$scratch/good.pp"
error_is() { # error_is TEXT ARGS...: checks the error message of a call.
    local text=$1
    shift
    run 1 "$@"
    [ "$err" = "Error: $text" ] || { printf 'FAILED: %s\n%s\nnot: %s\n' "$*" "$err" "$text"; failures=$((failures + 1)); }
}
on=(--certname web1 --node web1)
for command in 'compile' 'apply --noop'; do
    # shellcheck disable=SC2086
    for bad in latin1 comment; do
        error_is 'Could not parse for environment production: invalid byte sequence in UTF-8 on node web1' \
            $command "${on[@]}" "$scratch/$bad.pp"
    done
    # shellcheck disable=SC2086
    error_is 'Could not parse for environment production: Illegal UTF-16 Byte Order mark at beginning of input: [FF FE] - remove these from the puppet source on node web1' \
        $command "${on[@]}" "$scratch/utf16.pp"
    # shellcheck disable=SC2086
    error_is 'Could not parse for environment production: Illegal UTF-8 Byte Order mark at beginning of input: [EF BB BF] - remove these from the puppet source on node web1' \
        $command "${on[@]}" "$scratch/bom.pp"
    # shellcheck disable=SC2086
    error_is 'Evaluation Error: Error while evaluating a Function Call, invalid byte sequence in UTF-8 (line: 1, column: 1) on node web1' \
        $command "${on[@]}" --modulepath "$scratch/modules" -e 'include m'
    for manifest in "$scratch/good.pp" "$scratch/empty" '-e'; do
        # shellcheck disable=SC2086
        error_is "Could not find a directory environment named 'nope' anywhere in the path: $scratch/envs. Does the directory exist?" \
            $command "${on[@]}" --environmentpath "$scratch/envs" --environment nope $manifest \
            $([ "$manifest" = -e ] && echo 'notify{a:}')
    done
    # shellcheck disable=SC2086
    run 0 $command "${on[@]}" --environmentpath "$scratch/envs" --environment other "$scratch/good.pp"
    holds "$out" 'café'
done
# An environment that is described completely by options needs no folder.
run 0 compile "${on[@]}" --environment nope --modulepath "$scratch/modules" "$scratch/good.pp"
holds "$out" '"environment":"nope"'
# The manifest folder of an environment may be missing, as in Puppet.
run 0 compile "${on[@]}" --environment nope --modulepath "$scratch/modules" "$scratch/nope/manifests"
for missing in nope nope/ nope.pp "$scratch/web1"; do
    error_is "Could not find file $missing" compile "${on[@]}" "$missing"
    error_is "Could not find file $missing" compile "${on[@]}" --manifest "$missing"
    error_is "Could not run: Could not find file $missing" apply --noop "${on[@]}" "$missing"
done
error_is "Could not find file nope on node web1" diff --from-path "$scratch/envs/production" --to-path "$scratch/envs/other" --manifest nope --node web1 --facts <(echo '{}')
finish
