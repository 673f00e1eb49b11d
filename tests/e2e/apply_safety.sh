#!/bin/bash
# Runs that cannot write their state, files of other users, and values that would add lines to a
# file.
. "${0%/*}/lib.sh"
chmod 755 "$scratch"
same() {
    if [ "$2" != "$1" ]; then
        printf 'FAILED: expected %s, got %s\n' "$1" "$2"
        failures=$((failures + 1))
    fi
}

# A run fails if it cannot write its state, summary or last report, as with Puppet 8.11.
for file in state/state.yaml state/last_run_report.yaml public/last_run_summary.yaml; do
    rm -rf "${scratch:?}/$file"
    mkdir -p "$scratch/$file/in_the_way"
    run 1 apply -e 'notify { "x": }'
    holds "$out" 'defined .message. as .x.'
    holds "$err" "Is a directory.*$file"
    run 1 apply --detailed-exitcodes -e 'notify { "x": }'
    rm -rf "${scratch:?}/$file"
done
run 0 apply -e 'notify { "x": }'
run 0 compile -e 'notify { "x": }'
printf '%s' "$out" >"$scratch/catalog.json"
mkdir -p "$scratch/state/state.yaml.d"
rm -f "$scratch/state/state.yaml"
mkdir -p "$scratch/state/state.yaml/in_the_way"
run 1 apply --catalog "$scratch/catalog.json"
rm -rf "$scratch/state/state.yaml"
run 0 apply --catalog "$scratch/catalog.json"

# A value must not add lines to a line-based file.
target=$scratch/lines
: >"$target"
refused() {
    run 1 apply -e "$2"
    holds "$err" "Parameter $1 failed on [A-Z]"
    holds "$err" '([Nn]ewline|whitespace|not valid)'
    same '' "$(<"$target")"
}
refused comment "host { 'h': ip => '10.0.0.1', comment => \"a\\n10.0.0.2 evil\", target => '$target' }"
refused recipient "mailalias { 'a': recipient => \"b\\nroot: evil\", target => '$target' }"
refused recipient "mailalias { 'a': recipient => ['b', \"c\\nroot: evil\"], target => '$target' }"
refused name "mailalias { \"a: b\\nroot\": recipient => 'evil', target => '$target' }"
refused key "sshkey { 'h': type => 'ssh-rsa', key => \"A\\nevil ssh-rsa B\", target => '$target' }"
refused host_aliases "sshkey { 'h': type => 'ssh-rsa', key => 'A', host_aliases => [\"x\\ny\"], target => '$target' }"
refused name "ssh_authorized_key { \"k\\nssh-rsa AAAA evil\": user => 'root', type => 'ssh-rsa', key => 'A', target => '$target' }"
refused options "ssh_authorized_key { 'k': user => 'root', type => 'ssh-rsa', key => 'A', options => \"command=\\\"a\\nb\\\"\", target => '$target' }"
refused device "mount { '/mnt/x': ensure => defined, fstype => ext4, device => \"/dev/a\\n/dev/b /etc ext4\", target => '$target' }"
refused options "mount { '/mnt/x': ensure => defined, fstype => ext4, device => '/dev/a', options => \"ro\\n/dev/b /etc ext4 rw\", target => '$target' }"
refused command "cron { 'c': user => 'root', command => \"a\\n* * * * * evil\" }"
refused name "cron { \"c\\n* * * * * evil\": user => 'root', command => 'a' }"
refused environment "cron { 'c': user => 'root', command => 'a', environment => \"A=b\\n* * * * * evil\" }"

# A file whose bytes are not valid UTF-8 is not changed (Puppet 8.11's message).
printf '127.0.0.1\tlocalhost\n10.0.0.8\tweb # caf\xe9\n' >"$target"
cp "$target" "$scratch/before"
run 0 apply -e "host { 'web': ip => '10.0.0.9', target => '$target' } -> notify { 'after': }"
holds "$err" "Could not prefetch host provider 'parsed': Puppet::Util::FileType::FileTypeFlat could not read $target: invalid byte sequence in UTF-8$"
holds "$err" 'Host\[web\]: Skipping because provider prefetch failed$'
holds "$err" 'Notify\[after\]: Skipping because of failed dependencies$'
cmp -s "$target" "$scratch/before" || same 'the old file' 'another'

# Bunraku's own settings are valid options.
run 0 apply --full_check_interval 0 -e 'notify { "x": }'
run 0 apply --full_check_interval=unlimited -e 'notify { "x": }'

# Every run reads a small file, regardless of its timestamps. A file that was changed through a
# memory mapping can have unchanged timestamps.
printf 'good' >"$scratch/t.txt"
touch -d '2020-01-01' "$scratch/t.txt"
same_times="file { '$scratch/t.txt': content => 'good' }"
run 0 apply -e "$same_times"
printf 'evil' >"$scratch/t.txt"
touch -d '2020-01-01' "$scratch/t.txt"
run 0 apply -e "$same_times"
same good "$(<"$scratch/t.txt")"

# A path below a link to a file does not exist.
ln -s t.txt "$scratch/link"
run 0 apply -e "file { '$scratch/link/x': ensure => absent }"
same '' "$err"
run 0 apply -e "file { '$scratch/link/x': content => 'a' }"
holds "$err" "File\[$scratch/link/x\]/ensure: change from 'absent' to 'file' failed: Could not set 'file' on ensure: Not a directory @ dir_s_mkdir - $scratch/link/x\.[^ ]*\.lock \(line: 1\)$"
run 0 apply -e "tidy { '$scratch/link/x': age => '0' }"
holds "$err" "Failed to generate additional resources using 'generate': Not a directory @ rb_file_s_lstat - $scratch/link/x$"

# A run removes the temporary files of an earlier, killed run.
mkdir "$scratch/kill"
touch "$scratch/kill/.f.bunraku-new" "$scratch/kill/f.bunraku-4194305-abc" "$scratch/kill/f.2024-1"
run 0 apply -e "file { '$scratch/kill/f': content => 'x', validate_cmd => '/bin/true %' }"
run 0 apply -e "file { '$scratch/kill/f': content => 'y' }"
same 'f f.2024-1' "$(ls -A "$scratch/kill" | tr '\n' ' ' | sed 's/ $//')"

# Keys are written with the permissions of their user.
if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1; then
    key="type => 'ssh-rsa', key => 'AAAAB3', user => 'nobody'"
    mkdir -m 755 "$scratch/home" "$scratch/victim"
    chown nobody "$scratch/home"
    echo 'old' >"$scratch/victim/authorized_keys"
    chmod 600 "$scratch/victim/authorized_keys"
    for owner in root nobody; do
        ln -sfn "$scratch/victim" "$scratch/home/.ssh"
        chown -h $owner "$scratch/home/.ssh"
        run 0 apply -e "ssh_authorized_key { 'k': $key, target => '$scratch/home/.ssh/authorized_keys' }"
        holds "$err" 'Error: .*Ssh_authorized_key\[k\]: Could not evaluate: '
        same "old root 600 1" "$(cat "$scratch/victim/authorized_keys") $(stat -c '%U %a' "$scratch/victim/authorized_keys") $(ls -A "$scratch/victim" | wc -l)"
    done
    # A link of one user does not prevent the keys of other users.
    mkdir -m 755 "$scratch/home2"
    chown nobody "$scratch/home2"
    run 0 apply -e "ssh_authorized_key { 'k': $key, target => '$scratch/home/.ssh/authorized_keys' }
        ssh_authorized_key { 'l': $key, target => '$scratch/home2/.ssh/authorized_keys' }"
    holds "$out" 'Ssh_authorized_key\[l\]/ensure: created$'
    same "nobody 600 nobody 700" "$(stat -c '%U %a' "$scratch/home2/.ssh/authorized_keys" "$scratch/home2/.ssh" | tr '\n' ' ' | sed 's/ $//')"
    # Other types refuse to write through a user's link, too.
    rm "$scratch/home/.ssh"
    ln -s "$scratch/victim" "$scratch/home/dir"
    chown -h nobody "$scratch/home/dir"
    for code in "file { '$scratch/home/dir/authorized_keys': content => 'new' }" \
        "file { '$scratch/home/dir/new': content => 'new' }" \
        "file { '$scratch/home/dir/new': ensure => directory }" \
        "file { '$scratch/home/dir/authorized_keys': mode => '0666' }" \
        "file { '$scratch/home/dir/authorized_keys': owner => nobody }" \
        "file { '$scratch/home/dir/authorized_keys': ensure => absent }" \
        "file { '$scratch/copied': source => '$scratch/home/dir/authorized_keys' }" \
        "host { 'h': ip => '10.0.0.1', target => '$scratch/home/dir/authorized_keys' }"; do
        run 0 apply -e "$code"
        holds "$err" 'Refusing to follow a link of user [0-9]+ to a file of user 0|Skipping because provider prefetch failed'
        same "old root 600 1" "$(cat "$scratch/victim/authorized_keys") $(stat -c '%U %a' "$scratch/victim/authorized_keys") $(ls -A "$scratch/victim" | wc -l)"
        [ ! -e "$scratch/copied" ] || same 'no copy' 'a copy'
    done
fi
finish
