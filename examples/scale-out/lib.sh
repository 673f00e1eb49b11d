# Shared by the scripts of this example: where the parts are, and how to start them.
bunraku=${BUNRAKU:-bunraku}
root=${SCALE_OUT:-/tmp/bunraku-scale-out}
base=${SCALE_OUT_PORTS:-18000} # the first of fifty ports
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# ports of HAProxy, for the agents and for the compile servers
agents=$((base + 40)) stores=$((base + 41))
compile1=$((base + 1)) compile2=$((base + 2)) store1=$((base + 11)) store2=$((base + 12))
pg1=$((base + 21)) pg2=$((base + 22)) patroni1=$((base + 23)) patroni2=$((base + 24)) etcd=$((base + 25)) etcd_peer=$((base + 26))
database=postgresql://bunraku@127.0.0.1:$pg1,127.0.0.1:$pg2/store
programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
export PGPASSFILE=$root/pgpass

say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }
# is N STATE: reports whether Patroni gives pgN the state STATE (leader or replica). Patroni then
# returns the status 200.
is() { local rest=patroni$1; curl -sf -o /dev/null "http://127.0.0.1:${!rest}/$2"; }
# wait_for_state SECONDS N STATE
wait_for_state() {
    for _ in $(seq $(($1 * 5))); do
        is "$2" "$3" && return
        sleep 0.2
    done
    fail "pg$2 is not $3 after $1 s; see $root/patroni*.log"
}
# Patroni starts its PostgreSQL, and makes it a standby or initializes it again if necessary.
# Neither runs as root.
start_patroni() {
    local port=pg$1 rest=patroni$1 as=()
    (umask 077 && sed -e "s/@N@/$1/g;s/@PORT@/${!port}/g;s/@REST@/${!rest}/g;s/@ETCD@/$etcd/g" \
        -e "s|@ROOT@|$root|g;s|@PROGRAMS@|$programs|g;s/@PASSWORD@/$(<"$root/password")/g" \
        "$here/patroni.yml" >"$root/pg$1/patroni.yml")
    if [ "$(id -u)" = 0 ]; then
        as=(setpriv --reuid postgres --regid postgres --init-groups)
        chown postgres "$root/pg$1" "$root/pg$1/patroni.yml"
    fi
    run "patroni$1" env -C "$root/pg$1" HOME="$root/pg$1" "${as[@]}" patroni patroni.yml
}
# Simulates the failure of a machine, which ends both Patroni and PostgreSQL.
kill_pg() {
    kill_hard "patroni$1"
    kill -KILL "$(head -1 "$root/pg$1/data/postmaster.pid")"
}
# run NAME COMMAND..: runs a command in the background and writes its process ID to NAME.pid.
run() {
    local name=$1
    shift
    "$@" >>"$root/$name.log" 2>&1 &
    echo $! >"$root/$name.pid"
}
places() { echo --confdir "$root/$1/etc" --vardir "$root/$1/var" --statedir "$root/$1/state" --rundir "$root/$1/run" --logdir "$root/$1/log"; }
start_store() {
    # shellcheck disable=SC2046
    run "store$1" "$bunraku" server --roles store --http "127.0.0.1:$2" $(places "store$1") --database "$database" \
        --setting "read-database=$database" --setting read-database-max-lag=10s \
        --setting "store_key=$root/store.key"
}
start_compile() {
    # shellcheck disable=SC2046
    run "compile$1" "$bunraku" server --roles "$3" --https "127.0.0.1:$2" $(places "compile$1")
}
# wait_for_url SECONDS URL
wait_for_url() {
    for _ in $(seq $(($1 * 10))); do
        curl -ksf -o /dev/null "$2" && return
        sleep 0.1
    done
    fail "$2 does not respond; see $root/*.log"
}
kill_hard() { kill -KILL "$(<"$root/$1.pid")"; }
