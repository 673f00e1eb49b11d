# Shared by the journeys: a scratch directory, a program to run, and checks that say what failed.
# $BUNRAKU is the binary, $SOURCE the repository.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export FACTER_scratch=$scratch HOME=$scratch NO_COLOR=1
places=(--confdir "$scratch/etc" --vardir "$scratch/var" --statedir "$scratch/state"
    --rundir "$scratch/run" --logdir "$scratch/log" --publicdir "$scratch/public")
mkdir -p "$scratch"/{etc,var,state,run,log,public}
failures=0

# run STATUS ARGS...: runs the program, checks its exit status; output in $out, errors in $err.
run() {
    local expected=$1 status=0
    shift
    "$BUNRAKU" "$@" "${places[@]}" >"$scratch/out" 2>"$scratch/err" || status=$?
    out=$(<"$scratch/out")
    err=$(<"$scratch/err")
    if [ "$status" -ne "$expected" ]; then
        printf 'FAILED: bunraku %s: exit %s, expected %s\n%s\n' "$*" "$status" "$expected" "$err"
        failures=$((failures + 1))
    fi
}
# holds TEXT PATTERN: TEXT matches the extended regular expression.
holds() {
    if ! grep -qE -- "$2" <<<"$1"; then
        printf 'FAILED: no /%s/ in\n%s\n' "$2" "$1"
        failures=$((failures + 1))
    fi
}
lacks() {
    if grep -qE -- "$2" <<<"$1"; then
        printf 'FAILED: /%s/ in\n%s\n' "$2" "$1"
        failures=$((failures + 1))
    fi
}
finish() { exit $((failures > 0)); }
