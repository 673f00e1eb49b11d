#!/bin/bash
# Tests completion in real shells, for words of every kind: commands, actions, options, settings,
# types, environments, nodes, facts. Also checks the manual pages with mandoc.
. "${0%/*}/lib.sh"
# Runs as an unprivileged user, whose settings are below HOME.
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
mkdir -p "$scratch/bin" "$scratch/home/.config/puppetlabs/puppet" "$scratch/envs"/{production,testing}/manifests
cp "$BUNRAKU" "$scratch/bin/bunraku"
ln -s bunraku "$scratch/bin/facter"
printf '[main]\nenvironmentpath = %s/envs\n' "$scratch" >"$scratch/home/.config/puppetlabs/puppet/puppet.conf"
for shell in bash zsh fish; do "$BUNRAKU" completion "$shell" >"$scratch/$shell"; done
chmod a+rx "$scratch"
[ ${#as[@]} = 0 ] || chown -R 65534:65534 "$scratch/home"
as=("${as[@]}" env -i "PATH=$scratch/bin:/usr/bin:/bin" "HOME=$scratch/home" TERM=xterm LANG=C.UTF-8)
# A node is known once it has a catalog.
"${as[@]}" bunraku compile --node web1.example.org --storeconfigs -e 'notify { a: }' >"$scratch/out" 2>"$scratch/err" ||
    { cat "$scratch/err"; failures=$((failures + 1)); }
cat >"$scratch/cases" <<'CASES'
bunraku filebu|bunraku filebucket
bunraku node cl|bunraku node clean
bunraku node clean we|bunraku node clean web1.example.org
bunraku config print environmentp|bunraku config print environmentpath
bunraku compile --environment tes|bunraku compile --environment testing
bunraku apply --noo|bunraku apply --noop
bunraku resource filebu|bunraku resource filebucket
bunraku describe filebu|bunraku describe filebucket
facter os.fam|facter os.family
CASES
cat >"$scratch/press.py" <<'PYTHON'
import os, pty, select, sys, time
shell, script, cases, lines, *start = sys.argv[1:]
start += {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
# Another key writes the current command line to a file.
keep = {"bash": """bind -x '"\\C-g": printf "%%s\\n" "$READLINE_LINE" >>%s; READLINE_LINE='""",
        "zsh": """autoload -U compinit; compinit -u -D; keep() { print -r -- "$BUFFER" >>%s; BUFFER= }; zle -N keep; bindkey '^G' keep"""}
pid, fd = pty.fork()
if pid == 0:
    os.execvp(start[0], start)
def kept(count):
    """The lines so far, once there are as many."""
    end = time.time() + 20
    while time.time() < end:
        if select.select([fd], [], [], 0.02)[0]:
            try:
                os.read(fd, 65536)
            except OSError:
                break
        with open(lines) as fh:
            found = fh.read().splitlines()
        if len(found) >= count:
            return found
    return found
def press(keys):
    os.write(fd, keys.encode())
press(keep[shell] % lines + "\r")
press("source %s; echo ready >>%s\r" % (script, lines))
kept(1)
wanted = ["ready"]
for case in open(cases).read().splitlines():
    typed, expected = case.split("|")
    press(typed + "\t\x07")
    wanted.append(expected)
    kept(len(wanted))
found = kept(len(wanted))
press("exit\r")
os.close(fd)
os.waitpid(pid, 0)
for now, expected in zip(found + [None] * len(wanted), wanted):
    if now is None or now.rstrip() != expected:
        print("FAILED: %s: got %r, expected %r" % (shell, now, expected))
        sys.exit(1)
PYTHON
there() {
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; return 1; }
}
for shell in bash zsh; do
    there "$shell" || continue
    : >"$scratch/home/lines.$shell"
    chmod a+w "$scratch/home/lines.$shell"
    python3 "$scratch/press.py" "$shell" "$scratch/$shell" "$scratch/cases" "$scratch/home/lines.$shell" "${as[@]}" ||
        failures=$((failures + 1))
done
if there fish; then
    # fish can print the completions of a command line.
    while IFS='|' read -r typed wanted; do
        found=$("${as[@]}" fish --no-config -c "source $scratch/fish; complete -C '$typed'" 2>&1 | cut -f 1)
        [[ $'\n'$found$'\n' == *$'\n'"${wanted##* }"$'\n'* ]] ||
            { echo "FAILED: fish: '$typed' was not completed to '$wanted': $found"; failures=$((failures + 1)); }
    done <"$scratch/cases"
fi
if there mandoc; then
    "$BUNRAKU" help --man "$scratch/man"
    warnings=$(mandoc -Tlint -W warning "$scratch"/man/man*/* 2>&1) || failures=$((failures + 1))
    [ -z "$warnings" ] || { echo "FAILED: mandoc: $warnings"; failures=$((failures + 1)); }
fi
finish
