#!/bin/bash
# Formatting files, folders and standard input, and the exit codes. The layout itself is tested by
# tests/unit/language/format.
. "${0%/*}/lib.sh"
cd "$scratch" || exit 1
same() { [ "$1" = "$2" ] || { printf 'FAILED: got\n%s\nexpected\n%s\n' "$1" "$2"; failures=$((failures + 1)); }; }
mkdir -p code/manifests code/.hidden
write() {
    printf '$a=1 # one\n' >code/manifests/bad.pp
    printf '$a = 1\n' >code/manifests/good.pp
    printf '$a=1\n' >code/.hidden/bad.pp
    printf '$a=1\n' >code/other.txt
    ln -sf manifests/bad.pp code/link.pp
}
write
chmod 640 code/manifests/bad.pp

# Checks write nothing.
run 1 fmt --check code
same "$out" code/manifests/bad.pp
run 1 fmt --diff code
same "$out" $'--- code/manifests/bad.pp.orig\n+++ code/manifests/bad.pp\n@@ -1 +1 @@\n-$a=1 # one\n+$a = 1 # one'
same "$(<code/manifests/bad.pp)" '$a=1 # one'
run 0 fmt --check code/manifests/good.pp
same "$out" ''

# Files are replaced with their mode. Hidden folders, links and other files stay as they are.
run 0 fmt code
same "$out" code/manifests/bad.pp
same "$(<code/manifests/bad.pp)" '$a = 1 # one'
same "$(stat -c %a code/manifests/bad.pp)" 640
same "$(<code/.hidden/bad.pp)" '$a=1'
[ -L code/link.pp ] || { echo 'FAILED: the link was replaced'; failures=$((failures + 1)); }
run 0 fmt --check code
# A link that is named is followed.
write
run 0 fmt code/link.pp
same "$(<code/manifests/bad.pp)" '$a = 1 # one'
[ -L code/link.pp ] || { echo 'FAILED: the link was replaced'; failures=$((failures + 1)); }

# Standard input.
run 0 fmt <<<'$a=1'
same "$out" '$a = 1'
run 1 fmt --check --stdin-name site.pp - <<<'$a=1'
same "$out" site.pp
run 0 fmt --lines 2:2 <<<$'$a=1\n$b=2\n$c=3'
same "$out" $'$a=1\n$b = 2\n$c=3'
run 0 fmt --line-length 40 <<<"\$a = ['twenty characters..', 'twenty characters..']"
same "$out" $'$a = [\n  \'twenty characters..\',\n  \'twenty characters..\',\n]'

# Errors: the other files are formatted.
write
printf '$a = ]\n' >code/broken.pp
run 2 fmt code
same "$out" code/manifests/bad.pp
holds "$err" "^Error: Syntax error at ']' \(file: code/broken.pp, line: 1, column: 6\)$"
same "$(<code/broken.pp)" '$a = ]'
run 2 fmt missing.pp
holds "$err" '^Error: missing.pp: No such file or directory'
run 2 fmt --lines 3:2 code
holds "$err" "^Error: Invalid value '3:2' of --lines: expected FIRST:LAST, such as 10:20$"
run 2 fmt --line-length x code
holds "$err" "^Error: Invalid value 'x' of --line-length: expected a number from 40 to 1000$"
run 2 fmt --unknown
finish
