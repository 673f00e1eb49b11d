# Shared by spellings.sh and by tests/peer/run: the modules and clients that the recorded paths name.

# spelling_modules DIR: makes the modules in DIR.
spelling_modules() {
    local file
    mkdir -p "$1"/{secret/files,open/files/priv,"open/files/dir with space"}
    for file in secret/files/key open/files/f open/files/priv/p 'open/files/dir with space/k'; do
        echo x >"$1/$file"
    done
}
# spelling_clients CADIR DIR: makes keys and certificates of web1 and web2 in DIR, signed by the CA in CADIR.
spelling_clients() {
    local name
    mkdir -p "$2"
    for name in web1 web2; do
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$2/$name.key" \
            -subj "/CN=$name" -out "$2/$name.csr" 2>/dev/null &&
            openssl x509 -req -in "$2/$name.csr" -CA "$1/ca_crt.pem" -CAkey "$1/ca_key.pem" \
                -set_serial "0xff$((RANDOM))" -days 2 -out "$2/$name.pem" 2>/dev/null || return 1
    done
}
