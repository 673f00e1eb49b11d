#!/bin/bash
# Native functions that a module also provides: the module's own function is called.
. "${0%/*}/lib.sh"
if ! command -v ruby >/dev/null; then
    echo "skipped: Ruby is not installed on this machine"
    exit 0
fi
envs=$scratch/envs
stdlib=$envs/production/modules/stdlib
mkdir -p "$envs/production/manifests" "$stdlib"/{functions,lib/puppet/{functions/stdlib,parser/functions}}
cat >"$stdlib/lib/puppet/parser/functions/pick.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:pick, :type => :rvalue) { |args| "picked #{args.size} of one's own" }
end
EOS
# Like releases 4.x, which implement it through another function of the same API.
cat >"$stdlib/lib/puppet/parser/functions/ensure_packages.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:ensure_packages, :type => :statement) do |args|
    Puppet::Parser::Functions.function(:ensure_resource)
    [args[0]].flatten.each { |name| function_ensure_resource(['package', name, { 'ensure' => 'present' }]) }
  end
end
EOS
cat >"$stdlib/lib/puppet/parser/functions/ensure_resource.rb" <<'EOS'
Puppet::Parser::Functions.newfunction(:ensure_resource, :type => :statement) do |(type, title, params)|
  type_name, found = Puppet::Resource.type_and_title("#{type}[#{title}]", nil)
  kind = Puppet::Pops::Evaluator::Runtime3ResourceSupport.find_resource_type_or_class(find_global_scope, type_name.downcase)
  unless findresource(kind, found)
    Puppet::Parser::Functions.function(:create_resources)
    function_create_resources([type.capitalize, { title => params }])
  end
end
EOS
# A function of the newer API hides the older one, except for the methods of the scope.
cat >"$stdlib/lib/puppet/functions/validate_string.rb" <<'EOS'
Puppet::Functions.create_function(:validate_string, Puppet::Functions::InternalFunction) do
  dispatch(:go) { scope_param; repeated_param 'Any', :args }
  def go(scope, *args) = raise("newer: #{scope.send('function_validate_string', args)}")
end
EOS
cat >"$stdlib/lib/puppet/parser/functions/validate_string.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:validate_string, :type => :rvalue) { |args| "older #{args.join}" }
end
EOS
cat >"$stdlib/lib/puppet/parser/functions/squeeze.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:squeeze, :type => :rvalue) { |args| function_validate_string(args) }
end
EOS
cat >"$stdlib/lib/puppet/functions/stdlib/ensure_packages.rb" <<'EOS'
Puppet::Functions.create_function(:'stdlib::ensure_packages') { def ensure_packages(*) = raise('not this release') }
EOS
echo "function stdlib::crc32(String \$x) >> String { \"in Puppet: \${x}\" }" >"$stdlib/functions/crc32.pp"
compile=(compile --environmentpath "$envs" --node n)

run 0 "${compile[@]}" -e 'notice(pick(undef, 1))
notice(stdlib::crc32("x"))
notice(squeeze(["a", "b"]))'
holds "$err" ": picked 2 of one's own$"
holds "$err" ': in Puppet: x$'
holds "$err" ': older ab$'
run 1 "${compile[@]}" -e 'validate_string("a")'
holds "$err" 'Function Call, newer: older a \(line: 1, column: 1\)'
run 1 "${compile[@]}" -e 'stdlib::ensure_packages(["a"])'
holds "$err" 'not this release'
# `present`, in the class that calls the function, and only once.
run 0 "${compile[@]}" -e 'class a { ensure_packages(["p", "q"]) }
class b { ensure_packages("p") }
include a, b'
holds "$out" '"title":"p","tags":\["package","p","class","a"\],[^}]*"parameters":\{"ensure":"present"\}'
holds "$out" '\{"source":"Class\[A\]","target":"Package\[p\]"\}'
lacks "$out" '"source":"Class\[B\]"'
# A changed file is loaded. If the module lacks the function, the native one is called.
rm "$stdlib/lib/puppet/parser/functions/pick.rb"
run 0 "${compile[@]}" -e 'notice(pick(undef, 1))'
holds "$err" ': 1$'

# The functions of a known release run natively, without Ruby.
known=/usr/share/puppet/modules/stdlib
if [ -f "$known/metadata.json" ] && grep -q '"version": "8.5.0"' "$known/metadata.json"; then
    run 0 compile --environmentpath "$envs" --node n --modulepath /usr/share/puppet/modules \
        --ruby_program /nothing/here -e 'notice(pick(undef, 1), any2array("a"), concat([1], 2), member([1], 1))'
    holds "$err" ': 1 \[a\] \[1, 2\] true$'
    sed 's/not given/none/' "$known/lib/puppet/parser/functions/concat.rb" >"$scratch/concat.rb"
    mkdir -p "$scratch/modules/stdlib/lib/puppet/parser/functions"
    echo '# changed' | cat - "$scratch/concat.rb" >"$scratch/modules/stdlib/lib/puppet/parser/functions/concat.rb"
    run 1 compile --environmentpath "$envs" --node n --modulepath "$scratch/modules" \
        --ruby_program /nothing/here -e 'notice(concat([1], 2))'
fi
finish
