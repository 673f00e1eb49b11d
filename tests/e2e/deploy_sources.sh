#!/bin/bash
# Sources in r10k.yaml other than git branches: yaml, yamldir, exec and svn (r10k 3.15). Also
# Puppetfiles with g10k's extensions.
. "$(dirname "$0")/lib.sh"
export GIT_CONFIG_GLOBAL=$scratch/gitconfig LC_ALL=C
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n' > "$GIT_CONFIG_GLOBAL"
cd "$scratch" || exit 1
fails() { printf 'FAILED: line %s: %s\n' "${BASH_LINENO[0]}" "$*"; failures=$((failures + 1)); }
file() { [ "$(cat "$1" 2>&1)" = "$2" ] || fails "$1 contains $(cat "$1" 2>&1), not $2"; }
gone() { for f in "$@"; do [ ! -e "$f" ] || fails "$f exists"; done; }
put() {
    mkdir -p "$1/$(dirname "$2")" && printf '%s\n' "$3" > "$1/$2" && git -C "$1" add -A && git -C "$1" commit -qm "$2"
}
deploy() { local status=$1; shift; run "$status" deploy "$@" --r10k "$scratch/r10k.yaml"; }
for m in one two; do git init -q "$m" && put "$m" file "$m 1" && git -C "$m" tag v1 && put "$m" file "$m 2"; done
git init -q control
put control Puppetfile "mod 'one', git: 'file://$scratch/one', branch: 'main'"
put control site 1 && git -C control tag v1 && put control site 2
source_of() { printf 'cachedir: %s/cache\nsources:\n  s:\n    basedir: %s/envs\n' "$scratch" "$scratch"; printf '    %s\n' "$@"; }

# type: yaml. Modules of the definition have precedence over those of the Puppetfile.
cat > environments.yaml <<Y
---
production:
  type: git
  remote: 'file://$scratch/control'
  ref: v1
  modules:
    one: {git: 'file://$scratch/one', ref: v1}
    two: {type: git, source: 'file://$scratch/two', version: main}
empty-1:
  type: plain
  modules: {two: {git: 'file://$scratch/two', tag: v1}}
Y
source_of 'type: yaml' "config: $scratch/environments.yaml" > r10k.yaml
deploy 0 environment
holds "$out" '^2 deployed, 0 unchanged, 0 removed, 0 failed$'
holds "$err" 'Environment and Puppetfile both define the "one" module\. The Puppetfile definition will be ignored'
file envs/production/site 1
file envs/production/modules/one/file 'one 1'; file envs/production/modules/two/file 'two 2'
file envs/empty_1/modules/two/file 'two 1'
gone envs/empty_1/site envs/empty_1/.git
holds "$(cat envs/empty_1/.r10k-deploy.json)" '"signature": "plain-default"'
deploy 0 environment -m
holds "$out" '^0 deployed, 2 unchanged'
sed -i 's/ref: v1$/ref: main/; s/tag: v1/branch: main/' environments.yaml
deploy 0 environment production
file envs/production/site 2
deploy 0 environment -m
file envs/empty_1/modules/two/file 'two 2'
put two file 'two 3'
deploy 0 module two
file envs/empty_1/modules/two/file 'two 3'; file envs/production/modules/two/file 'two 3'; file envs/production/site 2
deploy 0 rollback empty_1
file envs/empty_1/modules/two/file 'two 2'
# A source that cannot be read removes nothing. An environment that is no longer defined is removed.
mv environments.yaml away
deploy 1 environment
holds "$err" "Unable to determine the environments of source 's' .*Couldn't open environments file $scratch/environments.yaml"
for bad in 'production: 1' 'production: {type: zip}' 'production: {type: git}' "production: {type: git, remote: 'file://x', modules: [a]}"; do
    echo "$bad" > environments.yaml
    deploy 1 environment
    holds "$err" "environment 'production': "
done
[ -d envs/empty_1 ] || fails 'environments were removed'
grep -v -A3 '^empty' away | sed '/^empty/,$d' > environments.yaml
deploy 0 environment
gone envs/empty_1

# type: yamldir and exec.
mkdir environments.d && sed 1,2d environments.yaml | sed 's/^  //' > environments.d/fromdir.yaml
source_of 'type: yamldir' "config: $scratch/environments.d" > r10k.yaml
deploy 0 environment
file envs/fromdir/site 2
printf '#!/bin/sh\necho '"'"'{"asked": {"type": "git", "remote": "file://%s/control", "ref": "v1"}}'"'"'\n' "$scratch" > list && chmod +x list
source_of 'type: exec' "command: $scratch/list" 'prefix: true' > r10k.yaml
deploy 0 environment
file envs/s_asked/site 1
gone envs/fromdir
printf '#!/bin/sh\nexit 3\n' > list
deploy 1 environment
holds "$err" 'list ended with 3'
[ -d envs/s_asked ] || fails 'environments were removed'

# type: svn. The trunk is the environment production, and each folder in branches is an environment.
# (A fake program replaces svn; the test checks the calls.)
mkdir bin && cat > bin/svn <<'SH'
#!/bin/sh
verb=$1; shift
for last; do :; done
case $verb in
list) printf 'dev/\nold_1/\nREADME\n' ;;
info) echo 17 ;;
export) for address; do [ "${address#svn:}" = "$address" ] || from=$address; done
    mkdir "$last" && echo "$from" > "$last/from" ;;
esac
SH
chmod +x bin/svn && PATH=$scratch/bin:$PATH
source_of 'type: svn' 'remote: svn://host/control' "ignore_branch_prefixes: [old]" > r10k.yaml
deploy 0 environment
file envs/production/from svn://host/control/trunk
file envs/dev/from svn://host/control/branches/dev
gone envs/old_1
holds "$(cat envs/dev/.r10k-deploy.json)" '"signature": "17"'
deploy 0 environment
holds "$out" '^0 deployed, 2 unchanged'
chmod u+w envs/dev/from && echo edited > envs/dev/from
deploy 0 environment
holds "$err" 'Environment dev: from was edited; restored'
file envs/dev/from svn://host/control/branches/dev

# g10k's extensions: forge settings, link, fallback, ignore-unreachable.
git -C control checkout -q -b feature
put control Puppetfile "forge.baseUrl 'https://forge.example.org/'
forge.cacheTtl 4h
mod 'one',
  :git => 'file://$scratch/one',
  :link => true,
  :fallback => 'nope|main'
mod 'gone', :git => 'file://$scratch/nowhere', :ignore-unreachable => true
mod 'two', :git => 'file://$scratch/two', :ignore_unreachable => true"
printf 'cachedir: %s/cache\nsources:\n  s: {remote: "file://%s/control", basedir: %s/g10k}\n' "$scratch" "$scratch" "$scratch" > r10k.yaml
git -C one branch other && git -C control branch other
deploy 0 environment feature other -m
holds "$err" 'Environment feature: gone is left as it is: '
file g10k/feature/modules/one/file 'one 2'; file g10k/feature/modules/two/file 'two 3'
gone g10k/feature/modules/gone
holds "$(cat g10k/feature/.r10k-deploy.json)" '"version": "main"'
git -C one checkout -q other && put one file 'other 1'
deploy 0 environment other -m
file g10k/other/modules/one/file 'other 1'
# A module that was deployed stays as it is if it is no longer reachable.
mv two elsewhere
deploy 0 environment feature -m
file g10k/feature/modules/two/file 'two 3'
finish
