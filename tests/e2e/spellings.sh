#!/usr/bin/env bash
# Spellings of paths against rules of auth.conf. For each path, `spellings/recorded` contains the
# responses of puppetserver 7.9.5 to web1, which the rules allow, and to web2. Every spelling that
# puppetserver forbids is forbidden here, and every plain path is served.
. "$SOURCE/tests/e2e/lib.sh"
command -v openssl >/dev/null || { echo "skipped: openssl is not installed"; exit 0; }
here=$SOURCE/tests/e2e/spellings
modules=$scratch/code/environments/production/modules
mkdir -p "$modules/secret/files" "$modules/open/files/priv" "$modules/open/files/dir with space"
for file in secret/files/key open/files/f open/files/priv/p 'open/files/dir with space/k'; do
    echo x >"$modules/$file"
done
site=(--confdir "$scratch/etc" --ssldir "$scratch/ssl" --cadir "$scratch/ca" --vardir "$scratch/var"
    --codedir "$scratch/code" --setting certname=localhost --setting auth_config="$here/auth.conf")
"$BUNRAKU" server --roles ca,compiler --https 127.0.0.1:0 --statedir "$scratch/state" "${site[@]}" \
    >"$scratch/url" 2>"$scratch/err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 200); do [ -s "$scratch/url" ] && break; sleep 0.05; done
mkdir "$scratch/made"
for name in web1 web2; do
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$scratch/made/$name.key" \
        -subj "/CN=$name" -out "$scratch/made/$name.csr" 2>/dev/null &&
        openssl x509 -req -in "$scratch/made/$name.csr" -CA "$scratch/ca/ca_crt.pem" -CAkey "$scratch/ca/ca_key.pem" \
            -set_serial "0xff$((RANDOM))" -days 2 -out "$scratch/made/$name.pem" 2>/dev/null ||
        { echo "FAILED: $name has no certificate"; exit 1; }
done
python3 - "$(sed 's/.*://' "$scratch/url")" "$scratch/made" "$here/recorded" <<'EOS' || failures=1
import http.client, ssl, sys
port, folder, recorded = sys.argv[1:]
connections = {}
def ask(who, path):
    context = ssl._create_unverified_context()
    context.load_cert_chain(f"{folder}/{who}.pem", f"{folder}/{who}.key")
    for _ in range(2):
        connection = connections.setdefault(
            who, http.client.HTTPSConnection("127.0.0.1", int(port), context=context, timeout=30))
        try:
            connection.putrequest("GET", path, skip_accept_encoding=True)
            connection.putheader("Accept", "application/octet-stream, application/json")
            connection.endheaders()
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (http.client.HTTPException, OSError):
            del connections[who]
bad = served = 0
for line in open(recorded):
    path, *theirs = line.split()
    path = path if "?" in path else path + "?environment=production"
    for who, peer in zip(("web1", "web2"), map(int, theirs)):
        ours = ask(who, path)
        served += ours == 200
        # Other spellings may be rejected. A served spelling must be one that puppetserver serves.
        plain = not any(odd in path for odd in ("%", "//", ";", "+"))
        good = ours == peer if peer == 200 and plain else ours == 200 and peer == 200 or ours in (400, 403, 404, 500)
        if not good or ours is None:
            print(f"FAILED: {who} {path}: got {ours}, expected {peer}")
            bad += 1
print(f"{served} answers were 200")
sys.exit(bad > 0 or served < 300)
EOS
finish
