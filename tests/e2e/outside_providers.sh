#!/bin/bash
# Outside providers: the examples, with fake programs, and failures.
. "${0%/*}/lib.sh"
mkdir -p "$scratch/etc/providers" "$scratch/bin" "$scratch/sv/web" "$scratch/enabled"
cp -r "$SOURCE/examples/outside-providers/." "$scratch/etc/providers"
export PATH=$scratch/bin:$PATH SVDEFS=$scratch/sv SVDIR=$scratch/enabled STATE=$scratch
printf 'org.Old\t1.0\norg.Held\t2.0\n' >"$scratch/flatpaks"
cat >"$scratch/bin/flatpak" <<'SH'
#!/bin/bash
case $1 in
list) cat "$STATE/flatpaks" ;;
remote-ls) printf 'org.Old\t1.1\norg.New\t3.0\n' ;;
uninstall) sed -i "/^${*: -1}\t/d" "$STATE/flatpaks" ;;
install)
    [ "${*: -1}" != org.Bad ] || { echo no such thing >&2; exit 3; }
    sed -i "/^${*: -1}\t/d" "$STATE/flatpaks"
    printf '%s\t1.1\n' "${*: -1}" >>"$STATE/flatpaks" ;;
esac
SH
cat >"$scratch/bin/sv" <<'SH'
#!/bin/bash
case $1 in
status) [ -e "$STATE/up-$2" ] && echo "run: $2: (pid 1) 3s" || echo "down: $2" ;;
up) touch "$STATE/up-$2" ;;
down) rm "$STATE/up-$2" ;;
restart) echo "$2" >>"$STATE/restarted" ;;
esac
SH
chmod +x "$scratch"/bin/*
cat >"$scratch/site.pp" <<'PP'
package { 'org.Old': ensure => latest, provider => flatpak }
package { 'org.New': provider => flatpak }
package { 'org.Held': ensure => absent, provider => flatpak }
service { 'web': ensure => running, enable => true, provider => runit, subscribe => Package['org.New'] }
PP
run 2 apply --detailed-exitcodes "$scratch/site.pp"
holds "$out" "Package\[org.Old\]/ensure: ensure changed '1.0' to '1.1'$"
holds "$out" 'Package\[org.New\]/ensure: created$'
holds "$out" 'Package\[org.Held\]/ensure: removed$'
holds "$out" "Service\[web\]/ensure: ensure changed 'stopped' to 'running'$"
holds "$out" "created $scratch/enabled/web$"
holds "$(cat "$scratch/flatpaks")" '^org.New'
run 0 apply --detailed-exitcodes "$scratch/site.pp"
lacks "$out" 'Package|Service'

# The program performs restarts. --noop changes nothing.
run 2 apply --detailed-exitcodes -e "service { 'web': provider => runit }
    exec { '/bin/true': notify => Service['web'] }"
holds "$(cat "$scratch/restarted")" '^web$'
run 0 apply --detailed-exitcodes --noop -e 'package { "org.Old": ensure => absent, provider => flatpak }'
holds "$out" 'Package\[org.Old\]/ensure: removed \(noop\)$'
holds "$(cat "$scratch/flatpaks")" '^org.Old'

# Failures are reported with the program's message. Dependent resources are skipped; the others are
# applied.
run 6 apply --detailed-exitcodes -e 'package { "org.Bad": provider => flatpak } -> notify { never: } notify { other: }'
holds "$out$err" "Package\[org.Bad\]/ensure: change from 'absent' to 'present' failed: flatpak could not change org.Bad"
holds "$out" 'Notify\[other\]'
lacks "$out" 'defined .message. as .never'

# A module can contain an outside provider, even without the executable bit.
mkdir -p "$scratch/modules/m/lib/bunraku/providers/package"
cat >"$scratch/modules/m/lib/bunraku/providers/package/odd" <<'SH'
#!/bin/sh
cat >/dev/null
case $1 in
describe) echo protocol=1; [ -z "${ODD-}" ] || echo "$ODD" ;;
*) eval "$ANSWER" ;;
esac
SH
odd() { run "$1" apply --detailed-exitcodes --modulepath "$scratch/modules" -e "package { x: provider => odd }"; }
ANSWER='printf "name=x\nversion=1\n"' odd 0
export ANSWER='echo "name=x"; exit 7'
odd 4
holds "$out$err" 'providers/package/odd query: returned 7$'
ANSWER='echo oops' odd 4
holds "$out$err" "odd query: Invalid line 'oops': expected \"key=value\"$"
ANSWER='echo broken >&2; exit 1' odd 4
holds "$out$err" 'odd query: broken$'
ODD='suitable=false' odd 4
holds "$out$err" 'Provider odd is not functional on this host'
run 1 apply -e 'package { x: provider => nobody }'
holds "$err" "Invalid package provider 'nobody'"
finish
