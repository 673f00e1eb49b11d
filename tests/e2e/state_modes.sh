#!/usr/bin/env bash
# The modes of state files. Regardless of the umask, each file and folder of a server, an agent, the
# forge and the commands has the mode of the table in docs/files.md.
. "$SOURCE/tests/e2e/lib.sh"
command -v openssl >/dev/null || { echo "skipped: openssl is not installed"; exit 0; }
umask 0
mkdir -p "$scratch/etc/puppetserver/conf.d" "$scratch/code/environments/production/manifests"
cat >"$scratch/code/environments/production/manifests/site.pp" <<'EOS'
@@notify { "from ${facts['networking']['hostname']}": message => Sensitive('planted') }
file { "${facts['scratch']}/managed": content => 'x' }
EOS
echo 'certificate-authority: { server-ec-certificate: true }' >"$scratch/etc/puppetserver/conf.d/ca.conf"
rmdir "$scratch/state"
chmod -R go-w "$scratch/code" "$scratch/log" "$scratch/var"
site=(--confdir "$scratch/etc" --ssldir "$scratch/ssl" --cadir "$scratch/ca" --vardir "$scratch/var"
    --rundir "$scratch/run" --logdir "$scratch/log" --publicdir "$scratch/public" --codedir "$scratch/code")
forge() { "$BUNRAKU" forge "$@" --statedir "$scratch/state" >>"$scratch/forge.out" 2>&1 || echo "FAILED: forge $*"; }

# The forge is first, because its commands create the state folder.
mkdir -p "$scratch/acme-web" && cd "$scratch" || exit 1
echo '{"name":"acme-web","version":"1.0.0","author":"acme","license":"x","summary":"s","source":"s","dependencies":[]}' \
    >acme-web/metadata.json
"$BUNRAKU" module build acme-web >/dev/null || echo 'FAILED: module build'
for repo in inside open; do
    forge create --repo $repo $([ $repo = open ] || echo --private)
    forge upload --repo $repo acme-web/pkg/*.gz
    forge publish --repo $repo
done
forge user create --name alice
forge token create --name ci --repo inside
"$BUNRAKU" token create --name t --scope query --statedir "$scratch/state" >/dev/null 2>&1
viewer=$("$BUNRAKU" token create --name v --role viewer --statedir "$scratch/state" 2>/dev/null)

"$BUNRAKU" server --https 0.0.0.0:0 --statedir "$scratch/state" "${site[@]}" --setting certname=localhost \
    --setting autosign=true --setting ca_key_type=rsa --setting keylength=2048 \
    --setting access-log="$scratch/log/access.log" >"$scratch/url" 2>"$scratch/err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 200); do [ -s "$scratch/url" ] && break; sleep 0.05; done
port=$(sed 's/.*://' "$scratch/url")
agent=(agent --onetime --no-daemonize --test --server localhost --serverport "$port" --certname node1
    --ssldir "$scratch/agent/ssl" --vardir "$scratch/agent/var" --statedir "$scratch/agent/var/state"
    --confdir "$scratch/agent/etc" --rundir "$scratch/agent/run" --logdir "$scratch/agent/log"
    --publicdir "$scratch/agent/public")
for _ in 1 2; do
    "$BUNRAKU" "${agent[@]}" >"$scratch/agent.out" 2>&1
    case $? in 0 | 2) ;; *) echo "FAILED: agent: $(<"$scratch/agent.out")"; failures=1 ;; esac
done
"$BUNRAKU" ca revoke --certname node1 "${site[@]}" --server localhost --serverport "$port" >/dev/null 2>&1
# A sign-in to the console writes its audit log.
curl -sk -o /dev/null --data-urlencode "token=$viewer" "https://localhost:$port/console/sign-in"
[ "$(stat -c %a "$scratch/state/console-link")" = 600 ] || { echo "FAILED: console-link is not 0600"; failures=1; }
grep -q "^https://localhost:$port/console/link/" "$scratch/state/console-link" ||
    { echo "FAILED: console-link: $(<"$scratch/state/console-link")"; failures=1; }
kill $server; wait $server 2>/dev/null

python3 - "$SOURCE/docs/files.md" "$scratch" <<'EOS' || failures=$((failures + 1))
import fnmatch, os, re, stat, sys
text = open(sys.argv[1]).read().split("## Modes", 1)[1].split("\n## ", 1)[0]
rows, optional = [], set()
for names, mode in re.findall(r"^\| (`.*) \| (\d+) \|$", text, re.M):
    for pattern in re.findall(r"`([^`]+)`", names):
        rows.append((pattern, int(mode, 8)))
        if "while it is open" in names or "while the server runs" in names:
            optional.add(rows[-1])
top = sys.argv[2]
places = {"STATEDIR": "state", "SSLDIR": "ssl", "CADIR": "ca", "VARDIR": "var", "LOGDIR": "log",
          "AGENT/SSLDIR": "agent/ssl", "AGENT/VARDIR": "agent/var", "AGENT/PUBLICDIR": "agent/public",
          "AGENT/RUNDIR": "agent/run"}
def matches(path, pattern):
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(fnmatch.fnmatchcase(a, b) for a, b in zip(parts, wanted))
bad, used = [], set()
for name, folder in places.items():
    for base, folders, files in os.walk(f"{top}/{folder}"):
        for entry in [base, *(f"{base}/{f}" for f in files)]:
            status = os.lstat(entry)
            if stat.S_ISLNK(status.st_mode) or stat.S_ISSOCK(status.st_mode):
                continue
            shown = name + entry[len(f"{top}/{folder}"):] + ("/" if stat.S_ISDIR(status.st_mode) else "")
            row = next((r for r in rows if matches(shown, r[0])), None)
            if row is None:
                bad.append(f"no row for {shown} {status.st_mode & 0o7777:04o}")
                continue
            used.add(row)
            if status.st_mode & 0o7777 != row[1]:
                bad.append(f"{shown} has {status.st_mode & 0o7777:04o}, the table says {row[1]:04o} ({row[0]})")
bad += [f"nothing matches the row {p}" for p, m in rows if (p, m) not in used | optional]
print("\n".join(f"FAILED: {line}" for line in bad))
sys.exit(1 if bad else 0)
EOS
finish
