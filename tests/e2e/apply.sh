#!/bin/bash
# Applies manifests to this machine: interrupted runs, sources larger than memory, single resources.
. "${0%/*}/lib.sh"

# An interrupted run logs the signal, ends the running command, skips the remaining resources and
# still writes its report.
for signal in INT TERM HUP; do
    rm -f "$scratch/slept" "$scratch/state/last_run_report.yaml"
    status=0
    # A shell without job control starts its background processes with SIGINT ignored.
    env --default-signal=INT "$BUNRAKU" apply "${places[@]}" \
        -e "exec { '/bin/sleep 30': } -> exec { '/bin/touch $scratch/slept': }" \
        >"$scratch/out" 2>&1 &
    until pgrep -P $! -x sleep >/dev/null || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
    kill -s "$signal" $!
    wait $! || status=$?
    out=$(<"$scratch/out")
    holds "$status" '^1$'
    holds "$out" "Caught SIG$signal; stopping Exec\[/bin/sleep 30\]"
    holds "$out" "Exec\[/bin/sleep 30\]/returns: change from 'notrun' to \['0'\] failed: (exit|SIG$signal)\$"
    lacks "$out" 'Applied catalog'
    holds "$(cat "$scratch/state/last_run_report.yaml")" '^status: failed$'
    [ ! -e "$scratch/slept" ] || { echo "FAILED: the run continued after SIG$signal"; failures=$((failures + 1)); }
done

# Single resources, with the messages of Puppet 8.11.
run 0 resource file "$scratch/r" ensure=file content=hi
holds "$err$out" "File\[$scratch/r\]/ensure: defined content as '\{sha256\}8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4'"
lacks "$err$out" 'Applied catalog'
holds "$out" "^  content  => '\{sha256\}8f434346"
lacks "$out" 'mtime'
run 0 resource file "$scratch/r" --param checksum
holds "$out" "^  checksum => 'sha256',$"
holds "$out" '^  mtime '
run 0 resource file "$scratch/r" ensure=absent --noop
holds "$err$out" 'ensure: removed \(noop\)|should be .absent. \(noop\)'
[ -e "$scratch/r" ] || { echo "FAILED: --noop removed a file"; failures=$((failures + 1)); }
run 0 resource --types
holds "$out" '^file$'
holds "$out" '^whit$'
run 1 resource notify
holds "$err" "^Error: Could not run: notify has no providers and has not overridden 'instances'$"
run 0 resource exec
run 1 resource file
holds "$err" 'Listing all file instances is not supported'
run 1 resource file "$scratch/r" mode
holds "$err" '^Error: Could not run: Invalid parameter setting mode$'
run 1 resource --edit --to_yaml group root
holds "$err" '^Error: Could not run: Editing with Yaml output is not supported$'

# A source is copied in chunks, so that memory use does not grow with the file.
truncate -s 300M "$scratch/big"
if command -v python3 >/dev/null; then
    most=$(python3 - "$BUNRAKU" apply "${places[@]}" \
        -e "file { '$scratch/copy': source => '$scratch/big', mode => '0600' }" <<'EOF'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
EOF
    )
    cmp -s "$scratch/big" "$scratch/copy" || { echo 'FAILED: the copy differs'; failures=$((failures + 1)); }
    holds "$(stat -c %a "$scratch/copy")" '^600$'
    [ "$most" -lt 150000 ] || { echo "FAILED: $most KiB for a copy"; failures=$((failures + 1)); }
fi

# Messages, resulting files and report are those recorded from Puppet 8.11.
mkdir -p "$scratch"/{t,mounted,modules/m/lib/puppet/provider/host}
echo "File.write('$scratch/loaded', '')" >"$scratch/modules/m/lib/puppet/provider/host/helper.rb"
printf '[mnt]\npath %s\n' "$scratch/mounted" >"$scratch/etc/fileserver.conf"
echo mounted >"$scratch/mounted/f"
echo old >"$scratch/t/content"
ln -s content "$scratch/t/link"
ln -s gone "$scratch/t/dangling"
rmdir "$scratch/log"
run 6 apply --detailed-exitcodes --show_diff --color=false --modulepath "$scratch/modules" -e "
file { '$scratch/t/link': ensure => absent, backup => '.bak' }
-> file { '$scratch/t/content': content => \"new\\n\", audit => seluser }
file { '$scratch/t/dangling': ensure => file, content => 'x', links => follow }
file { '$scratch/t/mounted': source => 'puppet:///mnt/f' }
file { '$scratch/t/climbs': source => 'puppet:///mnt/../t/content' }
file { '$scratch/t/sum': content => 'x', checksum_value => '$(printf %064d 0)', show_diff => false }
file { '$scratch/t/none/x': content => 'x' }
file { '$scratch/t/secret': content => Deferred('join', [['a', Sensitive('b')], ':']) }
filebucket { 'b': path => '$scratch/t/bucket' }
file { '$scratch/big': ensure => absent, backup => 'b' }
host { 'h': ip => '10.0.0.1', target => '$scratch/t/hosts' }
notify { 'hash': message => { 'a' => 1 } }
notify { 'path': withpath => true }
exec { 'killed': command => 'kill -9 \$\$', provider => shell, returns => [0, 137] }
exec { 'bytes': command => \"/usr/bin/printf 'a\\\\377\\n'\", logoutput => true }"
holds "$out" '^-old$'
holds "$(stat -c %a "$scratch/log")" '^750$'
holds "$(grep -A1 '^+new$' <<<"$out" | tail -1)" '^Notice: '
holds "$out" '/content\]/seluser: audit change: newly-recorded value $'
holds "$out" '/sum\]/ensure: defined content as '
holds "$out" '/secret\]/ensure: changed \[redacted\] to \[redacted\]$'
holds "$out" '^Notice: {"a"=>1}$'
holds "$out" '^Notice: /Stage\[main\]/Main/Notify\[path\]/message: path$'
holds "$err" "climbs\]: Could not evaluate: Could not retrieve information from environment production source\(s\) puppet:///mnt/../t/content$"
holds "$err" "A directory component in $scratch/t/none/x\.bunraku-[0-9]+-[0-9a-f]+ does not exist"
holds "$err" "^Error: 'kill -9 \\$\\$' returned  instead of one of \[0,137\]$"
holds "$err" 'Exec\[bytes\]/returns: change from .notrun. to \[.0.\] failed: invalid byte sequence in UTF-8$'
holds "$(cat "$scratch/t/link.bak" "$scratch/t/mounted" "$scratch/t/secret")" '^old$'
holds "$(stat -c '%a %F' "$scratch/t/link.bak" "$scratch/t/dangling")" '^644 regular file$'
holds "$(stat -c %a "$scratch/t/bucket" "$scratch/t/bucket/"?)" '^770$'
holds "$(cat "$scratch/state/last_run_report.yaml")" '^ +desired_value: e3NoYTI1Nn0'
(umask 077 && "$BUNRAKU" apply "${places[@]}" -e "file { '$scratch/t/new': ensure => file }" >/dev/null)
holds "$(stat -c %a "$scratch/t/new")" '^644$'
mkdir "$scratch/t/names"
touch "$scratch/t/names/"{a,$'b\xff'}
run 0 apply --detailed-exitcodes -e "file { '$scratch/t/names': ensure => directory, recurse => true, purge => true }"
holds "$err" "names\]: Failed to generate additional resources using 'eval_generate': invalid byte sequence in UTF-8$"
holds "$(find "$scratch/t/names" -type f | wc -l)" '^2$'
run 1 apply -e "tidy { '$scratch/t/names': age => 0 }"
holds "$err" "Parameter age failed on Tidy\[$scratch/t/names\]: Invalid tidy age 0 "
[ ! -e "$scratch/loaded" ] || { echo 'FAILED: a helper file in the provider folder was executed'; failures=$((failures + 1)); }

# The path of tidy may be relative to the working directory.
mkdir "$scratch/t/here"
touch "$scratch/t/here/f"
(cd "$scratch/t/here" && "$BUNRAKU" apply "${places[@]}" -e "tidy { 'f': }" >/dev/null)
[ ! -e "$scratch/t/here/f" ] || { echo 'FAILED: tidy removed nothing'; failures=$((failures + 1)); }

# The resource file contains one empty line if there are no resources, as with Puppet.
run 0 apply --write_catalog_summary --resourcefile "$scratch/resources" -e 'notice("x")'
holds "$(wc -c <"$scratch/resources")" '^1$'

# A Deferred that fails or returns an invalid value ends the run. With preprocess_deferred, the run
# ends before it changes anything. Sensitive values that a Deferred returns are redacted.
both="notify { 'before': } -> file { '$scratch/t/d': content => Deferred('inline_epp', ['<%= 42 %>']), source => '/nowhere' }"
run 1 apply -e "$both"
holds "$out" '^Notice: before$'
holds "$err" "^Error: Failed to apply catalog: Validation of File\[$scratch/t/d\] failed: You cannot specify more than one of content, source, target"
run 1 apply --preprocess_deferred -e "$both"
lacks "$out" '^Notice: before$'
holds "$err" "^Error: Validation of File\[$scratch/t/d\] failed: "
run 1 apply -e "notify { 'before': message => Deferred('nosuch_function', []) }"
holds "$err" "^Error: Failed to apply catalog: Unknown function 'nosuch_function'$"
made="file { '$scratch/t/e': content => 'abc' } -> notify { 'b': message => Deferred('binary_file', ['$scratch/t/e']) }"
run 1 apply --preprocess_deferred -e "$made"
holds "$err" "^Error: .*The given file '$scratch/t/e' does not exist"
run 0 apply -e "$made"
holds "$out" "defined 'message' as Binary\(\"YWJj\"\)$"
run 0 apply -e "file { '$scratch/t/d': content => Deferred('inline_epp', ['<%= \$s %>', { 's' => Deferred('new', [Sensitive, 'x']) }]) }"
holds "$out" '/d\]/ensure: changed \[redacted\] to \[redacted\]$'
holds "$(cat "$scratch/t/d")" '^x$'

# The environment of the node classifier applies, and the run logs the change. $server_facts
# contains it.
mkdir -p "$scratch"/envs/{other,production}/manifests
printf '#!/bin/sh\necho "environment: other"\n' >"$scratch/enc"
chmod +x "$scratch/enc"
run 0 apply --environmentpath "$scratch/envs" --node_terminus exec --external_nodes "$scratch/enc" -e 'notice("$server_facts")'
holds "$out" '\{environment => other\}$'
holds "$out" "^Notice: Local environment: 'production' doesn't match server specified environment 'other', restarting agent run with environment 'other'$"

# If the environment does not exist, `resource --types` lists the types of the default environment's
# modules.
mkdir -p "$scratch"/envs/production/modules/own/lib/puppet/type
echo 'Puppet::Type.newtype(:own_type)' >"$scratch/envs/production/modules/own/lib/puppet/type/own_type.rb"
run 0 resource --types --environmentpath "$scratch/envs" --environment gone --log_level debug
holds "$out" "^own_type$"
holds "$out" "^Debug: Specified environment 'gone' does not exist on the filesystem, defaulting to 'production'$"

# The user that an exec runs as does not need access to the working directory.
if [ "$(id -u)" = 0 ]; then
    mkdir -m 700 "$scratch/t/closed"
    run 0 apply -e "exec { '/bin/echo hi': cwd => '$scratch/t/closed', user => 'nobody', logoutput => true }"
    holds "$out" 'returns: hi$'
fi

# With Puppet 8, content that looks like a checksum is fetched from a filebucket. The deprecation
# warning mentions it, even for code without a file.
run 0 apply --compatibility puppet8 -e "file { '$scratch/sum': ensure => file, content => '{cipher}ABC' }"
holds "$err" "^Warning: Using a checksum in a file's \"content\" property is deprecated\."
holds "$err" '^   \(file: unknown, line: 1\)$'
holds "$err" '^Error: Could not retrieve content for \{cipher\}ABC from filebucket: Could not get filebucket from file$'
finish
