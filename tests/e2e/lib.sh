# Shared by the end-to-end tests: a scratch directory, functions that run the program, and checks
# that print failures. $BUNRAKU is the binary, $SOURCE the repository.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export FACTER_scratch=$scratch HOME=$scratch NO_COLOR=1
# With Debian's puppet on the machine, ssldir and codedir are not below confdir unless they are set.
# Modules of the machine would add facts to every run.
places=(--confdir "$scratch/etc" --ssldir "$scratch/etc/ssl" --basemodulepath "$scratch/etc/modules" --vardir "$scratch/var" --statedir "$scratch/state"
    --rundir "$scratch/run" --logdir "$scratch/log" --publicdir "$scratch/public")
mkdir -p "$scratch"/{etc,var,state,run,log,public}
failures=0
# Without --cadir, a server makes its CA there.
machine=/etc/puppetlabs
[ ! -e $machine ] || machine=

# run STATUS ARGS...: runs the program and checks its exit status. Its output is in $out, its errors
# in $err. --ssldir and --basemodulepath of ARGS have precedence over those of the scratch directory.
run() {
    local expected=$1 status=0 at=("${places[@]}") option i
    shift
    for option in --ssldir --basemodulepath; do
        [[ " $* " == *" $option "* ]] || continue
        for i in "${!at[@]}"; do [ "${at[i]-}" != "$option" ] || unset 'at[i]' 'at[i+1]'; done
    done
    "$BUNRAKU" "$@" "${at[@]}" >"$scratch/out" 2>"$scratch/err" || status=$?
    out=$(<"$scratch/out")
    err=$(<"$scratch/err")
    if [ "$status" -ne "$expected" ]; then
        printf 'FAILED: bunraku %s: exit %s, expected %s\n%s\n' "$*" "$status" "$expected" "$err"
        failures=$((failures + 1))
    fi
}
# holds TEXT PATTERN: checks that TEXT matches the extended regular expression.
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
finish() {
    if [ -n "$machine" ] && [ -e "$machine" ]; then
        echo "FAILED: a test wrote below $machine"
        failures=$((failures + 1))
    fi
    exit $((failures > 0))
}
