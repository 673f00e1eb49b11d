#!/usr/bin/env bash
# The life cycle of a certificate: a node requests it, and the CA commands list, sign, revoke and
# clean it. The CA is rolled over while the server runs. All of this works offline in the CA folder,
# too.
. "$SOURCE/tests/e2e/lib.sh"

server_places=(--confdir "$scratch/s/etc" --vardir "$scratch/s/var" --ssldir "$scratch/s/ssl"
    --statedir "$scratch/s/state" --cadir "$scratch/s/ca")
mkdir -p "$scratch/s/etc"
printf '[main]\ncertname = localhost\n' >"$scratch/s/etc/puppet.conf"
"$BUNRAKU" server --roles ca --https 127.0.0.1:0 "${server_places[@]}" \
    >"$scratch/server.out" 2>"$scratch/server.err" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 200); do
    [ -s "$scratch/server.out" ] && break
    sleep 0.05
done
port=$(sed 's/.*://' "$scratch/server.out")
at=(--server localhost --serverport "$port")
node=(--ssldir "$scratch/n/ssl" --certname a.example --key_type ec "${at[@]}")
# ca STATUS ARGS...: runs a CA command and checks its exit status.
ca() {
    local expected=$1 status=0
    shift
    "$BUNRAKU" ca "$@" "${server_places[@]}" "${at[@]}" >"$scratch/out" 2>"$scratch/err" || status=$?
    out=$(<"$scratch/out")
    err=$(<"$scratch/err")
    [ "$status" -eq "$expected" ] && return
    printf 'FAILED: ca %s: exit %s, expected %s\n%s\n%s\n' "$*" "$status" "$expected" "$out" "$err"
    failures=$((failures + 1))
}
# output_is TEXT: checks that standard output is exactly TEXT.
output_is() {
    [ "$out" = "$1" ] && return
    printf 'FAILED: expected\n%s\nbut got\n%s\n%s\n' "$1" "$out" "$err"
    failures=$((failures + 1))
}

ca 0 list
output_is 'No certificates to list'
run 1 ssl bootstrap "${node[@]}" --waitforcert 0
holds "$out" "^Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate \(a.example\)\.$"
holds "$err" '^Error: Exiting now because the waitforcert setting is set to 0\.$'
ca 0 list
holds "$out" '^Requested Certificates:$'
holds "$out" '^    a\.example        *\(SHA256\)  ([0-9A-F]{2}:){31}[0-9A-F]{2}$'
ca 1 sign --certname none.example
holds "$err" 'Could not find certificate request for none\.example'
ca 1 sign
holds "$err" '^No arguments given$'
ca 0 sign --certname a.example --ttl 90d
output_is 'Successfully signed certificate request for a.example'
ca 24 sign --all
run 0 ssl bootstrap "${node[@]}" --waitforcert 0
holds "$out" '^Notice: Completed SSL initialization$'
run 0 ssl verify "${node[@]}"
holds "$out" "^Notice: Verified client certificate 'CN=a\.example' fingerprint \(SHA256\) "
ca 1 list --certname a.example,b.example --format json
holds "$out" '^\{"signed":\[\{"name":"a\.example",.*\],"missing":\["b\.example"\]\}$'
ca 0 generate --certname db.example --key_type ec
holds "$out" '^Successfully submitted certificate request for db\.example$'
ca 0 doctor
holds "$out" 'Nothing expires within 30 days'
ca 1 doctor --within 100d --json
holds "$out" '"state":"soon".*"kind":"agent","name":"a\.example"'

# The next CA, a node that fetches it, and certificates that it signs.
ca 0 rollover begin --ca-name 'The next'
ca 1 rollover switch
holds "$err" 'agents that have not fetched it yet would refuse'
for _ in $(seq 100); do
    grep -q "$(sed -n 2p "$scratch/s/ca/ca_crt.pem")" "$scratch/s/ssl/certs/ca.pem" &&
        [ "$(grep -c BEGIN "$scratch/s/ssl/certs/ca.pem")" = 2 ] && break
    sleep 0.2
done
ca 0 rollover switch --force
holds "$out" '^The next signs from now on'
for _ in $(seq 100); do
    grep -q 'signed by The next' "$scratch/server.err" && break
    sleep 0.2
done
new=(--ssldir "$scratch/m/ssl" --certname b.example --key_type ec "${at[@]}")
run 1 ssl bootstrap "${new[@]}" --waitforcert 0
ca 0 sign --all
run 0 ssl bootstrap "${new[@]}" --waitforcert 0
run 0 ssl show "${new[@]}"
holds "$out" 'Issuer: CN ?= ?The next'
ca 1 rollover finish
holds "$err" '^      a\.example$'

# Certificates of either CA can be revoked and cleaned.
ca 0 revoke --certname a.example,b.example
output_is 'Certificate for a.example has been revoked
Certificate for b.example has been revoked'
ca 0 clean --certname a.example
output_is 'Certificate for a.example has been revoked
Cleaned files related to a.example'
ca 1 clean --certname a.example
holds "$err" 'Could not find files to clean for a\.example'
run 0 ssl clean "${node[@]}" --localca
holds "$out" "^Notice: Removed local CRL $scratch/n/ssl/crl.pem$"

# Works on the folder while no server runs.
kill $server
wait $server 2>/dev/null
ca 0 list --all
holds "$err" 'working in '
holds "$out" '^Revoked Certificates:$'
ca 0 prune
output_is "Total number of certificates found in Puppet's CRL is: 2.
No duplicate revocations found in the CRL."
ca 0 delete --revoked
holds "$out" '^1 certificate deleted\.$'
ca 1 setup
holds "$err" "^Existing file at '$scratch/s/ca/ca_crt.pem'$"
run 0 ca setup --cadir "$scratch/t/ca" --ssldir "$scratch/t/ssl" --certname t.example
output_is "Generation succeeded. Find your files in $scratch/t/ca"
finish
