#!/bin/bash
# A deployed version is frozen: edits in the current and in the previous version (for `rollback`)
# are found, reported and undone. The folder also contains the files that r10k leaves for other
# tools.
. "$(dirname "$0")/lib.sh"
export GIT_CONFIG_GLOBAL=$scratch/gitconfig LC_ALL=C
printf '[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = main\n' > "$GIT_CONFIG_GLOBAL"
cd "$scratch" || exit 1
fails() { printf 'FAILED: line %s: %s\n' "${BASH_LINENO[0]}" "$*"; failures=$((failures + 1)); }
file() { [ "$(cat "$1" 2>&1)" = "$2" ] || fails "$1 contains $(cat "$1" 2>&1), not $2"; }
put() {
    mkdir -p "$1/$(dirname "$2")" && printf '%s\n' "$3" > "$1/$2" && git -C "$1" add -A && git -C "$1" commit -qm "$2"
}
# edit FILE TEXT: writes a file like an editor that overrides missing write permission.
edit() { chmod u+w "$1" && printf '%s\n' "$2" > "$1"; }
deploy() { local status=$1; shift; run "$status" deploy "$@" --r10k "$scratch/r10k.yaml"; }
for m in one two; do
    git init -q "$m" && put "$m" files/f "$m 1"
    printf '#!/bin/sh\n' > "$m/run" && chmod +x "$m/run" && ln -s files/f "$m/link"
    put "$m" other x
done
git init -q control
put control Puppetfile "mod 'one', git: 'file://$scratch/one', branch: :control_branch, default_branch: 'main'
mod 'two', git: 'file://$scratch/two', branch: 'main'
mod 'hand', local: true"
put control manifests/site.pp '# 1'
put control environment.conf "config_version = '$(command -v git) --git-dir \$environmentpath/\$environment/.git rev-parse HEAD'"
for place in envs elsewhere; do
    printf -- "cachedir: %s/cache-%s\nsources:\n  site:\n    remote: file://%s/control\n    basedir: %s/%s\n" \
        "$scratch" "$place" "$scratch" "$scratch" "$place" > "$place.yaml"
done
cp envs.yaml r10k.yaml
main=envs/main one=envs/main/modules/one two=envs/main/modules/two

# Two servers use the same version name for a commit and its modules, regardless of the time.
deploy 0 environment
run 0 deploy environment --r10k "$scratch/elsewhere.yaml"
holds "$(readlink envs/main)" '^\.bunraku/main/[0-9a-f]{12}-[0-9a-f]{16}$'
[ "$(readlink envs/main)" = "$(readlink elsewhere/main)" ] || fails "$(readlink envs/main) $(readlink elsewhere/main)"
[ "$(sed 1,2d "$(readlink -f envs/main).json")" = "$(sed 1,2d "$(readlink -f elsewhere/main).json")" ] || fails 'records differ'
# Deployed files have no write permission, but keep their executable bits.
[ "$(stat -c %A $two/files/f $two/run $main/manifests/site.pp | cut -c2-4 | tr '\n' ' ')" = 'r-- r-x r-- ' ] ||
    fails "modes: $(stat -c '%A %n' $two/files/f $two/run)"

# config_version by git works. r10k's record contains resolved versions and local modules, and later
# deploys keep it.
commit=$(git -C control rev-parse HEAD)
run 0 compile --environmentpath "$scratch/envs" --environment main --node n1 -e '$a = 1'
holds "$out" "\"version\": ?\"$commit\""
record() {
    python3 -c 'import json; d = json.load(open("envs/main/.r10k-deploy.json")); print(d["signature"], *("%s=%s=%s" % (m["name"], m["version"], m["sha"]) for m in d["module_deploys"]))'
}
modules="one=main=$(git -C one rev-parse HEAD) two=main=$(git -C two rev-parse HEAD) hand=0.0.0 (local)=None"
[ "$(record)" = "$commit $modules" ] || fails "$(record)"

# Files that were edited, deleted or replaced are reported and restored. Unmanaged files stay.
edit $one/files/f 'one X'
touch -r $two/files/f stamp && edit $two/files/f 'two X' && touch -r stamp $two/files/f
edit $main/manifests/site.pp '# X'
rm -rf ${one:?}/other ${two:?}/link && mkdir $one/other && touch $one/other/x && chmod u+w,a-x $two/run
echo mine > $main/mine
version=$(readlink $main)
deploy 0 environment --modules
holds "$err" 'Warning: Environment main: manifests/site\.pp was edited, modules/one/files/f was edited, modules/one/other was edited, modules/two/files/f was edited, modules/two/run was edited, modules/two/link was deleted; restored$'
holds "$out" '^1 deployed, 0 unchanged'
file $one/files/f 'one 1'; file $two/files/f 'two 1'; file $one/other x; file $main/manifests/site.pp '# 1'; file $main/mine mine
file $two/link 'two 1'; [ -x $two/run ] || fails "$(stat -c %A $two/run)"
[ "$(readlink $main)" = "$version" ] || fails 'an edit caused a new version'
deploy 0 environment --modules --json
holds "$out" '"what":"unchanged".*"restored":\[\]'
# The same without --modules, and in `deploy module`. JSON lists the paths.
edit $one/files/f 'one X'
deploy 0 environment --json
holds "$out" '"what":"deployed".*"restored":\["modules/one/files/f"\]'
file $one/files/f 'one 1'
# The same for a whole module, or the folder of manifests.
rm -rf ${one:?} $main/manifests
deploy 0 module two
file $one/files/f 'one 1'; file $main/manifests/site.pp '# 1'
# With --no-force an edited environment stays as it is, even if there is a new commit.
edit $one/files/f 'one X'
put control manifests/site.pp '# 2'
deploy 0 environment -m --no-force
holds "$err" 'modules/one/files/f was edited; it remains unchanged'
file $one/files/f 'one X'; file $main/manifests/site.pp '# 1'
# With a new commit: edits are reported, restored in the old version too, and absent from the new
# version.
touch -r $two/files/f stamp && edit $two/files/f 'two Y' && touch -r stamp $two/files/f
put two other y
deploy 0 environment -m
holds "$err" 'modules/one/files/f was edited, modules/two/files/f was edited; restored'
file $one/files/f 'one 1'; file $two/files/f 'two 1'; file $main/manifests/site.pp '# 2'; file $two/other y

# Files that the purge levels cover are removed, even without a new commit. Other unmanaged files
# stay.
mkdir -p $main/modules/byhand $main/data/own && echo x > $main/modules/byhand/x && echo x > $main/data/own/x
chmod 640 $main/data/own/x
deploy 0 environment
[ -e $main/modules/byhand/x ] || fails 'without --modules modules are not purged'
deploy 0 environment -m
holds "$err" 'Removing unmanaged path .*envs/main/modules/byhand$'
[ ! -e $main/modules/byhand ] && [ -e $main/data/own/x ] && [ -e $main/mine ] || fails "$(ls $main $main/modules)"
[ "$(ls $main/modules | tr '\n' ' ')" = 'one two ' ] || fails "$(ls $main/modules)"
# An unmanaged file keeps its mode in the next version.
put control manifests/site.pp '# 2b' && deploy 0 environment
[ "$(stat -c %a $main/data/own/x)" = 640 ] || fails "$(stat -c %a $main/data/own/x)"
put control manifests/site.pp '# 2' && deploy 0 environment -m

# The previous version shares files with the current one. An edit in place changes both, and must
# not return after a rollback.
[ "$(stat -c %h $one/files/f)" -gt 1 ] || fails 'the versions share no files, so this test is not effective'
edit $one/files/f 'one Z'
deploy 0 rollback main
holds "$err" 'The previous version: modules/one/files/f was edited; restored'
file $one/files/f 'one 1'; file $main/manifests/site.pp '# 2b'
deploy 0 rollback main
file $one/files/f 'one 1'; file $main/manifests/site.pp '# 2'
# If the cache has lost the content, rollback refuses the previous version. A deploy builds the
# environment again.
previous=envs/.bunraku/main/$(readlink envs/.bunraku/main/previous)
edit $one/files/f 'one Z' && edit "$previous/modules/one/files/f" 'one Z'
mv cache-envs/bunraku/trees trees
deploy 1 rollback main
holds "$err" 'has been modified: modules/one/files/f was edited'
file $main/manifests/site.pp '# 2'
deploy 1 environment
holds "$err" 'modules/one/files/f can be restored with --modules only'
deploy 0 environment -m
holds "$err" 'modules/one/files/f was edited; it will be rebuilt'
file $one/files/f 'one 1'
rm -rf trees cache-envs/bunraku/trees
deploy 1 rollback main
deploy 0 rollback main --force
file $one/files/f 'one Z'
deploy 0 environment -m
file $one/files/f 'one 1'

# The record of a deploy that deploys only the files of the branch.
put control manifests/site.pp '# 3'
deploy 0 environment
modules="one=main=$(git -C one rev-parse HEAD) two=main=$(git -C two rev-parse HEAD) hand=0.0.0 (local)=None"
[ "$(record)" = "$(git -C control rev-parse HEAD) $modules" ] || fails "$(record)"
[ "$(git --git-dir $main/.git log -1 --format=%s)" = manifests/site.pp ] || fails "$(git --git-dir $main/.git log -1)"
# git compares the deployed files with the commit, as in an environment of r10k.
status() { git -C $main status --porcelain --untracked-files=no; }
[ -z "$(status)" ] || fails "git status: $(status)"
file $main/manifests/site.pp '# 3'
edit $main/manifests/site.pp '# edited'
[ "$(status)" = ' M manifests/site.pp' ] || fails "git status after an edit: $(status)"
edit $main/manifests/site.pp '# 3'
[ -z "$(status)" ] || fails "git status after the edit was undone: $(status)"

# Versions that running compiles may need stay, regardless of the number of deploys in the meantime.
versions() { ls -A envs/.bunraku/main | grep -vc -e '\.json$' -e '\.files$' -e previous; }
before=$(versions)
for i in 4 5 6; do put control manifests/site.pp "# $i" && deploy 0 environment; done
[ "$(versions)" = $((before + 3)) ] || fails "$(ls -A envs/.bunraku/main)"
put control manifests/site.pp '# 7' && deploy 0 environment --keep-for 0
[ "$(versions)" = 2 ] && [ "$(ls -A envs/.bunraku/main | wc -l)" = 7 ] || fails "$(ls -A envs/.bunraku/main)"
deploy 1 environment --keep-for soon
holds "$err" "Invalid value 'soon' for --keep-for"
finish
