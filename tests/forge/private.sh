#!/bin/bash
# Access over TLS: which clients may read a private repository (certificates, users, expiry,
# revocation), and what the audit log records. Webhooks with valid, invalid and repeated signatures.
# The page of deploys.
set -u
BUNRAKU="${BUNRAKU:?}"
for program in curl openssl git; do command -v "$program" > /dev/null || { echo "skipped: $program is not installed"; exit 0; }; done
dir="$(mktemp -d "${TMPDIR:-/tmp}/bunraku-private.XXXXXX")"
dir="$(cd -P "$dir" && pwd)"
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$dir"' EXIT
export HOME="$dir" GIT_CONFIG_GLOBAL="$dir/gitconfig" LC_ALL=C NO_COLOR=1
cd "$dir" || exit 1
failures=0
fail() { printf 'FAILED: line %s: %s\n' "${BASH_LINENO[0]}" "$*"; failures=$((failures + 1)); }
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n' > gitconfig
git init -q control && echo x > control/x && git -C control add -A && git -C control commit -qm x
hostile='<script>alert(1)</script>'
git -C control update-ref "refs/heads/$hostile" HEAD
mkdir etc
printf 'secret = a long secret\nr10k = %s/r10k.yaml\n' "$dir" > etc/webhook.conf && chmod 600 etc/webhook.conf
printf -- '---\ncachedir: %s/cache\nsources:\n  s:\n    remote: file://%s/control\n    basedir: %s/envs\n' "$dir" "$dir" "$dir" > r10k.yaml
places=(--confdir "$dir/etc" --vardir "$dir/var" --statedir "$dir/state" --rundir "$dir/run" --logdir "$dir/log"
    --publicdir "$dir/public" --ssldir "$dir/etc/ssl" --cadir "$dir/ca")
"$BUNRAKU" server --roles ca,forge --https 127.0.0.1:0 "${places[@]}" --setting certname=localhost \
    --setting dns_alt_names=localhost > url 2> err & server=$!
for ((i = 0; i < 200; ++i)); do [ -s url ] && break; sleep 0.05; done
url=https://localhost:$(sed 's/.*://' url)
forge() { "$BUNRAKU" forge "$@" --statedir "$dir/state" 2>&1; }
ca() { "$BUNRAKU" ca "$@" "${places[@]}" --server localhost --masterport "${url##*:}" > ca.out 2>&1 || fail "ca $*: $(cat ca.out)"; }
ca generate --certname ops1.example.org,other.example.net
mkdir -p web && echo '{"name":"acme-web","version":"1.0.0","author":"acme","license":"x","summary":"s","source":"s","dependencies":[]}' > web/metadata.json
"$BUNRAKU" module build web > /dev/null || fail 'module build'
forge create --repo inside --private > /dev/null
forge upload --repo inside web/pkg/*.gz > /dev/null && forge publish --repo inside > /dev/null
forge grant --repo inside --reader 'certificate:*.example.org' > /dev/null
repo=$url/pulp_puppet/forge/repository/inside

# status WHO ARGS...: prints the status of a response; its body is in the file answer.
status() {
    local who=$1 as=()
    shift
    [ -z "$who" ] || as=(--cert "etc/ssl/certs/$who.pem" --key "etc/ssl/private_keys/$who.pem")
    curl -s -o answer -D head -w '%{http_code}' --cacert etc/ssl/certs/ca.pem "${as[@]}" "$@"
}
# is STATUS WHO ARGS...: checks the status of a response.
is() {
    local wanted=$1 got
    shift
    got=$(status "$@")
    [ "$got" = "$wanted" ] || { printf 'FAILED: line %s: got %s, expected %s: %s\n' "${BASH_LINENO[0]}" "$got" "$wanted" "$*"; failures=$((failures + 1)); }
}
for path in "$repo/v3/files/acme-web-1.0.0.tar.gz" "$url/forge/inside" "$url/pulp/puppet/inside/modules.json"; do
    is 401 '' "$path"
    is 200 ops1.example.org "$path"
    is 403 other.example.net "$path"
done
# A grant with an expiry date.
forge grant --repo inside --reader certificate:other.example.net --until "$(date -u -d '+1 day' +%Y-%m-%dT%H:%M:%SZ)" > /dev/null
is 200 other.example.net "$repo/v3/modules"
forge grant --repo inside --reader certificate:other.example.net --until "$(date -u -d '-1 second' +%Y-%m-%dT%H:%M:%SZ)" > /dev/null
is 403 other.example.net "$repo/v3/modules"
# A user in a group, with and without a certificate that has no access.
password=$(forge user create --name alice --group ops | tail -1)
is 403 '' -u "alice:$password" "$repo/v3/modules"
forge grant --repo inside --reader group:ops > /dev/null
is 200 '' -u "alice:$password" "$repo/v3/modules"
is 200 other.example.net -u "alice:$password" "$repo/v3/modules"
is 401 '' -u alice:wrong "$repo/v3/modules"
log=state/forge/audit.log
for line in 'certificate:ops1.example.org	GET /pulp_puppet/forge/repository/inside/v3/files/acme-web-1.0.0.tar.gz	read' \
    'certificate:other.example.net	GET /forge/inside	refused' 'anonymous	GET /forge/inside	refused' \
    'command	grant inside group:ops	done'; do
    grep -qF "	$line" "$log" || fail "the audit log has no '$line'"
done
grep -qF "$password" "$log" && fail 'a password is in the audit log'
# A revoked certificate gives no access any more.
ca revoke --certname ops1.example.org
for ((i = 0; i < 100; ++i)); do [ "$(status ops1.example.org "$repo/v3/modules")" = 000 ] && break; sleep 0.1; done
is 000 ops1.example.org "$repo/v3/modules"

# Webhooks. sign SECRET BODY: prints the signature in hexadecimal.
sign() { printf %s "$2" | openssl dgst -sha256 -hmac "$1" | sed 's/.* //'; }
hook() { local wanted=$1; shift; is "$wanted" '' -X POST "$@" "$url/deploy/webhook"; }
body() { printf '{"ref":"refs/heads/%s","n":"%s","repository":{"full_name":"o/control","clone_url":"file://%s/control"}}' "$1" "$2" "$dir"; }
true_secret='a long secret'
while read -r server_name header prefix; do
    b=$(body main "$server_name")
    hook 403 -H "$header: $prefix$(sign wrong "$b")" --data-binary "$b"
    hook 403 -H "$header: $prefix$(sign "$true_secret" "$b")" --data-binary "$b "
    hook 202 -H "$header: $prefix$(sign "$true_secret" "$b")" --data-binary "$b"
    hook 409 -H "$header: $prefix$(sign "$true_secret" "$b")" --data-binary "$b"
done <<'H'
github X-Hub-Signature-256 sha256=
gitea X-Gitea-Signature
bitbucket X-Hub-Signature sha256=
H
b=$(body main gitlab)
hook 403 -H 'X-Gitlab-Token: wrong' --data-binary "$b"
hook 202 -H "X-Gitlab-Token: $true_secret" --data-binary "$b"
hook 409 -H "X-Gitlab-Token: $true_secret" --data-binary "$b"
b=$(body main sha1)
hook 401 -H 'X-GitHub-Event: push' --data-binary "$b"
hook 401 -H "X-Hub-Signature: sha1=$(printf %s "$b" | openssl dgst -sha1 -hmac "$true_secret" | sed 's/.* //')" --data-binary "$b"
# Malicious names are rejected or become harmless folder names, and are escaped on the page.
for branch in ../../x -x; do
    b=$(body "$branch" x)
    hook 400 -H "X-Gitea-Signature: $(sign "$true_secret" "$b")" --data-binary "$b"
done
b=$(body "$hostile" hostile | sed 's,"o/control","o/<b>control,;s,<b>control,<b>control",')
hook 202 -H "X-Gitea-Signature: $(sign "$true_secret" "$b")" --data-binary "$b"
is 403 '' "$url/deploy"
for ((i = 0; i < 100; ++i)); do
    is 200 localhost "$url/deploy"
    grep -qE '<td>(waiting|running)</td>' answer || break
    sleep 0.1
done
grep -qE '<script|<b>' answer && fail "the page contains $(grep -E '<script|<b>' answer)"
grep -qF '&lt;b&gt;control' answer || fail "the page does not list the repository: $(cat answer)"
grep -qi "^content-security-policy: default-src 'none'" head || fail 'the page may load anything'
[ -f envs/_script_alert_1___script_/x ] && [ -f envs/main/x ] || fail "deployed: $(ls envs)"
exit $((failures > 0))
