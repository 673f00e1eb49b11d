#!/bin/bash
# The type augeas, with the messages of augeas_core 2.0.1 under Puppet 8.11.
. "${0%/*}/lib.sh"
if ! compgen -G '/usr/lib*/*/libaugeas.so.0' >/dev/null && ! compgen -G '/usr/lib*/libaugeas.so.0' >/dev/null; then
    echo "skipped: libaugeas is not installed on this machine"
    exit 0
fi
root=$scratch/root
mkdir -p "$root/etc"
hosts=$root/etc/hosts
printf '127.0.0.1\tlocalhost\n10.0.0.1\th1 a b\n' >"$hosts"
# apply STATUS TITLE ATTRIBUTES [OPTION...]: applies one augeas resource for that file and its lens.
apply() {
    local status=$1 title=$2 attributes=$3
    shift 3
    run "$status" apply --detailed-exitcodes "$@" \
        -e "augeas { '$title': root => '$root', incl => '/etc/hosts', lens => 'Hosts.lns', $attributes }"
}
is() {
    [ "$(cat "$hosts")" = "$(printf "$1")" ] || { echo "FAILED: $hosts:"; cat "$hosts"; failures=$((failures + 1)); }
}

# Every command of `changes`. A second run changes nothing, and no temporary files remain.
changes="changes => ['set 2/canonical h2', 'set *[ipaddr=\"10.0.0.1\"]/alias[1] \"a2\"', 'rm 2/alias[2]',
    'ins 01 after 1', 'set 01/ipaddr 10.0.0.9', 'defvar new /files/etc/hosts/01', 'set \$new/canonical h9',
    'setm *[ipaddr=\"10.0.0.9\"] canonical h8', 'touch 2', 'mv 2/alias[1] 01/alias[1]', 'clear \"#comment[1]\"', 'rm \"#comment\"']"
apply 2 all "$changes, onlyif => 'match *[ipaddr=\"10.0.0.9\"] size == 0'" --show_diff
holds "$out" '^Notice: Augeas\[all\]\(provider=augeas\): $'
holds "$out" '^\+10.0.0.9.h8 a2$'
holds "$out" '^Notice: /Stage\[main\]/Main/Augeas\[all\]/returns: executed successfully$'
is '127.0.0.1\tlocalhost\n10.0.0.9\th8 a2\n10.0.0.1\th2\n'
apply 0 all "$changes, onlyif => 'match *[ipaddr=\"10.0.0.9\"] size == 0'"
apply 0 same "changes => \"set 3/canonical h2\n  set 2/alias[1] 'a2'\n\""
lacks "$(ls "$root/etc")" augnew

# Nothing changes with noop, or if the condition is false.
apply 0 noop "changes => 'set 1/canonical x'" --noop
holds "$out" 'Augeas\[noop\]/returns: executed successfully \(noop\)$'
number=0
for condition in "get 2/canonical == h4" "get 2/canonical =~ ^x" "get #comment[1] != ''" \
    'match *[canonical] size > 3' 'match nothing size != 0' "values */canonical include nobody" \
    "values */canonical not_include h8" "match 1/ipaddr == ['/files/etc/hosts/2/ipaddr']" \
    "values */ipaddr != ['127.0.0.1', \\\"10.0.0.9\\\", '10.0.0.1']"; do
    number=$((number + 1))
    conditions+=" augeas { 'c$number': root => '$root', incl => '/etc/hosts', lens => 'Hosts.lns',
        changes => 'set 1/canonical c$number', onlyif => \"$condition\" }"
done
run 0 apply --detailed-exitcodes -e "$conditions"
is '127.0.0.1\tlocalhost\n10.0.0.9\th8 a2\n10.0.0.1\th2\n'
apply 2 holds "changes => 'set 1/canonical y', onlyif => \"values */canonical == ['localhost', 'h8', 'h2']\""
apply 2 forced "changes => 'set 1/canonical y', force => true"
is '127.0.0.1\ty\n10.0.0.9\th8 a2\n10.0.0.1\th2\n'

# An invalid change is reported, and the file stays unchanged.
wrong() {
    apply 4 bad "changes => $1"
    holds "$err" "^Error: /Stage\[main\]/Main/Augeas\[bad\]: Could not evaluate: $2\$"
}
wrong "'frobnicate x'" 'Unknown command frobnicate'
wrong "'set 1/canonical'" 'missing string argument 2 for set'
wrong "'rm 1]'" 'unmatched \['
wrong "'rm 1['" "Error sending command 'rm' with params \[\"/files/etc/hosts/1\[\"\]/Error sending command 'rm' with params \[\"/files/etc/hosts/1\[\"\]"
wrong "'touch 1['" "Error sending command 'touch' with params \[\"/files/etc/hosts/1\[\"\]/unknown error - Matching path expression '/files/etc/hosts/1\[' failed"
wrong "'ins x beside 1'" "Error sending command 'ins' with params \[\"x\", \"beside\", \"/files/etc/hosts/1\"\]/Invalid value 'beside' for where param"
wrong "'get 1 == x'" "Error sending command 'get' with params \[\"/files/etc/hosts/1\", \"==\", \"x\"\]/Command 'get' is not supported"
wrong "'set 7/ipaddr 1.1.1.1'" 'Save failed, see debug output for details'
wrong "5" 'Invalid command: 5'
apply 4 bad "changes => 'rm 1', onlyif => 'get 1 =~ ['"
holds "$err" "Could not evaluate: Error sending command 'get' with params \[\]/premature end of char-class: /\[/"
run 1 apply -e "augeas { 'half': lens => 'Hosts.lns', changes => 'rm 1' }"
holds "$err" 'You must specify both the lens and incl parameters, or neither\.'
is '127.0.0.1\ty\n10.0.0.9\th8 a2\n10.0.0.1\th2\n'

# A context without `incl` loads the files below it. Lenses in modules are found.
mkdir -p "$scratch/modules/m/lib/augeas/lenses"
cat >"$scratch/modules/m/lib/augeas/lenses/ours.aug" <<'EOF'
module Ours =
let line = [ key /[a-z]+/ . del "=" "=" . store /[a-z]+/ . del "\n" "\n" ]
let lns = line*
EOF
printf 'a=b\n' >"$root/etc/ours"
run 2 apply --detailed-exitcodes --modulepath "$scratch/modules" -e "
augeas { 'context': root => '$root', context => '/files/etc/hosts', changes => 'set 1/canonical z' }
augeas { 'ours': root => '$root', incl => '/etc/ours', lens => 'Ours.lns', changes => ['set a c', 'set d e'] }"
is '127.0.0.1\tz\n10.0.0.9\th8 a2\n10.0.0.1\th2\n'
holds "$(cat "$root/etc/ours")" '^a=c$'
holds "$(cat "$root/etc/ours")" '^d=e$'

# Without the library the type exists, but is not suitable.
mkdir "$scratch/none"
echo none >"$scratch/none/libaugeas.so.0"
LD_LIBRARY_PATH=$scratch/none run 4 apply --detailed-exitcodes -e "
augeas { 'none': root => '$root', incl => '/etc/hosts', lens => 'Hosts.lns', changes => 'rm 1' } -> notify { 'after': }"
holds "$err" '^Error: Could not find a suitable provider for augeas$'

# A link of another user leads to no file of root: not to an existing one, nor to a new one in a
# folder, nor to one that a pattern matches.
if [ "$(id -u)" -eq 0 ]; then
    victim=$scratch/victim folder=$root/of_user
    mkdir -p "$victim" "$folder"
    printf '10.0.0.1\th1\n' >"$victim/hosts"
    ln -s "$victim/hosts" "$folder/link"
    ln -s "$victim" "$folder/below"
    chown -h nobody "$folder" "$folder"/*
    for incl in link below/hosts below/new 'below/*'; do
        run 4 apply --detailed-exitcodes -e "augeas { 'victim': root => '$root', incl => '/of_user/$incl', lens => 'Hosts.lns',
            changes => ['set 01/ipaddr 6.6.6.6', 'set 01/canonical h2'] }"
        holds "$err" "Augeas\[victim\]: Could not evaluate: Refusing to follow a link of user [0-9]+ to a file of user 0"
        [ "$(ls "$victim")" = hosts ] || { echo "FAILED: $incl: $(ls "$victim")"; failures=$((failures + 1)); }
        holds "$(<"$victim/hosts")" '^10.0.0.1.h1$'
    done
fi
finish
