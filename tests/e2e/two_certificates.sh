#!/usr/bin/env bash
# An RSA CA stays RSA. Its server may have a second certificate with a P-256 key, and each client
# gets the one that it can verify.
. "$SOURCE/tests/e2e/lib.sh"
command -v openssl >/dev/null || { echo "skipped: openssl is not installed"; exit 0; }
site=(--confdir "$scratch/etc" --ssldir "$scratch/ssl" --cadir "$scratch/ca" --vardir "$scratch/var"
    --statedir "$scratch/state" --setting certname=localhost --setting dns_alt_names=localhost)
server=
trap '[ -z "$server" ] || kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
start() {
    : >"$scratch/url"
    "$BUNRAKU" server --roles ca --https 127.0.0.1:0 "${site[@]}" "$@" >"$scratch/url" 2>"$scratch/err" &
    server=$!
    for _ in $(seq 400); do [ -s "$scratch/url" ] && break; sleep 0.05; done
    port=$(sed 's/.*://' "$scratch/url")
}
stop() { kill $server; wait $server 2>/dev/null; server=; }
# key_type SIGALGS: prints the key type of the certificate for a client with these signature
# algorithms. OpenSSL 3.5 prints the TLS name of the signature algorithm.
key_type() {
    openssl s_client -connect "127.0.0.1:$port" -CAfile "$scratch/ca/ca_crt.pem" -verify_return_error \
        -sigalgs "$1" </dev/null 2>&1 |
        sed -n 's/^Peer signature type: //p' |
        sed 's/^ecdsa_secp256r1_sha256$/ECDSA/; s/^rsa_pss_rsae_sha256$/RSA-PSS/'
}
any='ECDSA+SHA256:RSA-PSS+SHA256'
start --setting ca_key_type=rsa --setting keylength=2048
holds "$(key_type "$any")" '^RSA-PSS$'
stop
# The following starts do not use the setting. Existing RSA keys stay RSA.
mkdir -p "$scratch/etc/puppetserver/conf.d"
echo 'certificate-authority: { server-ec-certificate: true }' >"$scratch/etc/puppetserver/conf.d/ca.conf"
start
holds "$(key_type "$any")" '^ECDSA$'
holds "$(key_type RSA-PSS+SHA256)" '^RSA-PSS$'
holds "$(openssl x509 -in "$scratch/ssl/server_ec_cert.pem" -noout -text)" 'DNS:localhost'
lacks "$(openssl x509 -in "$scratch/ssl/server_ec_cert.pem" -noout -text)" '34380\.1\.3\.39'
"$BUNRAKU" ca rollover begin "${site[@]}" --setting statedir="$scratch/state" >"$scratch/out" 2>&1 || true
holds "$(openssl pkey -in "$scratch/ca/next_key.pem" -noout -text)" 'Private-Key: \(2048 bit'
stop
finish
