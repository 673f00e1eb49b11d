#!/bin/bash
# Features of Puppetfiles: archives by URL, Subversion, moving branches, lock files, and Ruby
# programs, which may only declare modules. The rules are those of r10k 3.15.
set -u
BUNRAKU="${BUNRAKU:?}"
dir="$(mktemp -d "${TMPDIR:-/tmp}/bunraku-kinds.XXXXXX")"
dir="$(cd -P "$dir" && pwd)"
server=
cleanup() { [ -n "$server" ] && kill "$server"; rm -rf "$dir"; }
trap cleanup EXIT
export HOME="$dir" GIT_CONFIG_GLOBAL="$dir/gitconfig" LC_ALL=C
cd "$dir" || exit 1
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n' > gitconfig
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }
git init -q gm && mkdir gm/spec && echo one > gm/file && echo x > gm/spec/x && git -C gm add -A && git -C gm commit -qm one && git -C gm tag v1
mkdir made && cd made && "$BUNRAKU" module init acme-web > /dev/null && cd .. || exit 1
release() {
    sed -i "s/\"version\": \"[0-9.]*\"/\"version\": \"$1\"/" made/web/metadata.json
    "$BUNRAKU" module build made/web > /dev/null || exit 1
    forge upload --repo r "made/web/pkg/acme-web-$1.tar.gz" && forge publish --repo r
}
forge() { "$BUNRAKU" forge --statedir "$dir/state" "$@" > /dev/null || exit 1; }
forge create --repo r
release 1.0.0
"$BUNRAKU" forge --statedir "$dir/state" serve --default-repo r > serve.log & server=$!
for ((i = 0; i < 100; ++i)); do grep -q http serve.log && break; sleep 0.1; done
url=$(grep -o 'http://.*' serve.log)
# sync WANTED_EXIT WANTED_TEXT [OPTION...]: runs `module sync`. Its output is in $out, with the
# scratch folder replaced by DIR.
sync() {
    local want_code="$1" want="$2" code
    shift 2
    out=$("$BUNRAKU" module sync --color=false --module_repository "$url" --vardir "$dir/var" "$@" 2>&1)
    code=$?
    out="${out//$dir/DIR}"
    [ "$code" = "$want_code" ] || fail "line ${BASH_LINENO[0]}: exit $code, not $want_code: $out"
    [[ "$out" == *"$want"* ]] || fail "line ${BASH_LINENO[0]}: no '$want' in: $out"
}
holds() { [ "$(cat "$1" 2>&1)" = "$2" ] || fail "line ${BASH_LINENO[0]}: $1 contains $(cat "$1" 2>&1), not $2"; }
fresh() { rm -rf "$dir/env" "$dir/var" && mkdir -p "$dir/env" && cd "$dir/env" || exit 1; }
commit() { echo "$1" > "$dir/gm/file"; git -C "$dir/gm" commit -qam "$1"; }

# Branches and :latest follow upstream, unless they are frozen or locked. Tags and pinned versions
# stay.
fresh
printf "mod 'gm', git: 'file://%s/gm', branch: 'main'\nmod 'acme/web', :latest\n" "$dir" > Puppetfile
sync 0 '2 installed, 0 unchanged'
holds modules/gm/file one
commit two
(cd "$dir" && release 1.1.0)
sync 0 '0 installed, 2 unchanged' --frozen
sync 0 '0 installed, 2 unchanged' --locked
sync 0 '2 installed, 0 unchanged'
holds modules/gm/file two
grep -q '"version": "1.1.0"' modules/web/metadata.json || fail "the latest release was not installed"
sync 0 '0 installed, 2 unchanged' --frozen
echo "mod 'acme/web', '>= 1.0.0 < 1.1.0'" > Puppetfile
sync 1 'is not locked as written' --frozen
sync 0 '1 installed'
# A known tag, and a release that was fetched before, need no connection.
fresh
printf "mod 'gm', git: 'file://%s/gm', tag: 'v1'\nmod 'acme/web', '1.0.0'\n" "$dir" > Puppetfile
sync 0 '2 installed'
mv "$dir/gm" "$dir/away" && rm -r modules
sync 0 '2 installed' --module_repository http://127.0.0.1:1
mv "$dir/away" "$dir/gm"
holds modules/gm/file one
# A corrupt archive in the cache is fetched again. Content that differs from the lock file is
# rejected.
for f in "$dir"/var/puppet-module/archives/????????????*; do echo bad > "$f"; done
rm -r modules/web
sync 0 '1 installed'
rm -r modules/web
sed -i 's/"sha256": "..../"sha256": "0000/' Puppetfile.lock.json
sync 1 'is not what the lock file was written for'

# Archives: installed as they are, verified, and fetched once.
fresh
mkdir -p x/top/sub && echo a > x/top/sub/a && tar czf a.tar.gz -C x top
sum=$(sha256sum a.tar.gz | cut -d' ' -f1)
echo "mod 'arc', type: 'tarball', source: 'file://$PWD/a.tar.gz', version: '$sum'" > Puppetfile
sync 0 '1 installed'
holds modules/arc/top/sub/a a
sync 0 '0 installed, 1 unchanged'
echo b > modules/arc/top/sub/a
sync 0 'Skipping DIR/env/modules/arc due to local modifications (top/sub/a)'
sync 0 '1 installed' --force
echo "mod 'arc', type: 'tarball', source: 'file://$PWD/a.tar.gz', checksum: '${sum//[0-9]/0}'" > Puppetfile
sync 1 'the downloaded file does not match the checksum'
tar czPf evil.tar.gz --transform 's,^,../../,' a.tar.gz
echo "mod 'evil', type: 'tarball', source: '$PWD/evil.tar.gz'" > Puppetfile
sync 1 'has an invalid path'

# Subversion, with a fake program.
mkdir bin && cat > bin/svn <<'END'
#!/bin/bash
[ "$1" = info ] && { echo 42; exit; }
read -r password
for last; do :; done
mkdir "$last" && echo "$* $password" > "$last/said"
END
chmod +x bin/svn
echo "mod 'sub', svn: 'https://example.org/svn', username: 'u', password: 's3cret'" > Puppetfile
PATH="$PWD/bin:$PATH" sync 0 'Installed sub at 42 into DIR/env/modules/sub'
[[ "$(cat modules/sub/said)" == "export --non-interactive --username u --no-auth-cache --password-from-stdin --revision 42 -- https://example.org/svn "*" s3cret" ]] || fail "svn was called with: $(cat modules/sub/said)"
PATH="$PWD/bin:$PATH" sync 0 '0 installed, 1 unchanged'

# Requests to an overloaded forge, and truncated responses, are repeated after the time that the
# forge specifies.
cat > "$dir/busy.py" <<'END'
import http.server, sys, urllib.request
class Busy(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_GET(self):
        Busy.count += 1
        if Busy.count < 3:
            self.send_response(503 if Busy.count == 1 else 429)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = urllib.request.urlopen(sys.argv[1] + self.path).read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:100] if Busy.count == 3 else body)
        self.close_connection = True
    def log_message(self, *_): pass
s = http.server.HTTPServer(("127.0.0.1", 0), Busy)
print(s.server_port, flush=True)
s.serve_forever()
END
python3 "$dir/busy.py" "$url" > "$dir/busy.port" & busy=$!
for ((i = 0; i < 100; ++i)); do [ -s "$dir/busy.port" ] && break; sleep 0.1; done
fresh
echo "mod 'acme/web', '1.0.0'" > Puppetfile
sync 0 '1 installed' --module_repository "http://127.0.0.1:$(cat "$dir/busy.port")"
kill "$busy"

# Unknown options are reported.
fresh
echo "mod 'acme/web', '1.0.0', foo: 'bar'" > Puppetfile
sync 0 "line 1: 'acme/web' cannot handle option 'foo'"

# librarian-puppet's keywords.
fresh
echo '{"name":"me-env","version":"0.1.0","author":"me","license":"x","source":"s","summary":"","dependencies":[{"name":"acme/web","version_requirement":">= 1.0.0 < 1.1.0"}]}' > metadata.json
printf "forge 'https://forgeapi.puppetlabs.com'\nmetadata\nexclusion 'acme-stdlib'\nmod 'acme-gm', git: 'file://%s/gm', ref: 'v1'\n" "$dir" > Puppetfile
sync 0 'Installed acme-web 1.0.0'
holds modules/gm/file one

# Ruby programs: the same modules as with r10k.
fresh
cat > Puppetfile <<END
base = 'file://$dir'
def github(base, name, options = {})
  mod name, { git: "#{base}/#{name}" }.merge(options)
end
github base, 'gm', tag: ENV['NO_SUCH_VARIABLE'] || 'v1', exclude_spec: true
{ 'web' => '1.0.0' }.each { |name, version| mod "acme/#{name}", version } if ENV['HOME']
END
sync 0 '2 installed'
holds modules/gm/file one
[ ! -e modules/gm/spec ] || fail "spec exists"
# Actions that programs may not perform. They cause an error; nothing is run or changed, and the
# list of modules is never treated as empty.
cases=(
    'mod `id`, "1.0.0"' "line 1: a program cannot be run by a Puppetfile, and it cannot change files"
    'x = 1
File.write("made", "x")' "line 2: a program cannot be run"
    'require "socket"; TCPSocket.new("127.0.0.1", 1)' "line 1: a program cannot be run"
    'fork { }' "line 1: a program cannot be run"
    'Process.kill(9, Process.ppid)' "line 1: a program cannot be run"
    'File.delete("Puppetfile")' "line 1: a program cannot be run"
    'exit!' "line 0: Ruby ended before it had evaluated the Puppetfile"
    'exit' "line 1: exit"
    'def f(x) f(x) end; f(1)' "stack level too deep"
    'x = "a" * (3 << 30)' "failed to allocate memory"
    'foo "x"' "line 1: unrecognized declaration 'foo'"
    'mod "x" "y" + "z' "unterminated string"
    'mod "../../#{1}", git: "x"' "line 1: '../../1' is not a module name"
    'mod "x", git: "-#{1}"' "line 1: an address or reference cannot begin with '-'"
)
for ((i = 0; i < ${#cases[@]}; i += 2)); do
    printf '%s\n' "${cases[i]}" > Puppetfile
    sync 1 "Puppetfile: " --purge
    [[ "$out" == *"${cases[i + 1]}"* ]] || fail "${cases[i]}: $out"
    [ -d modules/gm ] && [ -f Puppetfile ] && [ ! -e made ] || fail "${cases[i]}: files were changed"
done
printf 'loop { }\n' > Puppetfile
sync 1 'line 0: '
exit $failed
