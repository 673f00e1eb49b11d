#!/bin/bash
# Deploys the branches of a control repository as environments. Each environment is complete at any
# time. The rules and the configuration file are those of r10k 3.15.
. "$(dirname "$0")/lib.sh"
export GIT_CONFIG_GLOBAL=$scratch/gitconfig LC_ALL=C
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n' > "$GIT_CONFIG_GLOBAL"
cd "$scratch" || exit 1
fails() { printf 'FAILED: line %s: %s\n' "${BASH_LINENO[0]}" "$*"; failures=$((failures + 1)); }
file() { [ "$(cat "$1" 2>&1)" = "$2" ] || fails "$1 contains $(cat "$1" 2>&1), not $2"; }
there() { for f in "$@"; do [ -e "$f" ] || fails "$f does not exist"; done; }
gone() { for f in "$@"; do [ ! -e "$f" ] && [ ! -L "$f" ] || fails "$f exists"; done; }
# put REPO FILE TEXT: writes a file and commits it.
put() {
    mkdir -p "$1/$(dirname "$2")" && printf '%s\n' "$3" > "$1/$2" && git -C "$1" add -A && git -C "$1" commit -qm "$2"
}
for m in one two; do
    git init -q "$m"
    put "$m" file "$m 1"
    git -C "$m" tag v1
    put "$m" spec/x x
done
git init -q control
put control manifests/site.pp '# main'
put control Puppetfile "mod 'one', git: 'file://$scratch/one', branch: 'main'
mod 'two', git: 'file://$scratch/two', tag: 'v1'
mod 'follows', git: 'file://$scratch/one', branch: :control_branch, default_branch: 'main'"
git -C control branch feature/x-1
git -C control branch ignored_branch
config() {
    printf -- "---\n:cachedir: %s/cache\n:sources:\n  :site:\n    remote: file://%s/control\n    basedir: %s/envs\n    ignore_branch_prefixes: ['ignored']\n%s\n" \
        "$scratch" "$scratch" "$scratch" "$*" > r10k.yaml
}
config
deploy() { local status=$1; shift; run "$status" deploy "$@" --r10k "$scratch/r10k.yaml"; }

# The first deploy does everything, the next nothing, and later ones only the changes.
deploy 0 environment
holds "$out" '^2 deployed, 0 unchanged, 0 removed, 0 failed$'
holds "$err" 'Environment "feature/x-1" contained non-word characters, correcting name to feature_x_1'
file envs/main/modules/one/file 'one 1'
file envs/feature_x_1/modules/follows/file 'one 1'
gone envs/ignored_branch
there envs/main/modules/one/spec/x
gone envs/main/modules/two/spec
holds "$(cat envs/main/.r10k-deploy.json)" '"deploy_success": true'
holds "$(readlink envs/main)" '^\.bunraku/main/[0-9a-f]{12}-[0-9a-f]{16}$'
version=$(readlink envs/main)
deploy 0 environment --modules
holds "$out" '^0 deployed, 2 unchanged, 0 removed, 0 failed$'
[ "$(readlink envs/main)" = "$version" ] || fails 'a version was created without changes'
put one file 'one 2'
deploy 0 environment
holds "$out" '^0 deployed, 2 unchanged'
deploy 0 environment main -m
holds "$out" '^1 deployed, 0 unchanged'
file envs/main/modules/one/file 'one 2'
file envs/feature_x_1/modules/one/file 'one 1'
# Without --modules only the files of the branch are deployed.
put one file 'one 3'
put control manifests/site.pp '# main 2'
deploy 0 environment main
file envs/main/manifests/site.pp '# main 2'
file envs/main/modules/one/file 'one 2'
# Deploys one module.
put two file 'two 2'
git -C two tag -f v1 > /dev/null
deploy 0 module one --environment main
holds "$out" '^1 deployed'
file envs/main/modules/one/file 'one 3'
file envs/main/modules/two/file 'two 1'
file envs/feature_x_1/modules/one/file 'one 1'
# Rolls back, and forward again.
deploy 0 rollback main
file envs/main/modules/one/file 'one 2'
deploy 0 rollback main
file envs/main/modules/one/file 'one 3'
deploy 1 rollback nothing
holds "$err" "There is no environment 'nothing' in any source"

# Unmanaged files stay, unless the purge levels include them.
echo mine > envs/main/mine
mkdir -p envs/main/modules/byhand envs/main/data && echo mine > envs/main/data/mine && echo mine > envs/main/modules/byhand/x
git -C control rm -q manifests/site.pp && put control manifests/init.pp x
deploy 0 environment main
there envs/main/mine envs/main/data/mine envs/main/modules/byhand/x
gone envs/main/manifests/site.pp
put control data/common.yaml '--- {}'
deploy 0 environment main -m
there envs/main/mine envs/main/data/mine
gone envs/main/modules/byhand
mkdir -p envs/main/keep/deep && echo k > envs/main/keep/deep/k && mkdir envs/main/keep/other && echo o > envs/main/keep/other/o
config "deploy:
  purge_levels: ['deployment', 'environment', 'puppetfile']
  purge_allowlist: ['mine', 'keep/**/k']
  exclude_spec: true"
put control data/common.yaml '--- {a: 1}'
deploy 0 environment main -m
there envs/main/mine envs/main/keep/deep/k
gone envs/main/data/mine envs/main/keep/other envs/main/modules/one/spec
config

# A deleted branch removes its environment. A name that is in no source is an error.
mkdir envs/stale
git -C control branch -qD feature/x-1
deploy 1 environment nothing
holds "$err" "Environment\(s\) 'nothing' cannot be found in any source and will not be deployed"
gone envs/feature_x_1 envs/stale envs/.bunraku/feature_x_1
# An environment that cannot be built stays unchanged; the others are deployed.
git -C control checkout -q -b broken
put control Puppetfile "mod 'one', git: 'file://$scratch/one', branch: 'nope'"
git -C control checkout -q -b odd main
put control Puppetfile 'mod `id`, "1.0.0"'
git -C control checkout -q -b good main
put control good good
version=$(readlink envs/main)
deploy 1 environment
holds "$out" '^1 deployed, 1 unchanged, 0 removed, 2 failed$'
holds "$err" "Environment broken is left as it is: one: file://.*/one has no 'nope'"
holds "$err" 'Environment odd is left as it is: Puppetfile: line 1: a program cannot be run'
there envs/good/good
gone envs/broken envs/odd
# Malicious branches: links that point outside of the environment.
git -C control checkout -q -b linked main
mkdir outside && ln -s "$scratch/outside" control/modules && git -C control add -A && git -C control commit -qm link
deploy 1 environment linked
holds "$err" "Puppetfile cannot manage content 'one' outside of containing environment"
[ -z "$(ls outside)" ] || fails 'a file outside of the environment was written'
git -C control checkout -q main
git -C control branch -qD broken odd linked good
# A repository that has lost its branches, or does not exist, does not remove environments.
git init -q --bare empty
sed "s,/control,/empty," r10k.yaml > empty.yaml
run 1 deploy environment --r10k "$scratch/empty.yaml"
holds "$err" 'has no branches'
sed "s,/control,/nowhere," r10k.yaml > nowhere.yaml
run 1 deploy environment --r10k "$scratch/nowhere.yaml"
holds "$err" "Unable to determine current branches for Git source 'site'"
there envs/main envs/good

# An environment folder of r10k is replaced in one step, including its unmanaged files.
rm envs/main && mkdir -p envs/main/modules/one && echo local > envs/main/local
deploy 0 environment -m
file envs/main/local local
there envs/main/modules/two/file
gone envs/good
deploy 0 rollback main
gone envs/main/modules/two
deploy 0 environment -m

# Prefixes, stripped names, collisions, post-run command, write lock, display.
sed -i 's/ignore_branch_prefixes.*/prefix: true/' r10k.yaml
printf 'postrun: ["/bin/sh", "-c", "echo $modifiedenvs > %s/ran"]\n' "$scratch" >> r10k.yaml
sed -i 's,/envs,/envs2,' r10k.yaml
deploy 0 environment
file ran 'site_ignored_branch site_main'
deploy 0 display
[ "$out" = "---
:sources:
- :name: :site
  :basedir: \"$scratch/envs2\"
  :prefix: true
  :remote: \"file://$scratch/control\"
  :environments:
  - site_ignored_branch
  - site_main" ] || fails "display prints $out"
git -C control branch site/a && git -C control branch site_a
deploy 1 environment
holds "$err" 'Environment collision at .*/envs2/site_site_a between site:site_a and site:site/a'
git -C control branch -qD site/a site_a
config 'deploy: {write_lock: "not now"}'
deploy 16 environment
holds "$err" 'Reason: not now'
rm r10k.yaml
run 8 deploy environment
config

# A repository without changes needs a single git process. A cached repository that is corrupt after
# a power failure is fetched again.
mkdir bin asked && git=$(command -v git)
printf '#!/bin/sh\necho "$*" >> %s/said\nexec %s "$@"\n' "$scratch" "$git" > bin/git
chmod +x bin/git
with_bin() { rm -f said && PATH=$scratch/bin:$PATH deploy 0 environment -m; }
with_bin
holds "$out" '^0 deployed, [0-9]+ unchanged'
[ "$(grep -c ls-remote said)" = 1 ] || fails "git calls: $(cat said)"
[ "$(grep -vc -e ls-remote -e ' fetch ' said)" = 0 ] || fails "additional git calls: $(cat said)"
put one file 'one 4'
for pack in cache/*/git/*/objects/pack/*.pack; do chmod +w "$pack" && : > "$pack"; done
deploy 0 environment -m
file envs/main/modules/one/file 'one 4'
# A tag that is created after the tags were listed and before the Puppetfile that names it is read.
put control Puppetfile "mod 'one', git: 'file://$scratch/one', branch: 'main'
mod 'two', git: 'file://$scratch/two', branch: 'main'"
deploy 0 environment -m
put two file 'two 3'
cat > bin/git <<SH
#!/bin/sh
case "\$*" in
*ls-remote*) $git "\$@"; status=\$?; touch $scratch/asked/\$\$; exit \$status ;;
*' fetch '*)
    if mkdir $scratch/tagged 2> /dev/null; then
        for i in \$(seq 200); do [ "\$(ls $scratch/asked | wc -l)" -lt 2 ] || break; sleep 0.05; done
        $git -C $scratch/two tag v3
        printf "mod 'two', git: 'file://$scratch/two', tag: 'v3'\n" > $scratch/control/Puppetfile
        $git -C $scratch/control commit -qam tag
    fi ;;
esac
exec $git "\$@"
SH
with_bin
file envs/main/modules/two/file 'two 3'
[ "$(ls asked | wc -l)" = 2 ] || fails "requested in advance: $(ls asked)"
put control Puppetfile "mod 'one', git: 'file://$scratch/one', branch: 'main'
mod 'two', git: 'file://$scratch/two', tag: 'v1'"

# SIGTERM while a git server does not respond: the program and its git end at once, and the other
# environments keep their progress.
if command -v python3 > /dev/null; then
    python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); time.sleep(60)' > port & silent=$!
    for i in $(seq 100); do [ -s port ] && break; sleep 0.05; done
    git -C control checkout -q -b hangs
    put control Puppetfile "mod 'one', git: 'git://127.0.0.1:$(cat port)/one'"
    git -C control checkout -q main
    mkdir hung
    for command in 'deploy environment --r10k r10k.yaml' "module sync --puppetfile hung/Puppetfile"; do
        cp control/Puppetfile hung/ && git -C control show hangs:Puppetfile > hung/Puppetfile
        # shellcheck disable=SC2086
        "$BUNRAKU" $command "${places[@]}" > "$scratch/out" 2> "$scratch/err" & run=$!
        for i in $(seq 200); do pgrep -f "clone .*127.0.0.1:$(cat port)" > /dev/null && break; sleep 0.02; done
        kill -TERM "$run"
        wait "$run" && fails "$command: exit 0 after SIGTERM"
        holds "$(cat err)" 'git clone was stopped'
        pgrep -f "clone .*127.0.0.1:$(cat port)" > /dev/null && fails "the git process of $command still runs"
    done
    kill "$silent"
    git -C control branch -qD hangs
fi

# After SIGKILL at any moment, the environment is completely the old version or completely the new
# one.
marks() { cat envs/main/mark envs/main/modules/one/file 2>&1; }
for round in 01 02 04 06 08 10 14 18 25 40; do
    put control mark "m$round" && put one file "m$round"
    before=$(marks)
    { timeout -s KILL "0.$round" "$BUNRAKU" deploy environment -m --r10k "$scratch/r10k.yaml" "${places[@]}" > /dev/null; } 2> /dev/null
    after=$(marks)
    [ "$after" = "$before" ] || [ "$after" = "m$round
m$round" ] || fails "after a kill at 0.$round: $before became $after"
    deploy 0 environment -m
    [ "$(marks)" = "m$round
m$round" ] || fails "round $round: $(marks)"
done
# Only the current version, the previous one and their records remain.
for ((i = 0; i < 20; ++i)); do
    [ "$(ls -A envs/.bunraku/main | grep -vc -e '\.json$' -e '\.files$' -e previous)" = 2 ] && break
    sleep 0.1 && deploy 0 environment -m --keep-for 0
done
[ "$(ls -A envs/.bunraku/main | wc -l)" -le 7 ] || fails "remaining files: $(ls -A envs/.bunraku/main)"
# A concurrent reader finds a file at all times during deploys.
( while [ ! -e stop ]; do cat envs/main/modules/one/file > /dev/null 2>> misses; done ) & reader=$!
for i in 1 2 3 4 5; do put one file "r$i" && deploy 0 environment -m; done
touch stop && wait "$reader"
[ ! -s misses ] || fails "a reader did not find: $(head -1 misses)"
finish
