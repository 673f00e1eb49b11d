#!/bin/bash
# Modules with Ruby code: functions, types with their cache and generated form, data types,
# templates and facts. Also covers missing Ruby and misbehaving Ruby code.
. "${0%/*}/lib.sh"
if ! command -v ruby >/dev/null; then
    echo "skipped: Ruby is not installed on this machine"
    exit 0
fi
envs=$scratch/envs
lib=$envs/production/modules/acme/lib
mkdir -p "$envs/production/manifests" "$envs/production/modules/acme"/{manifests,templates} \
    "$lib"/{facter,puppet/{type,functions/acme,parser/functions,datatypes/acme}}
cat >"$lib/puppet/functions/acme/twice.rb" <<'EOS'
Puppet::Functions.create_function(:'acme::twice') do
  dispatch(:text) { param 'String[1]', :word; return_type 'String' }
  dispatch(:block) { param 'Integer', :n; block_param 'Callable[1, 1]', :each }
  def text(word) = call_function('upcase', word) * 2
  def block(n) = yield(n) + yield(n)
end
EOS
cat >"$lib/puppet/parser/functions/acme_old.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:acme_old, :type => :rvalue, :arity => 1) { |args| "#{lookupvar('where')}: #{function_sprintf(['%03d', args[0]])}" }
end
EOS
cat >"$lib/puppet/parser/functions/acme_quoted.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:'acme::quote', :type => :rvalue) { |args| "<#{args[0]}>" }
  newfunction(:acme_quoted, :type => :rvalue) do |args|
    found = call_function('lookup', ['acme_none', { 'default_value' => :none }])
    size = lookupvar('::where').size
    resource = find_global_scope.catalog.resource("Notify[#{args[0]}]")
    "#{call_function('acme::quote', [args[0]])} #{found == :none} #{size} #{resource.parameters[:message].value}"
  end
end
EOS
cat >"$lib/puppet/parser/functions/acme_check.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:acme_check, :type => :rvalue) { |args| "old #{args.inspect}" }
end
EOS
cat >"$lib/puppet/functions/acme_check.rb" <<'EOS'
Puppet::Functions.create_function(:acme_check) do
  dispatch :check do
    param 'Any', :scope
    repeated_param 'Any', :args
  end
  def call(scope, *args) = self.class.dispatcher.dispatch(self, scope, [scope] + args)
  def check(scope, *args) = scope.send('function_acme_check', args)
end
EOS
cat >"$lib/puppet/functions/acme/bad.rb" <<'EOS'
Puppet::Functions.create_function(:'acme::bad') do
  def bad(how)
    case how
    when 'raise' then raise 'boom'
    when 'exit' then exit 7
    when 'loop' then loop {}
    when 'print' then puts 'noise'; 'quiet'
    end
  end
end
EOS
cat >"$lib/puppet/type/acme_thing.rb" <<'EOS'
Puppet::Type.newtype(:acme_thing) do
  @doc = 'A thing.'
  def self.title_patterns = [[/^([^:]+):(.+)$/, [[:left], [:right]]], [/^([^:]+)$/, [[:left]]]]
  ensurable
  newparam(:left, namevar: true) { desc 'Left.' }
  newparam(:right, namevar: true)
  newproperty(:mode) { newvalues(:fast, :slow, /^\d+$/) }
end
EOS
cat >"$lib/puppet/type/acme_low.rb" <<'EOS'
Puppet::Type.newtype(:acme_low) do
  def self.title_patterns
    [[/^(\w+):(.+)$/, [[:kind, ->(text) { text.upcase }], [:name]]], [/^(.*)$/m, [[:name, ->(text) { text.downcase }]]]]
  end
  newparam(:name, namevar: true)
  newparam(:kind, namevar: true)
end
EOS
mkdir -p "$envs/production/modules/acme/facts.d"
echo 'acme_given=given' >"$envs/production/modules/acme/facts.d/given.txt"
cat >"$lib/puppet/datatypes/acme/car.rb" <<'EOS'
Puppet::DataTypes.create_type('Acme::Car') do
  interface <<-PUPPET
    attributes => { wheels => Integer, color => { type => String, value => 'red' } },
    functions => { describe => Callable[[], String] }
  PUPPET
  implementation { def describe = "a #{color} car on #{wheels} wheels" }
end
EOS
echo "Facter.add(:acme_fact) { setcode { Facter.value(:kernel) + ' and more' } }" >"$lib/facter/acme.rb"
echo '<%= @where.each_char.each_slice(2).map(&:join).inspect %>' \
    >"$envs/production/modules/acme/templates/t.erb"
here=(--environmentpath "$envs" --setting ruby_cachedir="$scratch/cache")

# Puppet prints this message once for each folder of facts.
run 0 compile "${here[@]}" --verbose -e 'notice("x")'
holds "$(grep -c '^Info: Loading facts$' <<<"$err")" '^1$'
run 0 compile "${here[@]}" -e '
  $where = "top"
  $car = Acme::Car(3)
  notify { acme::twice("ab"): message => acme::twice(4) |$n| { $n + 1 } }
  notify { acme_old(5): message => template("acme/t.erb") }
  notify { "car": message => $car.describe }
  acme_thing { "a:b": mode => fast }'
holds "$out" '"title": ?"ABAB"'
holds "$out" '"message": ?10'
holds "$out" '"title": ?"top: 005"'
holds "$out" 'a red car on 3 wheels'
holds "$out" 'to.*p.*\]'
# Practices of older modules: helpers in a function's file, symbols as defaults, the catalog's
# parameters, a `call` method that delegates to the 3.x function of the same name, a type alias in a
# template.
run 0 compile "${here[@]}" -e '
  $where = "top"
  type Kind = Enum[a, b]
  $kinds = Kind
  notify { "x": message => "m" }
  notify { acme_quoted("x"): message => acme_check(["p"], "q") }
  notify { "kinds": message => inline_template("<% @kinds.each do |k| -%>(<%= k %>)<% end -%>") }'
holds "$out" '"title": ?"<x> true 3 m"'
holds "$out" '"message": ?"old \[\[.*p.*\], .*q.*\]"'
holds "$out" '"message": ?"\(a\)\(b\)"'
run 1 compile "${here[@]}" -e 'notice(acme::twice(""))'
holds "$err" "The function 'acme::twice' was called with arguments it does not accept"
run 1 compile "${here[@]}" -e 'acme_thing { "a:b": size => 1 }'
holds "$err" "no parameter named 'size' .*on Acme_thing\[a:b\]"
run 1 compile "${here[@]}" -e 'acme_thing { "a:b": } acme_thing { "other": left => "a", right => "b" }'
holds "$err" 'Cannot alias Acme_thing\[other\] to \["a", "b"\]'
[ -n "$(ls "$scratch/cache")" ] || holds "no cache" "written"

# The descriptions of types are cached, so that later compiles need no Ruby for them.
run 0 compile "${here[@]}" --profile -e 'acme_thing { "a:b": }'
holds "$err" ' 0  starts of Ruby'
run 1 compile "${here[@]}" --setting ruby_program=/nonexistent/ruby -e 'notice(acme_old(5))'
holds "$err" "needs Ruby, which is not installed"

run 1 compile "${here[@]}" -e 'notice(acme::bad("raise"))'
holds "$err" 'Error while evaluating a Function Call, boom'
run 1 compile "${here[@]}" -e 'notice(acme::bad("exit"))'
holds "$err" "function 'acme::bad' \(file: .*/acme/bad.rb\): the Ruby code called exit \(status 7\)"
run 1 compile "${here[@]}" --setting ruby_timeout=1 -e 'notice(acme::bad("loop"))'
holds "$err" "function 'acme::bad' .*execution expired after 1 seconds"
run 0 compile "${here[@]}" -e 'notify { acme::bad("print"): }'
lacks "$out" noise
holds "$err" noise

# Title patterns whose code changes the text (compared with Puppet 8.11).
run 0 compile "${here[@]}" -e 'acme_low { ["ABC", "k:B"]: }'
holds "$out" '"parameters":\{"name":"abc"\}'
holds "$out" '"parameters":\{"kind":"K","name":"B"\}'
run 1 compile "${here[@]}" -e 'acme_low { "k:B": } acme_low { "zz": kind => "K", name => "B" }'
holds "$err" 'Cannot alias Acme_low\[zz\] to \["K", "B"\]'

run 0 generate types --environmentpath "$envs"
holds "$out" "Generating '.*/.resource_types/acme_thing.pp' using 'pcore' format"
generated=$(<"$envs/production/.resource_types/acme_thing.pp")
holds "$generated" "Puppet::Resource::Param\(Variant\[Enum\['fast', 'slow'\], Pattern\[/\^\\\\d\+\\\$/\]\], 'mode'\)"
holds "$generated" "/\^\(\[\^:\]\+\):\(\.\+\)\\\$/ => \['left', 'right'\],"
run 0 generate types --environmentpath "$envs"
holds "$out" 'all inputs were up-to-date'
# An older type, as after the downgrade of a module, is generated again.
type=$(find "$envs" -name acme_thing.rb -path '*/type/*')
touch -d '2020-02-03 04:05:06' "$type"
run 0 generate types --environmentpath "$envs"
holds "$out" "Generating '.*/.resource_types/acme_thing.pp' using 'pcore' format"
[ "$(stat -c %Y "$type")" = "$(stat -c %Y "$envs/production/.resource_types/acme_thing.pp")" ] ||
    { echo 'FAILED: the generated file has another time'; failures=$((failures + 1)); }
mkdir -p "$envs/production/modules/without"
run 0 generate types --environmentpath "$envs" --debug
holds "$out$err" "Skipping 'without' module because there is no readable puppet/type/ directory under: .*/without/lib/puppet/type"
holds "$out" 'all inputs were up-to-date'
run 1 compile --environmentpath "$envs" --setting ruby_program=/nonexistent/ruby -e 'acme_thing { "a:b": size => 1 }'
holds "$err" "no parameter named 'size'"

# Facts of modules: Ruby is started only if there are some.
run 0 compile "${here[@]}" -e 'notify { $facts["acme_fact"]: }'
holds "$out" '"title": ?"Linux and more"'
run 0 apply "${here[@]}" -e 'notice($facts["acme_fact"], $facts["acme_given"])'
holds "$out" 'Linux and more given'
run 0 compile "${here[@]}" --setting ruby_program=/nonexistent/ruby -e 'notify { "x": }'
holds "$err" 'Skipping custom facts: could not find the program'

run 0 facts --environmentpath "$envs" acme_fact
holds "$out" '"acme_fact": "Linux and more"'
finish
