#!/bin/bash
# Information about the program, and Puppet's smaller commands: filebucket, plugin, report, script,
# device, node find and clean, completion, manual pages, doctor, eval at a terminal. Texts are those
# of Puppet 8.11.
. "${0%/*}/lib.sh"
equal() {
    [ "$1" = "$2" ] || { printf 'FAILED: %s is not %s\n' "$1" "$2"; failures=$((failures + 1)); }
}
# -- filebucket
echo hello >"$scratch/a"
echo again >"$scratch/b"
a=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
b=9252a75c942da16f7b52cab752797dea4fca18474db9d7eff102842a459b25b3
run 0 filebucket -l backup "$scratch/a" "$scratch/b" "$scratch/none"
equal "$out" "$scratch/a: $a
$scratch/b: $b"
equal "$err" "$scratch/none: no such file"
run 0 filebucket -l list
holds "$out" "^$a [0-9-]{10} [0-9:]{8} $scratch/a\$"
run 0 filebucket -l -f 2015-01-01 -t '2016-01-01 10:00' list
equal "$out" ""
run 0 filebucket -l -f 2015-01-01 list
holds "$out" "^$b "
run 0 filebucket -l diff "$a" "$b"
holds "$out" '^-hello$'
run 0 filebucket -l diff "$scratch/a" "$b"
holds "$out" '^\+again$'
run 0 filebucket -l get "$a"
equal "$out" hello
chmod 0444 "$scratch/b"
run 0 filebucket -l restore "$scratch/b" "$a"
equal "$(<"$scratch/b") $(stat -c %a "$scratch/b")" "hello 444"
while IFS='|' read -r arguments text; do
    run 1 filebucket $arguments
    holds "$err" "Error: Could not run: $text\$"
done <<CASES
-l diff $a|Need exactly two arguments: filebucket diff <file_a> <file_b>
-l get abc|Invalid checksum "abc"
-l get ../../../etc/passwd|Invalid checksum "../../../etc/passwd"
-l get 0${a#?}|File not found
-l -f nonsense list|Error while parsing 'fromdate'
-l -t 2026-13-40 list|Error while parsing 'todate'
-l backup|You must specify a file to back up
-b $scratch/nobody list|File not found
CASES
run 1 filebucket backup "$scratch/a"
holds "$err" "Failed to initialize SSL: The CA certificates are missing from '$scratch/etc/ssl/certs/ca.pem'"
run 1 filebucket nothing
# -- faces
while IFS='|' read -r arguments text; do
    run 1 $arguments
    holds "$err" "Error: $text\$"
done <<'CASES'
node|'node' has no default action.  See `bunraku help node`.
node bogus|'node' has no 'bogus' action.  See `bunraku help node`.
node clean|At least one node should be passed
node clean ../x|invalid key
node find x --terminus nope|Could not set 'node' terminus to 'nope' \(Could not find terminus nope for indirection node\); valid terminus types are exec, json, memory, msgpack, plain, puppetdb, rest, store_configs, yaml
plugin|'plugin' has no default action.  See `bunraku help plugin`.
plugin download x|bunraku plugin download takes 0 arguments, but you gave 1
plugin download|No more routes to puppet
report|'report' has no default action.  See `bunraku help report`.
catalog download|No more routes to puppet
device|Network devices are not managed: .*
help facts bogus|'facts' has no 'bogus' action.  See `bunraku help facts`.
CASES
run 0 node info
equal "$out" "Run mode 'user': plain"
printf '#!/bin/sh\nprintf "classes: {ntp: {server: %%s}}\\nparameters: {role: web}\\n" "$1"\n' >"$scratch/enc"
chmod +x "$scratch/enc"
mkdir -p "$scratch/code/environments/production"
run 0 node find web1 --codedir "$scratch/code" --terminus exec --external_nodes "$scratch/enc"
holds "$out" '"server": "web1"'
holds "$out" '"role": "web"'
mkdir -p "$scratch/var/yaml/facts" "$scratch/var/reports/web1"
touch "$scratch/var/yaml/facts/web1.yaml" "$scratch/var/reports/web1/x.yaml"
run 0 node clean -v --cadir "$scratch/etc/ca" web1
equal "$(find "$scratch/var" -name 'web1*')" ""
run 0 script --codedir "$scratch/code" -e 'notice(1 + 1)'
holds "$out" ': 2$'
run 1 script --codedir "$scratch/code" -e 'file { "/x": }'
holds "$err" 'Resource Statement is only available when compiling a catalog'
# -- information about the program
run 0 help
holds "$out" '^  This machine:$'
run 0 help node clean
holds "$out" '^    bunraku node clean NODE'
holds "$("$BUNRAKU" --version)" '^libraries .*OpenSSL'
holds "$("$BUNRAKU" completion --words -- config print environmentp)" '^environmentpath'
holds "$("$BUNRAKU" completion --words -- resource use)" '^user'
holds "$("$BUNRAKU" completion --words -- facts os.fa)" '^os\.family'
holds "$("$BUNRAKU" completion --words -- node cl)" '^clean'
for shell in bash zsh fish; do
    run 0 completion "$shell"
    ! command -v "$shell" >/dev/null || "$shell" -n "$scratch/out" ||
        { echo "FAILED: $shell cannot parse its completion script"; failures=$((failures + 1)); }
done
run 1 completion tcsh
"$BUNRAKU" help --man "$scratch/man"
holds "$(<"$scratch/man/man1/bunraku-filebucket.1")" '^\\fB\\-b, \\-\\-bucket DIR\\fR$'
holds "$(<"$scratch/man/man5/bunraku.conf.5")" '^\.B environmentpath$'
if LC_ALL=C grep -lP '[^\n -~\x80-\xff]' "$scratch"/man/man*/*; then
    echo "FAILED: control characters in manual pages"
    failures=$((failures + 1))
fi
run 0 doctor
holds "$out" '^ok +program'
run 0 doctor --json
python3 -c 'import json, sys; assert all(set(f) == {"state", "about", "text"} for f in json.load(sys.stdin))' <<<"$out" ||
    failures=$((failures + 1))
# -- JSON output of all commands that list something
is_json() {
    holds "$(python3 -c 'import json, sys; d = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$out" "$1" 2>&1)" '^True$'
}
run 0 describe --json file
is_json '[t["name"] for t in d["resource_types"]] == ["file"] and "mode" in [p["name"] for p in d["resource_types"][0]["properties"]]'
run 0 describe --json --kind type --list
is_json '{"user", "package"} <= {t["name"] for t in d}'
run 0 resource --types --json
is_json '"file" in d'
run 0 resource --json user root
is_json 'str(d["user"]["root"]["uid"]) == "0"'
run 0 parser validate --json -e 'notice(1)'
is_json 'd == {}'
echo 'class {' >"$scratch/broken.pp"
run 1 parser validate --json "$scratch/broken.pp"
is_json 'list(d.values())[0]["issue_code"] == "SYNTAX_ERROR"'
run 0 lookup --json --default x nothing
is_json 'd == "x"'
run 0 filebucket -l list --json
is_json '{"digest", "time", "path"} == set(d[0])'
run 0 test --list --json --modulepath "$SOURCE/examples/control/modules" --facts-dir "$SOURCE/examples/control/facts"
is_json 'len(d) > 0 and all(set(t) == {"subject", "facts", "file"} for t in d)'
run 0 apply -e 'notice(1)' --reportdir "$scratch/reports"
run 0 report list --json --reportdir "$scratch/reports"
is_json '[set(r) for r in d] == [{"host", "time", "file"}]'
out=$("$BUNRAKU" help --json)
is_json '"apply" in [c["name"] for c in d]'
# -- misspelt actions
while IFS='|' read -r words meant; do
    # shellcheck disable=SC2086 # several words
    "$BUNRAKU" $words >/dev/null 2>"$scratch/err" && holds "$words" 'fails'
    holds "$(<"$scratch/err")" "^Did you mean $meant\?\$"
done <<'ACTIONS'
module instal|install
ca sgin|sign
config prnt|print
forge publsh|publish
help module instal|install
ACTIONS
# -- read-only attributes are comments in the editor; Puppet's own `resource --edit` fails on them
mkdir -m 0777 "$scratch/user"
echo 1 >"$scratch/user/edited"
chmod 0644 "$scratch/user/edited"
cp "$BUNRAKU" "$scratch/user/bunraku" # another user may be unable to read the build
as=()
[ "$(id -u)" != 0 ] || { as=(setpriv --reuid 65534 --regid 65534 --clear-groups); chown 65534 "$scratch/user/edited"; chmod a+x "$scratch"; }
out=$(cd "$scratch/user" && "${as[@]}" env HOME="$scratch/user" EDITOR="sed -i s/0644/0600/" "$scratch/user/bunraku" resource --edit file "$scratch/user/edited" 2>&1)
equal "$(stat -c %a "$scratch/user/edited")" 600
# -- eval at a terminal: history, completion, incomplete code, end of input
at_terminal() {
    python3 - "$BUNRAKU" eval --codedir "$scratch/code" "${places[@]}" <<'PYTHON'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
def until(prompt, since):
    global said
    end = time.time() + 20
    while said.find(prompt, since) < 0 and time.time() < end:
        if select.select([fd], [], [], 1)[0]:
            try:
                said += os.read(fd, 65536)
            except OSError:
                return
until(b"puppet> ", 0)
for keys, answer in [(b"$x = 20\r", b"=> 20"), (b"$x + 22\r", b"=> 42"), (b"\x1b[A\r", b"=> 42"), (b"[1,\r2]\r", b"=> [1, 2]"),
                     (b"camelc\t('a_b')\r", b"=> 'AB'"), (b"1/0\r", b"Division by 0"), (b":nothing\r", b"Unknown command :nothing"),
                     (b"include nope\r", b"nope"), (b":vars\r", b"$x"), (b"7\x01\x05\x7f8\r", b"=> 8")]:
    before = len(said)
    os.write(fd, keys)
    until(answer, before)
    until(b"puppet> ", said.find(answer, before) + 1)
    if said.find(answer, before) < 0:
        print("FAILED:", keys, said[before:])
os.write(fd, b"\x04")
os.waitpid(pid, 0)
PYTHON
}
holds "$(at_terminal)x" '^x$'
equal "$(stat -c %a "$scratch/state/eval_history")" 600
# -- doctor: a key of another certificate, a classifier and a report processor that do not exist
pki=$scratch/pki
mkdir -p "$pki"
for name in one two; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=$name" \
        -keyout "$pki/$name.key" -out "$pki/$name.pem" 2>/dev/null
done
chmod 600 "$pki"/*.key
checked() {
    run "$1" doctor --hostcert "$pki/one.pem" --localcacert "$pki/one.pem" --hostprivkey "$pki/$2.key" \
        --hostcrl "$pki/none.pem" --reports "$3" --node_terminus "$4" --external_nodes "$5"
}
checked 0 one store,log exec /bin/true
holds "$out" "^ok +private key +$pki/one.key\$"
holds "$out" '^ok +classifier +/bin/true$'
checked 1 two store,nowhere exec "$scratch/no-such-program"
holds "$out" "^bad +private key +$pki/two.key does not belong to the certificate $pki/one.pem"
holds "$out" "^bad +classifier +$scratch/no-such-program \\(setting external_nodes\\) does not exist"
holds "$out" '^bad +report processor +nowhere \(setting reports\) is in no module'
run 0 doctor --certificate_revocation false
holds "$out" '^note +revocation list +is not used'
# -- the setting `path`: the PATH of ordinary users has no /usr/sbin, where useradd is
PATH=/usr/bin:/bin run 0 resource user root
holds "$out" "^user \{ 'root':"
PATH=/usr/bin:/bin run 0 eval --path /opt/none -e 'notice(generate("/usr/bin/env"))'
holds "$out$err" 'PATH=/opt/none:/usr/sbin:/sbin'
finish
