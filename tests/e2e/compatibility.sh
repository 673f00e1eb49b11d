#!/usr/bin/env bash
# The compatibility levels puppet8, openvox8 and openvox9: what each of them shows, which settings
# and options it has, and what `migrate check --to` finds.
. "$SOURCE/tests/e2e/lib.sh"

# level LEVEL STATUS ARGS...: runs the program at a level; its whole output is in $both.
level() {
    local at=$1
    shift
    run "$@" --compatibility "$at"
    both="$out
$err"
}
is() { [ "$1" = "$2" ] || { echo "FAILED: '$1' is not '$2'"; failures=$((failures + 1)); }; }

# Versions and the implementation.
for row in 'puppet8 8.11.0 -' 'openvox8 8.28.1 openvox' 'openvox9 9.0.0 openvox'; do
    read -r at version name <<<"$row"
    level "$at" 0 apply -e 'notice("is ${settings::compatibility} ${facts["implementation"]}- ${facts["clientversion"]} ${facts["puppetversion"]}")'
    holds "$both" "is $at ${name#-}- $version $version\$"
    level "$at" 0 facts show clientcert implementation clientversion --certname me.example
    holds "$both" '"clientcert": "me.example"'
    holds "$both" "\"clientversion\": \"$version\""
    level "$at" 0 doctor --json
    holds "$both" "\"compatibility\".*$at, version $version"
    ln -sf "$BUNRAKU" "$scratch/puppet"
    is "$("$scratch/puppet" --version --compatibility "$at" --confdir "$scratch/etc")" "$version"
    holds "$("$BUNRAKU" --version --compatibility "$at" --confdir "$scratch/etc")" "^level +$at\$"
done
printf '[main]\ncompatibility = puppet8\n' >"$scratch/etc/puppet.conf"
is "$("$scratch/puppet" --version --confdir "$scratch/etc")" 8.11.0
run 0 config print compatibility
is "$out" puppet8
rm "$scratch/etc/puppet.conf"
level unknown 1 apply -e ''
holds "$both" "Invalid value 'unknown' for parameter compatibility"

# Defaults.
for row in 'openvox8 reports store' 'openvox9 reports none' 'puppet8 preprocess_deferred false' \
    'openvox9 preprocess_deferred true'; do
    read -r at setting value <<<"$row"
    level "$at" 0 config print "$setting"
    is "$out" "$value"
done
mkdir -p "$scratch/reports"
level openvox8 0 apply --reportdir "$scratch/reports" --certname n1 -e ''
is "$(ls "$scratch/reports")" n1
level openvox9 0 apply --reportdir "$scratch/reports" --certname n2 -e ''
is "$(ls "$scratch/reports")" n1
is "$(RUNTIME_DIRECTORY=/run/mine "$BUNRAKU" config print rundir --confdir "$scratch/etc")" /run/mine

# Removed settings.
for option in pluginsync configprint data_binding_terminus environment_data_provider; do
    level openvox9 1 apply "--$option" true -e 'notice(1)'
    holds "$both" "^Error: Could not parse application options: invalid option: --$option\$"
    level openvox9 0 config print "$option"
    is "$out" ''
done
level openvox8 0 apply --data_binding_terminus none -e 'notice(1)'
printf '[main]\npluginsync = true\ncompatibility = openvox9\n' >"$scratch/etc/puppet.conf"
run 0 apply -e 'notice(1)'
lacks "$out$err" pluginsync
rm "$scratch/etc/puppet.conf"

# Content that looks like a checksum.
file="file { '$scratch/x': content => '{md5}d41d8cd98f00b204e9800998ecf8427e' }"
level puppet8 0 apply -e "$file"
holds "$both" 'Using a checksum in a file.s "content" property is deprecated'
holds "$both" 'Could not get filebucket from file'
for at in openvox8 openvox9; do
    rm -f "$scratch/x"
    level "$at" 0 apply -e "$file"
    lacks "$both" deprecated
    is "$(<"$scratch/x")" '{md5}d41d8cd98f00b204e9800998ecf8427e'
done
permissions="file { '$scratch/y': source => '$scratch/x', source_permissions => use }"
echo "$permissions" >"$scratch/permissions.pp"
level openvox8 0 apply "$scratch/permissions.pp"
holds "$both" 'source_permissions. parameter is deprecated'
level openvox9 0 apply "$scratch/permissions.pp"
lacks "$both" deprecated
level puppet8 0 apply -e "$permissions"
holds "$both" '\(file: unknown, line: 1\)'

# Functions of Ruby for environment variables, which modules call as their own.
mkdir -p "$scratch/ruby/e/lib/puppet/functions/e"
cat >"$scratch/ruby/e/lib/puppet/functions/e/variable.rb" <<'EOF'
Puppet::Functions.create_function(:'e::variable') do
  def variable
    own = Class.new do
      extend Puppet::Util
      def self.own_variable = get_env('E_A')
    end
    Puppet::Util.set_env('E_A', '1')
    Puppet::Util.merge_environment(E_B: '2')
    value = own.own_variable + Puppet::Util.get_environment['E_B']
    Puppet::Util.withenv({}) { Puppet::Util.clear_environment && value + ENV.size.to_s }
  end
end
EOF
for at in openvox8 openvox9; do
    level "$at" 0 apply --modulepath "$scratch/ruby" -e 'notice(e::variable())'
    holds "$both" ': 120$'
    case $at in
        openvox8) lacks "$both" deprecated ;;
        openvox9)
            for function in set_env:ENV[]= merge_environment:ENV.merge! get_env:ENV[] get_environment:ENV.to_hash \
                clear_environment:ENV.clear; do
                holds "$both" "Puppet::Util.${function%:*} is deprecated and will be removed in a future version. Use \
$(sed 's/[][!.]/\\&/g' <<<"${function#*:}") directly instead\."
            done
            ;;
    esac
done

# Messages.
run 1 nonsense
holds "$err" "Unknown subcommand 'nonsense'"
level openvox8 0 agent --disable why
holds "$both" 'Disabling Puppet\.'
level openvox9 0 agent --enable
holds "$both" 'Enabling OpenVox\.'

# Custom facts: OpenFact 6 warns of old methods and has no ldapname.
mkdir -p "$scratch/facts"
cat >"$scratch/facts/old.rb" <<'EOF'
Facter.add(:old_exec) { setcode { Facter::Util::Resolution.exec('/bin/echo one') } }
Facter.add(:old_limit) { setcode { Facter::Core::Execution.execute('/bin/echo two', time_limit: 5) } }
Facter.add(:old_name, ldapname: 'x') { setcode { 'three' } }
EOF
for at in openvox8 openvox9; do
    level "$at" 0 facts show old_exec old_limit old_name --custom-dir "$scratch/facts"
    holds "$both" '"old_exec": "one"'
    holds "$both" '"old_limit": "two"'
    case $at in
        openvox8)
            holds "$both" '"old_name": "three"'
            lacks "$both" deprecated
            ;;
        openvox9)
            holds "$both" 'Facter::Util::Resolution.exec is deprecated and will be removed'
            holds "$both" 'time_limit is deprecated and will be removed in a future version, use timeout instead'
            lacks "$both" '"old_name": "three"'
            ;;
    esac
done

# Packages: what dnf5 understands, and variables of the resource.
mkdir -p "$scratch/bin"
cat >"$scratch/bin/dnf" <<'EOF'
#!/bin/sh
echo "$LICENSE dnf $*" >>"$scratch/dnf.log"
for a; do case $a in -d | -e | erase) exit 2 ;; esac; done
exit 0
EOF
printf '#!/bin/sh\ncase "$*" in *--version*) echo "RPM version 4.19.0"; exit 0;; *-qa*) exit 0;; esac\nexit 1\n' >"$scratch/bin/rpm"
chmod +x "$scratch/bin/dnf" "$scratch/bin/rpm"
export scratch
PATH=$scratch/bin:$PATH level puppet8 0 apply -e \
    "package { 'foo': provider => dnf, allow_virtual => false, environment => ['LICENSE=yes', 'LICENSE=no'] }"
holds "$both" "Overriding environment setting 'LICENSE'"
holds "$both" 'Package\[foo\]/ensure: created'
is "$(<"$scratch/dnf.log")" $'no dnf -y list foo\nno dnf -y install foo'

# The migration check.
site=$scratch/site
module=$site/envs/production/modules/m
mkdir -p "$module"/{manifests,functions,lib/facter,templates} "$site/envs/production/manifests"
printf '[main]\npluginsync = true\nreports = store\n' >"$scratch/etc/puppet.conf"
echo 'environment_data_provider = function' >"$site/envs/production/environment.conf"
cat >"$site/envs/production/manifests/site.pp" <<'EOF'
$a = regsubst('a', 'b', 'c', 'G', 'U')
$b = 'a'.regsubst('b', 'c', 'G', 'N')
$c = regsubst('a', 'b', 'c', 'G')
file { '/x': content => '{md5}d41d8cd98f00b204e9800998ecf8427e' }
filebucket { 'main': path => false, server => 'puppet.example' }
filebucket { 'here': path => '/x' }
EOF
echo "File { content => '{sha256}abc' }" >"$module/manifests/init.pp"
echo "<%= regsubst('a', 'b', 'c', 'G', 'U') %>" >"$module/templates/t.epp"
printf 'Facter.add(:a, ldapname: "x") { }\n# ldapname\nFacter::Core::Execution.execute("x")\nFacter::Core::Execution.exec("x")\n' >"$module/lib/facter/a.rb"
cat >"$module/metadata.json" <<'EOF'
{"name": "acme-m", "version": "1.0.0", "author": "acme", "license": "x", "source": "x", "dependencies": [],
 "requirements": [{"name": "puppet", "version_requirement": ">= 7.0.0 < 9.0.0"}, {"name": "openvox", "version_requirement": ">= 8.19.0 < 9.0.0"}]}
EOF
run 1 migrate check --to openvox9 --no-catalogs --environmentpath "$site/envs"
production=$site/envs/production
for line in "differs  $scratch/etc/puppet.conf: pluginsync: the setting is removed" \
    "differs  $production/environment.conf: environment_data_provider: the setting is removed" \
    "broken   $production/manifests/site.pp: regsubst no longer takes an encoding.* \(line 1\)" \
    "broken   $production/manifests/site.pp: regsubst no longer takes an encoding.* \(line 2\)" \
    "differs  $production/manifests/site.pp: the content looks like a checksum.* \(line 4\)" \
    "differs  $production/manifests/site.pp: agents may no longer read the server.s filebucket.* \(line 5\)" \
    "differs  $module/manifests/init.pp: the content looks like a checksum.* \(line 1\)" \
    "broken   $module/templates/t.epp: regsubst .* \(line 1\)" \
    "differs  $module/lib/facter/a.rb: facts no longer have the option ldapname.* \(line 1\)" \
    "differs  $module/lib/facter/a.rb: use Facter::Core::Execution instead \(line 4\)" \
    "differs  $module: requires openvox >= 8.19.0 < 9.0.0, but the version is 9.0.0 \(openvox9\)" \
    "note     $scratch/etc/puppet.conf: the default of .preprocess_deferred. changes"; do
    holds "$out" "^$line"
done
lacks "$out" 'line 3\)|line 6\)|the default of .reports.'
holds "$out" '^3 broken, '
run 2 migrate check --to openvox8 --no-catalogs --environmentpath "$site/envs"
lacks "$out" 'regsubst|pluginsync|openvox'
run 1 migrate check --to openvox7 --no-catalogs
holds "$err" "^Error: --to is puppet8, openvox8 or openvox9, not 'openvox7'\$"

# Requirements of modules.
run 0 module list --modulepath "$site/envs/production/modules"
lacks "$err" requires
level openvox9 0 module list --modulepath "$site/envs/production/modules"
holds "$err" "^Warning: Module 'acme-m' \(v1.0.0\) requires openvox >= 8.19.0 < 9.0.0, but the version is 9.0.0 \(openvox9\)\$"
(cd "$scratch" && mkdir acme-m-1.0.0 && cp -r "$module"/. acme-m-1.0.0 && tar czf m.tar.gz acme-m-1.0.0)
level openvox9 0 module install "$scratch/m.tar.gz" --target-dir "$scratch/installed" --ignore-dependencies
holds "$err" "^Warning: Module 'acme-m' \(v1.0.0\) requires openvox"

run 0 help --compatibility
cmp -s "$scratch/out" "$SOURCE/docs/compatibility.md" || { echo 'FAILED: docs/compatibility.md is not current'; failures=$((failures + 1)); }
finish
