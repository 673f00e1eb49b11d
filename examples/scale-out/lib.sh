# What the scripts share: where things are, and how the parts are started.
bunraku=${BUNRAKU:-bunraku}
root=${SCALE_OUT:-/tmp/bunraku-scale-out}
base=${SCALE_OUT_PORTS:-18000} # the first of fifty ports
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
agents=$((base + 40)) stores=$((base + 41)) # HAProxy: what agents and compile servers are told
compile1=$((base + 1)) compile2=$((base + 2)) store1=$((base + 11)) store2=$((base + 12))
pg1=$((base + 21)) pg2=$((base + 22)) patroni1=$((base + 23)) patroni2=$((base + 24)) etcd=$((base + 25)) etcd_peer=$((base + 26))
database=postgresql://bunraku@127.0.0.1:$pg1,127.0.0.1:$pg2/store
programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
export PGPASSFILE=$root/pgpass

say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }
# What the cluster has in state $2 (leader, or replica): 200 where pg$1 is that.
is() { local rest=patroni$1; curl -sf -o /dev/null "http://127.0.0.1:${!rest}/$2"; }
# until_is SECONDS N STATE
until_is() {
    for _ in $(seq $(($1 * 5))); do
        is "$2" "$3" && return
        sleep 0.2
    done
    fail "pg$2 is no $3 after $1 s; see $root/patroni*.log"
}
# Patroni starts its PostgreSQL, and makes it a standby, or anew, where it has to. Neither runs as root.
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
# A machine that dies takes both with it.
kill_pg() {
    kill_hard "patroni$1"
    kill -KILL "$(head -1 "$root/pg$1/data/postmaster.pid")"
}
# run NAME COMMAND..: in the background, its number in NAME.pid.
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
# until_answers SECONDS URL
until_answers() {
    for _ in $(seq $(($1 * 10))); do
        curl -ksf -o /dev/null "$2" && return
        sleep 0.1
    done
    fail "$2 does not answer; see $root/*.log"
}
kill_hard() { kill -KILL "$(<"$root/$1.pid")"; }
