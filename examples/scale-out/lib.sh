# What the scripts share: where things are, and how the parts are started.
bunraku=${BUNRAKU:-bunraku}
root=${SCALE_OUT:-/tmp/bunraku-scale-out}
base=${SCALE_OUT_PORTS:-18000} # the first of fifty ports
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
agents=$((base + 40)) stores=$((base + 41)) # HAProxy: what agents and compile servers are told
compile1=$((base + 1)) compile2=$((base + 2)) store1=$((base + 11)) store2=$((base + 12))
pg1=$((base + 21)) pg2=$((base + 22))
database=postgresql://bunraku@127.0.0.1:$pg1,127.0.0.1:$pg2/store
programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)

say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }
# PostgreSQL does not run as root.
postgres() {
    local program=$programs/$1
    shift
    if [ "$(id -u)" = 0 ]; then (cd / && exec runuser -u postgres -- "$program" "$@"); else "$program" "$@"; fi
}
port_of() { if [ "$1" = 1 ]; then echo "$pg1"; else echo "$pg2"; fi; }
sql() { "$programs/psql" -XAtq -h 127.0.0.1 -p "$(port_of "$1")" -U bunraku -c "$2" store; }
pg_start() { postgres pg_ctl start -s -w -D "$root/pg$1/data" -l "$root/pg$1/log"; }
pg_configure() {
    {
        echo "listen_addresses = '127.0.0.1'"
        echo "port = $(port_of "$1")"
        echo "unix_socket_directories = ''"
    } >>"$root/pg$1/data/postgresql.conf"
}
# follow STANDBY PRIMARY: the standby begins anew; from then on the primary says "done" when both have it.
follow() {
    rm -rf "$root/pg$1/data"
    postgres pg_basebackup -D "$root/pg$1/data" -h 127.0.0.1 -p "$(port_of "$2")" -U bunraku -R -X stream -c fast
    pg_configure "$1"
    pg_start "$1"
    sql "$2" "ALTER SYSTEM SET synchronous_standby_names = '*'"
    sql "$2" 'SELECT pg_reload_conf()' >/dev/null
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
