#!/bin/bash
# Runs every command in README and docs exactly as written, in a copy of examples/control. Only the
# ports and the state directory of a server are replaced. For a block that cannot run, the line
# above gives the reason: <!-- not run: REASON -->. For its commands the test checks everything that
# needs no side effects: that the subcommands, actions, options and scripts exist. Servers continue
# to run after their block.
#   documents.sh [DOCUMENT...]   only these documents
. "${0%/*}/lib.sh"
as=()
if [ "$(id -u)" = 0 ]; then # Readers must be able to run the commands without privileges.
    command -v setpriv >/dev/null || { echo "This test needs setpriv"; exit 1; }
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
mkdir -p "$scratch/bin" "$scratch/real" "$scratch/home" "$scratch/work" "$scratch/pids"
cp "$BUNRAKU" "$scratch/real/bunraku"
ln -s bunraku "$scratch/real/puppet"
# Differences that `bunraku diff` finds are not a failure, and a server runs in the background.
cat >"$scratch/bin/bunraku" <<EOF
#!/bin/bash
program=$scratch/real/\${0##*/}
case "\$1 \$2" in
    diff\ *)
        "\$program" "\$@" || [ \$? = 2 ]
        ;;
    server\ * | forge\ serve)
        log=\$(mktemp -p $scratch/pids)
        "\$program" "\$@" >"\$log" 2>&1 &
        echo \$! >>$scratch/pids/all
        for _ in \$(seq 200); do
            grep -qE "ready|listens" "\$log" && exit 0
            kill -0 \$! 2>/dev/null || break
            sleep 0.05
        done
        cat "\$log" >&2
        exit 1
        ;;
    *) exec "\$program" "\$@" ;;
esac
EOF
chmod +x "$scratch/bin/bunraku"
ln -s bunraku "$scratch/bin/puppet"
stop_servers() {
    [ ! -f "$scratch/pids/all" ] || while read -r pid; do kill "$pid" 2>/dev/null; done <"$scratch/pids/all"
    rm -f "$scratch/pids/all"
}
trap 'stop_servers; rm -rf "$scratch"' EXIT
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

commands=0 checked=0 all=
cd "$SOURCE" || exit 1
[ $# -gt 0 ] || { all=1; set -- *.md docs/*.md examples/README.md; }
for document; do
    grep -q '^```sh$' "$document" || continue
    rm -rf "$scratch/work" "$scratch/home" "$scratch"/lib*
    mkdir "$scratch/home" "$scratch/lib"
    cp -r "$SOURCE/examples/control" "$scratch/work"
    cp -r "$SOURCE/examples" "$scratch/work/examples"
    elsewhere=(-e "s#/tmp/#$scratch/home/#g" -e "s#127\.0\.0\.1:8080#127.0.0.1:$(free_port)#g" -e "s#127\.0\.0\.1:8082#127.0.0.1:$(free_port)#g"
        -e "s#/var/lib/bunraku#$scratch/lib#g")
    sed -i "${elsewhere[@]}" "$scratch/work/Puppetfile" "$scratch/work/modules/ntp/manifests/init.pp"
    chmod -R a+rX "$scratch"
    [ "${#as[@]}" = 0 ] || chown -R 65534:65534 "$scratch"
    rm -rf "$scratch/blocks" && mkdir "$scratch/blocks"
    awk -v to="$scratch/blocks" '
        /^```sh$/ { n++; open = 1; start = NR; skip = (before ~ /^<!-- not run: .+ -->$/); next }
        /^```/ { open = 0; next }
        open { printf "%s\n", $0 >sprintf("%s/%03d-%d%s", to, n, start, skip ? ".not-run" : "") }
        { before = $0 }' "$SOURCE/$document"
    for block in "$scratch"/blocks/*; do
        [ -e "$block" ] || continue
        if [[ $block = *.not-run ]]; then
            sed -i "${elsewhere[@]}" "$block"
            # Prints only help. The other user may be unable to read the repository.
            if ! env "HOME=$scratch/home" python3 -B "$SOURCE/tests/e2e/documents_check.py" "$scratch/real/bunraku" "$SOURCE" "$block" >"$scratch/said" 2>&1; then
                block=${block%.not-run}
                printf 'FAILED: the block of line %s in %s\n%s\n' "${block##*-}" "$document" "$(<"$scratch/said")"
                failures=$((failures + 1))
            fi
            checked=$((checked + 1))
            continue
        fi
        commands=$((commands + $(grep -cE '^ *(bunraku|puppet) ' "$block")))
        sed -i "${elsewhere[@]}" "$block"
        if ! (cd "$scratch/work" && "${as[@]}" env -i "PATH=$scratch/bin:/usr/bin:/bin" \
            "HOME=$scratch/home" LANG=C.UTF-8 bash -e -o pipefail "$block" >"$scratch/said" 2>&1 </dev/null); then
            printf 'FAILED: the block of line %s in %s\n' "${block##*-}" "$document"
            cat "$block" "$scratch/said"
            failures=$((failures + 1))
        fi
    done
    stop_servers
done
# Checks that not too many blocks were skipped.
[ -z "$all" ] || { [ "$commands" -gt 60 ] && [ "$checked" -gt 15 ]; } || { echo "FAILED: found only $commands commands"; failures=$((failures + 1)); }
finish
