#!/bin/bash
# Results of Ruby code are cached, and reused only while all of their inputs are unchanged.
. "${0%/*}/lib.sh"
if ! command -v ruby >/dev/null; then
    echo "skipped: Ruby is not installed on this machine"
    exit 0
fi
home=$scratch/envs/production
functions=$home/modules/acme/lib/puppet/functions/acme
mkdir -p "$home/manifests" "$home/data" "$functions" "$home/modules/acme/templates" "$scratch/facts"
# Every function records its calls in a file.
function_named() {
    cat >"$functions/$1.rb" <<EOS
require 'yaml'
Puppet::Functions.create_function(:'acme::$1') do
  def $1(*args)
    File.open('$scratch/calls', 'a') { |f| f.puts "$1 #{args.first}" }
    scope = closure_scope
    $2
  end
end
EOS
}
function_named read "File.read('$scratch/read').strip + args[0]"
function_named fact "scope['facts']['os']['name'] + args[0]"
function_named name "scope['fqdn']"
function_named says "Puppet.warning('it says so'); 'said'"
function_named rolls "rand(1000000000).to_s"
function_named sets "call_function('create_resources', 'notify', { 'made by Ruby' => {} }); 'set'"
function_named looks "call_function('lookup', 'plain')"
function_named outer "call_function('acme::read', '!')"
function_named hidden "File.executable?('$scratch/stamp').to_s"
function_named timed "File.mtime('$scratch/stamp').to_i.to_s"
function_named sized "File.stat('$scratch/stamp').size.to_s"
function_named runs "%x($scratch/program).strip"
function_named config "(\$acme ||= YAML.load_file('$scratch/config'))[args[0]]"
cat >"$functions/backend.rb" <<EOS
Puppet::Functions.create_function(:'acme::backend') do
  dispatch(:find) { param 'String', :key; param 'Hash', :options; param 'Puppet::LookupContext', :context }
  def find(key, options, context)
    File.open('$scratch/calls', 'a') { |f| f.puts "backend #{key}" }
    context.explain { "looks for #{key}" }
    context.not_found unless key == 'of_backend'
    context.interpolate('%{facts.os.name} %{trusted.certname} ') + context.cached_file_data('$scratch/read')
  end
end
EOS
echo '<%= scope.lookupvar("fqdn") %> <%= [3, 1].sort { |a, b| a <=> b }.each_slice(1).to_a.inspect %>' \
    >"$home/modules/acme/templates/t.erb"
cat >"$home/hiera.yaml" <<'EOS'
{version: 5, hierarchy: [{name: b, lookup_key: "acme::backend", uri: "x://y"}, {name: c, path: common.yaml}]}
EOS
echo 'plain: one' >"$home/data/common.yaml"
echo text >"$scratch/read"
echo '{a: first, b: second}' >"$scratch/config"
touch -d '2020-01-01' "$scratch/stamp"
printf '#!/bin/sh\necho ran\n' >"$scratch/program"
chmod +x "$scratch/program"
facts() {
    printf '{"os": {"name": "%s"}, "fqdn": "%s", "noise": %s}' "$2" "$1" "$RANDOM" >"$scratch/facts/$1.json"
}
facts n1 Debian
facts n2 Debian
# compile_value NODE CODE [SETTING]: compiles; the value is in $out, and the functions that were called are
# in $calls.
compile_value() {
    : >"$scratch/calls"
    run 0 compile --node "$1" --facts "$scratch/facts/$1.json" --environmentpath "$scratch/envs" \
        --setting "ruby_cachedir=$scratch/cache" --setting "pure_commands=/bin/x, $scratch/program" \
        --setting "ruby_answers=${3:-on}" -e "notify { \"<\${$2}>\": }"
    calls=$(<"$scratch/calls")
    out=$(grep -o '<[^">]*>' <<<"$out" | head -n 1)
}
# no_call NODE CODE: checks that no function is called. One compile in a hundred calls all functions
# anyway; in that case it tries again with the same cache.
no_call() {
    cp -a "$scratch/cache" "$scratch/cache.before"
    for _ in 1 2 3; do
        compile_value "$1" "$2"
        [ -n "$calls" ] || break
        rm -r "$scratch/cache"
        cp -a "$scratch/cache.before" "$scratch/cache"
    done
    rm -r "$scratch/cache.before"
    holds "$calls" '^$'
}
# same_without_call NODE CODE: checks that the result is the same, without a call.
same_without_call() {
    local before
    compile_value "$1" "$2"
    before=$out
    no_call "$1" "$2"
    if [ "$out" != "$before" ]; then holds "$out" "$before, as it was"; fi
}
sleep 0.1

# Files and code.
same_without_call n1 "acme::read('!')"
holds "$out" '<text!>'
echo other >"$scratch/read"
sleep 0.1
compile_value n1 "acme::read('!')"
holds "$out" '<other!>'
holds "$calls" 'read !'
sed -i 's/strip + args/strip + "new" + args/' "$functions/read.rb"
sleep 0.1
compile_value n1 "acme::read('!')"
holds "$out" '<othernew!>'
# Facts are dependencies by path, variables by value. Nodes share results if possible.
same_without_call n1 "acme::fact('')"
facts n1 Debian
no_call n1 "acme::fact('')"
no_call n2 "acme::fact('')"
facts n1 Ubuntu
compile_value n1 "acme::fact('')"
holds "$out" '<Ubuntu>'
holds "$calls" 'fact'
same_without_call n1 'acme::name()'
compile_value n2 'acme::name()'
holds "$out" '<n2>'
# Lookups and function calls inside of a function.
same_without_call n1 'acme::looks()'
echo 'plain: two' >"$home/data/common.yaml"
compile_value n1 'acme::looks()'
holds "$out" '<two>'
same_without_call n1 'acme::outer()'
# Log messages are repeated.
compile_value n1 'acme::says()'
no_call n1 'acme::says()'
holds "$err" 'it says so'
# Functions that use random values or change the compile are called every time.
compile_value n1 'acme::rolls()'
first=$out
compile_value n1 'acme::rolls()'
holds "$calls" 'rolls'
lacks "$out" "^$first\$"
compile_value n1 'acme::sets()'
compile_value n1 'acme::sets()'
holds "$calls" 'sets'
# A Hiera backend, keys that it lacks, and its reads from the context.
same_without_call n1 "lookup('of_backend')"
holds "$out" '<Ubuntu n1 other'
compile_value n2 "lookup('of_backend')"
holds "$out" '<Debian n2 other'
same_without_call n1 "lookup('plain')"
holds "$out" '<two>'
echo '{"os": {"name": "x"}, "fqdn": "n1", "hostname": "n1", "domain": "", "clientcert": "n1"}' >"$scratch/n1.json"
run 0 lookup of_backend --explain --node n1 --facts "$scratch/n1.json" --environmentpath "$scratch/envs" \
    --setting ruby_answers=on --setting "ruby_cachedir=$scratch/cache"
holds "$out" 'looks for of_backend'
# Templates.
same_without_call n1 "template('acme/t.erb')"
holds "$out" '<n1 \[\[1\], \[3\]\]'
# The time and the size of a file.
same_without_call n1 'acme::timed()'
same_without_call n1 'acme::sized()'
touch -d '2020-02-02' "$scratch/stamp"
sleep 0.1
compile_value n1 'acme::timed()'
holds "$calls" 'timed'
echo more >>"$scratch/stamp"
sleep 0.1
compile_value n1 'acme::sized()'
holds "$out" '<5>'
# A program that is declared pure, and a change of its file.
same_without_call n1 'acme::runs()'
printf '#!/bin/sh\necho ran again\n' >"$scratch/program"
sleep 0.1
compile_value n1 'acme::runs()'
holds "$out" '<ran again>'
# Code that caches a file: the second function has not read the file itself.
compile_value n1 "\"\${acme::config('a')}\${acme::config('b')}\""
same_without_call n1 "acme::config('b')"
holds "$out" '<second>'
echo '{a: first, b: third}' >"$scratch/config"
sleep 0.1
compile_value n1 "acme::config('b')"
holds "$out" '<third>'
# Code may use files that only other code loads, of the module or of Ruby, even if the result of
# that other code is cached.
mkdir -p "$home/modules/acme/lib/puppet_x"
echo 'module PuppetX; module Acme; WORD = "word"; end; end' >"$home/modules/acme/lib/puppet_x/acme.rb"
function_named loads "require 'puppet_x/acme'; require 'ostruct'; 'loaded '"
function_named uses "PuppetX::Acme::WORD + OpenStruct.new(a: '1').a"
sleep 0.1
same_without_call n1 '"${acme::loads()}${acme::uses()}"'
holds "$out" '<loaded word1>'
sed -i 's/WORD +/WORD + "s" +/' "$functions/uses.rb"
sleep 0.1
for _ in 1 2; do
    compile_value n1 '"${acme::loads()}${acme::uses()}"'
    holds "$out" '<loaded words1>'
    [ -n "$calls" ] || break
done
# Other users must not be able to read the data of a node.
holds "$(stat -c %a "$scratch"/cache/answers/*)" '^600$'
lacks "$(stat -c %a "$scratch"/cache/answers/*)" '[^6]00|[^0]$'
# `check` calls every function again. A result that differs is reported, and the function is no
# longer cached.
same_without_call n1 'acme::hidden()'
compile_value n1 'acme::hidden()' check
holds "$calls" 'hidden'
lacks "$err" 'Error'
chmod 755 "$scratch/stamp"
compile_value n1 'acme::hidden()' check
holds "$err" 'The cached result of function acme::hidden differs from a new one.*exists .*/stamp'
compile_value n1 "acme::read('!')"
holds "$calls" 'read'
compile_value n1 "acme::read('!')"
holds "$calls" 'read'
rm "$scratch"/cache/answers/*.distrusted
same_without_call n1 "acme::read('!')"
# A damaged cache file is ignored.
for table in "$scratch"/cache/answers/*; do printf 'x%.0s' {1..300} >>"$table"; done
compile_value n1 "acme::read('!')"
holds "$out" '<othernew!>'
truncate -s 100 "$scratch"/cache/answers/*
same_without_call n1 "acme::read('!')"
run 1 compile --setting ruby_answers=maybe -e 'notify { x: }'
holds "$err" "Invalid ruby_answers 'maybe': expected on, off or check"
finish
