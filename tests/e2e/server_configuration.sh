#!/usr/bin/env bash
# The configuration of a site that used puppetserver, and the server's log: addresses, unsupported
# settings, times and priorities, refused clients, reasons for compiles.
. "$SOURCE/tests/e2e/lib.sh"
umask 022
site=$scratch/site
mkdir -p "$site/etc" "$site/puppetserver/conf.d" "$site/envs/production/manifests" "$site/logs"
# shellcheck disable=SC2016
echo '$facts["mountpoints"].each |$name, $mount| { notify { "${name} ${mount["device"]}": } }' \
    >"$site/envs/production/manifests/site.pp"
cat >"$site/etc/puppet.conf" <<EOS
[main]
certname = localhost
server = localhost
logdir = $site/logs { owner = root, mode = 0750 }
environmentpath = $site/envs
[server]
autosign = true { mode = 664 }
access_log = \$logdir/access.log
location_trusted = true
certnam = typo
EOS
echo "webserver: { ssl-host: 127.0.0.1, ssl-port: 0, host: localhost, port: 0, ssl-protocols: [TLSv1.3] }" \
    >"$site/puppetserver/conf.d/webserver.conf"
at=(--confdir "$site/etc" --vardir "$site/var" --statedir "$site/state" --ssldir "$site/ssl" --cadir "$site/ca"
    --rundir "$site/run")
server=
trap '[ -z "$server" ] || kill $server 2>/dev/null; rm -rf "$scratch"' EXIT

# start ARGS...: starts a server with that configuration. Its standard error goes to $site/err.
start() {
    : >"$site/out"
    : >"$site/err"
    "$BUNRAKU" server "${at[@]}" "$@" >>"$site/out" 2>>"$site/err" &
    server=$!
    for _ in $(seq 400); do
        grep -q 'is ready' "$site/out" && break
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
}
end() {
    kill -TERM $server
    wait $server
    server=
}
wait_for_line() { # wait_for_line FILE PATTERN: waits for a line.
    for _ in $(seq 200); do
        grep -qE -- "$2" "$1" && return
        sleep 0.05
    done
    holds "$(<"$1")" "$2"
}

# -- Listens where webserver.conf specifies, and logs a line for each unsupported setting.
echo 'path /' >"$site/etc/auth.conf"
start
rm "$site/etc/auth.conf"
holds "$(<"$site/out")" '^Bunraku server is ready: https://127\.0\.0\.1:[0-9]+ http://127\.0\.0\.1:[0-9]+$'
time='^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} [+-][0-9]{4}'
holds "$(<"$site/err")" "$time Warning: The setting location_trusted has no effect: credentials are not sent on to another host$"
holds "$(<"$site/err")" "$time Warning: $site/etc/auth\.conf is not read: move its rules to $site/puppetserver/conf\.d/auth\.conf, or name it in the setting auth_config\$"
holds "$(<"$site/err")" "$time Warning: Unknown setting certnam: did you mean certname\?$"
holds "$(<"$site/err")" "$time Warning: ssl-protocols in $site/puppetserver/conf\.d/webserver\.conf has no effect: "
port=$(grep -o 'https://[^ ]*' "$site/out" | sed 's/.*://')
plain=$(grep -o 'http://[^ ]*' "$site/out")

# -- The runs of an agent, and the reasons why its catalogs were compiled.
agent() { run "$1" agent --test --color false --server localhost --serverport "$port" --certname web1.example "${@:2}"; }
why() { run "$1" catalog why "${@:2}" --url "$plain"; }
why 1 web1.example
holds "$err" '^Error: web1\.example has not requested a catalog since this server started$'
agent 2
why 0 web1.example
holds "$out" '^The catalog of web1\.example in environment production was compiled at .*: no catalog of this node is cached yet\.$'
for _ in $(seq 40); do
    agent 2
    why 0 web1.example
    grep -q 'was served from the cache' <<<"$out" && break
    sleep 0.1
done
holds "$out" '^The catalog of web1\.example in environment production was served from the cache at [0-9TZ:.-]+\.$'
why 0 web1.example --json
holds "$out" '^\{"node":"web1\.example","environment":"production","served":true,"reason":null,"details":\[\],'
echo 'notify { "now": message => "${Timestamp.new}" }' >"$site/envs/production/manifests/site.pp"
agent 2
agent 2
why 0 web1.example
holds "$out" 'was compiled at .*: it has reads that cannot be checked again\.$'
holds "$out" '^  clock$'
holds "$(<"$site/logs/access.log")" '"certname":"web1\.example","method":"(GET|POST)","target":"/puppet/v3/catalog/web1\.example'

# -- A failed compile names the client, and a refused certificate its subject.
echo 'fail("no")' >"$site/envs/production/manifests/site.pp"
agent 1
wait_for_line "$site/err" "$time Error: .*no \(.*\) on node web1\.example$"
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=stranger.example -days 1 -keyout "$scratch/s.key" \
    -out "$scratch/s.pem" 2>/dev/null
curl -sk --cert "$scratch/s.pem" --key "$scratch/s.key" "https://127.0.0.1:$port/status/v1/simple" >/dev/null
wait_for_line "$site/err" "$time Warning: Refused a TLS connection from 127\.0\.0\.1: the certificate of 'stranger\.example' \(serial 0x[0-9a-fA-F]+\) is not accepted: self-signed certificate$"

# -- Cumulative metrics are counters.
metrics=$(curl -s "$plain/metrics")
holds "$metrics" '^# TYPE bunraku_catalogs_compiled_total counter$'
holds "$metrics" '^bunraku_catalogs_reused_total [1-9]'
while read -r _ _ name kind; do
    case $name:$kind in
        *_total:counter | *_total:summary) ;;
        *_total:* | *:counter) echo "FAILED: $name is a $kind" && failures=$((failures + 1)) ;;
    esac
done < <(grep '^# TYPE' <<<"$metrics")
end

# -- JSON: each line has time, level and message. The last line reports that the server is ready.
start --log-format json
end
while IFS= read -r line; do
    holds "$line" '^\{"time":"[0-9-]+T[0-9:.]+Z","level":"[a-z]+","message":".*"[,}]'
done <"$site/err"
holds "$(<"$site/out")" '^\{"time":"[0-9-]+T[0-9:.]+Z","level":"notice","message":"Bunraku server is ready: https://[^"]*"\}$'

# -- In the journal, lines have a priority and no time, which the journal adds.
: >"$site/err"
export JOURNAL_STREAM
JOURNAL_STREAM=$(stat -c '%d:%i' "$site/err")
start
end
holds "$(<"$site/err")" '^<4>Warning: Unknown setting certnam: did you mean certname\?$'
lacks "$(<"$site/err")" "$time"
unset JOURNAL_STREAM

# -- The command line has precedence over webserver.conf. Unknown host names are errors.
start --https 127.0.0.1:0
lacks "$(<"$site/out")" ' http://'
end
run 1 server --setting access-lgo=/tmp/x
holds "$err" "^Error: Could not parse application options: Unknown setting 'access-lgo': did you mean access-log\?$"
run 1 server --setting utterly_unknown=1
holds "$err" "Unknown setting 'utterly_unknown'$"
run 0 compile --setting utterly_unknown=1 -e '' --node x
run 1 compile --setting certnam=1 -e '' --node x
holds "$err" "Unknown setting 'certnam': did you mean certname\?"

# -- A CA that this user cannot read is reported.
as=()
if [ "$(id -u)" -eq 0 ]; then
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod 755 "$scratch"
    chown -R 65534:65534 "$site"
fi
real=$BUNRAKU
unprivileged() { exec "${as[@]}" "$real" "$@"; }
chown 0:0 "$site/ca" 2>/dev/null
chmod 000 "$site/ca"
if ! "${as[@]}" ls "$site/ca" >/dev/null 2>&1; then
    BUNRAKU=unprivileged
    start
    end
    BUNRAKU=$real
    holds "$(<"$site/err")" "Error: The CA in $site/ca is not served: this user may not read it"
fi
chmod 700 "$site/ca"

# -- The timer runs every half hour. Each machine has a different fixed delay.
timer=$SOURCE/share/systemd/bunraku-agent-run.timer
lacks "$(<"$timer")" 'OnUnitActiveSec'
holds "$(<"$timer")" '^OnCalendar=\*:00/30$'
holds "$(<"$timer")" '^FixedRandomDelay=true$'
finish
