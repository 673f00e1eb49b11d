#!/bin/bash
# A compile of a commit without a checkout gives the same catalog and the same reads as a compile of
# a checkout.
. "${0%/*}/lib.sh"
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org TMPDIR=$scratch/tmp
mkdir -p "$TMPDIR"
envs=$scratch/envs
control=$envs/production
mkdir -p "$control"
repository() { git -C "$control" "$@" >/dev/null; }
commit() { repository add -A && repository commit --quiet -m x; }
# Removes the version and the UUID of a catalog, which differ in each compile.
without_ids() {
    python3 -c 'import json, sys
data = json.load(open(sys.argv[1]))
for stamp in ("version", "catalog_uuid"): data.pop(stamp, None)
print(json.dumps(data, indent=1))' "$1"
}
# compiled NAME ARGS..: writes a catalog to $scratch/NAME.catalog and its reads to
# $scratch/NAME.reads.
compiled() {
    local name=$1
    shift
    run 0 compile --environmentpath "$envs" --inputs "$scratch/$name.json" "$@"
    cp "$scratch/out" "$scratch/$name.out"
    without_ids "$scratch/$name.out" >"$scratch/$name.catalog"
    without_ids "$scratch/$name.json" >"$scratch/$name.reads"
}
same_result() {
    local what
    for what in catalog reads; do
        if ! diff "$scratch/$1.$what" "$scratch/$2.$what" >"$scratch/diff"; then
            printf 'FAILED: %s of %s and %s\n%s\n' "$what" "$1" "$2" "$(<"$scratch/diff")"
            failures=$((failures + 1))
        fi
    done
}
overwrite_folder() {
    find "$control" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -r {} +
    mkdir -p "$control/manifests" && echo 'fail("the working folder was read")' >"$control/manifests/site.pp"
}

# The site of the mutation oracle.
cp -r "$SOURCE/tests/mutation/site/." "$control"
mkdir "$scratch/facts" && mv "$control/facts"/* "$scratch/facts"
repository init --quiet -b main && commit
nodes="web.example.org db1.example.org other.example.org"
for node in $nodes; do compiled "$node" --node "$node" --facts "$scratch/facts/$node.json"; done
overwrite_folder
for node in $nodes; do
    compiled "$node.commit" --node "$node" --facts "$scratch/facts/$node.json" --revision main
    same_result "$node" "$node.commit"
done
[ -z "$(ls "$TMPDIR")" ] || { echo "FAILED: left in TMPDIR"; failures=$((failures + 1)); }

# A control repository with every feature that reads files itself.
repository rm -rq --cached . && rm -rf "$control"/manifests
m=$control/site/m
mkdir -p "$control"/{manifests,data,bin} "$m"/{manifests,functions,templates,files,facts.d,bin} \
    "$m"/lib/{facter,puppet/functions/m,puppet/type,puppet_x} "$scratch/base/n/manifests"
printf 'modulepath = site:$basemodulepath\nconfig_version = bin/version\n' >"$control/environment.conf"
printf '#!/bin/sh\necho of the folder\n' >"$control/bin/version"
echo 'node default { include m, n }' >"$control/manifests/site.pp"
printf 'version: 5\nhierarchy: [{name: all, glob: "*.yaml"}]\n' >"$control/hiera.yaml"
echo 'm::p: of the data' >"$control/data/common.yaml"
mkdir "$control/site/linked" "$m/others" && ln -s ../m/others "$control/site/linked/manifests"
cat >"$m/manifests/init.pp" <<'EOM'
class m(String $p) {
  notify { "native ${p}": }
  notify { m::hello('x'): }
  file { '/erb': content => template('m/t.erb') }
  file { '/file': content => file('m/f') }
  file { '/source': source => 'puppet:///modules/m/f' }
  m_thing { 'a': level => 'high' }
  notify { generate("${module_directory('m')}/bin/run"): }
  include linked::more
}
EOM
echo 'class linked::more { notify { "by a link": } }' >"$m/others/more.pp"
cat >"$m/lib/puppet/functions/m/hello.rb" <<'EOM'
require 'puppet_x/help'
Puppet::Functions.create_function(:'m::hello') do
  dispatch(:hello) { param 'String', :x }
  def hello(x)
    "#{x} #{PuppetX.help} #{File.read(File.join(__dir__, '../../../../files/f')).chomp} #{__FILE__}"
  end
end
EOM
echo 'module PuppetX; def self.help; "helped"; end; end' >"$m/lib/puppet_x/help.rb"
cat >"$m/lib/puppet/type/m_thing.rb" <<'EOM'
Puppet::Type.newtype(:m_thing) do
  newparam(:name) { isnamevar }
  newproperty(:level) { newvalues(:high, :low) }
end
EOM
echo '<%= require "set"; Set.new([1, 2]).to_a.inspect %> <%= __FILE__ %>' >"$m/templates/t.erb"
echo 'content' >"$m/files/f"
echo 'Facter.add(:from_ruby) { setcode { "custom" } }' >"$m/lib/facter/from_ruby.rb"
printf '#!/bin/sh\necho ran in "$0"\n' >"$m/bin/run"
chmod +x "$m/bin/run" "$control/bin/version"
echo 'class n { notify { "of the disk, ${facts["from_ruby"]}": } }' >"$scratch/base/n/manifests/init.pp"
commit
with=(--basemodulepath "$scratch/base")
compiled checkout "${with[@]}" --node x
holds "$out" '"x helped content [^"]*production/site/m/lib/puppet/functions/m/hello.rb"'
holds "$out" 'of the disk, custom'
holds "$out" '"ran in [^"]*production/site/m/bin/run'
holds "$out" '"version": *"of the folder"'
id=$(git -C "$control" rev-parse HEAD)
overwrite_folder
compiled commit "${with[@]}" --node x --revision HEAD
same_result checkout commit
holds "$out" "\"version\": *\"$id\""
[ -z "$(ls "$TMPDIR")" ] || { echo "FAILED: left in TMPDIR"; failures=$((failures + 1)); }

# Compares two commits, regardless of the contents of the folder.
repository reset --quiet --hard HEAD
echo 'm::p: other' >"$control/data/common.yaml"
echo 'new content' >"$m/files/f"
commit
overwrite_folder
run 2 diff "${with[@]}" --from-path "$control" --from-revision HEAD~1 --to-revision main --node x --facts "$scratch/facts/db1.example.org.json"
holds "$out" "^diff $control@HEAD~1 $control@main \(x\)\$"
holds "$out" 'native other'
holds "$out" 'new content'
run 0 diff "${with[@]}" --environmentpath "$envs" --from-env production --from-revision main --to-revision "$(git -C "$control" rev-parse HEAD)" --node x --facts "$scratch/facts/db1.example.org.json"
# Compares a commit with the working folder, which the output mentions.
run 1 diff "${with[@]}" --from-path "$control" --from-revision main --to-path "$control" --node x --facts "$scratch/facts/db1.example.org.json"
holds "$err" 'the working folder was read'

# Invalid calls.
run 1 compile --environmentpath "$envs" --revision none
holds "$err" "Error: The git repository $control has no revision 'none'"
run 1 compile --environmentpath "$envs" --environment other --revision main
holds "$err" "Error: Could not find a directory environment named 'other' anywhere in the path: $envs"
mkdir "$envs/plain"
run 1 compile --environmentpath "$envs" --environment plain --revision main
holds "$err" "Error: $envs/plain is not in a git repository: "
repository reset --quiet --hard main
ln -s "$scratch/base/n" "$control/site/out"
commit
run 1 compile --environmentpath "$envs" --node x --revision main
holds "$err" "Error: The link $control/site/out of commit [0-9a-f]* leads out of the repository, to $scratch/base/n"
finish
