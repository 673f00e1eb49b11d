#!/bin/bash
# Errors between Puppet and Ruby code: the classes that Ruby code rescues when it calls functions,
# what continues afterwards, and how a run ends if Ruby code ends it.
. "${0%/*}/lib.sh"
if ! command -v ruby >/dev/null; then
    echo "skipped: Ruby is not installed on this machine"
    exit 0
fi
envs=$scratch/envs
lib=$envs/production/modules/acme/lib/puppet
mkdir -p "$envs/production/manifests" "$lib"/{functions/acme,parser/functions}
# The functions of the test: "rescued" calls a function and returns the error that it raised;
# "raised" runs Ruby code.
cat >"$lib/parser/functions/acme_rescued.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:acme_rescued, :type => :rvalue) do |args|
    begin
      call_function(args[0], args[1..-1])
      'no error'
    rescue StandardError => e
      "#{e.class}\t#{e.message}"
    end
  end
end
EOS
cat >"$lib/functions/acme/rescued.rb" <<'EOS'
Puppet::Functions.create_function(:'acme::rescued') do
  def rescued(*args)
    call_function(*args)
    'no error'
  rescue StandardError => e
    "#{e.class}\t#{e.message}"
  end
end
EOS
cat >"$lib/parser/functions/acme_raised.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:acme_raised, :type => :rvalue) { |args| eval(args[0]) }
end
EOS
cat >"$lib/functions/acme/raised.rb" <<'EOS'
Puppet::Functions.create_function(:'acme::raised') do
  def raised(code) = eval(code)
end
EOS
# A function of a public control repository: a key that is not found gives nil, and the run
# continues.
cat >"$lib/parser/functions/acme_hiera.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:acme_hiera, :type => :rvalue) do |args|
    %w[hiera lookup].map do |function|
      begin
        call_function(function, [args[0]])
      rescue Puppet::Error
        nil
      end
    end
  end
end
EOS
cat >"$lib/parser/functions/acme_kinds.rb" <<'EOS'
module Puppet::Parser::Functions
  newfunction(:acme_kinds, :type => :rvalue) do |args|
    kinds = [Puppet::DataBinding::LookupError, Puppet::PreformattedError, Puppet::ParseErrorWithIssue, Puppet::ParseError,
             Puppet::Pops::Types::TypeAssertionError, Puppet::Resource::Catalog::DuplicateResourceError, Puppet::Error,
             RuntimeError, ArgumentError, StandardError]
    begin
      call_function(args[0], args[1..-1])
    rescue StandardError => e
      kinds.select { |k| e.is_a?(k) }.map { |k| k.name.split('::').last }.join(' ')
    end
  end
end
EOS
cat >"$lib/functions/acme/key.rb" <<'EOS'
Puppet::Functions.create_function(:'acme::key') do
  def key(name) = { 'a' => 1 }.fetch(name)
end
EOS
compile=(compile --environmentpath "$envs" --node n)

run 0 "${compile[@]}" -e 'notice(acme_hiera("nothing"), "goes on")'
holds "$err" ': \[, \] goes on$'
run 0 "${compile[@]}" -e 'notice(acme_kinds("lookup", "nothing"), "|", acme_kinds("fail", "x"), "|", acme_kinds("assert_type", Integer, "x"), "|", acme_kinds("upcase"))'
holds "$err" ': LookupError PreformattedError ParseErrorWithIssue ParseError Error RuntimeError StandardError \| ParseError Error RuntimeError StandardError \| TypeAssertionError Error RuntimeError StandardError \| ArgumentError StandardError$'
# A Ruby error class passes unchanged between Ruby functions. Puppet code in between turns it into a
# Puppet error.
mkdir -p "$envs/production/modules/acme/functions"
echo 'function acme::through($x) { acme::key($x) }' >"$envs/production/modules/acme/functions/through.pp"
run 0 "${compile[@]}" -e 'notice(acme_rescued("acme::key", "b"))
notice(acme::rescued("acme::key", "b"))
notice(acme_rescued("acme::through", "b"))
notice(acme_rescued("acme::none", 1), "|", acme::rescued("acme::none", 1))'
holds "$err" $': KeyError\tkey not found: "b"$'
holds "$err" $': Puppet::PreformattedError\tEvaluation Error: Error while evaluating a Function Call, key not found: "b" \(file: .*/through.pp, line: 1, column: 30\)$'
holds "$err" $': ArgumentError\tUnknown function \'acme::none\' \| ArgumentError\tFunction acme::rescued\(\): Unknown function: \'acme::none\'$'

# The complete table in one compile.
table=$SOURCE/tests/ruby/rescued_errors.txt
{
    printf "notify { 'dup': } "
    grep -v '^#' "$table" | while IFS=$'\t' read -r arguments _; do
        printf "notice('OLD', acme_rescued(%s)) notice('NEW', acme::rescued(%s)) " "$arguments" "$arguments"
    done
} >"$scratch/rescued.pp"
run 0 "${compile[@]}" -e "$(<"$scratch/rescued.pp")"
for which in OLD NEW; do
    sed -n "s/.*Scope(Class\[main\]): $which //p" <<<"$err" >"$scratch/got"
    grep -v '^#' "$table" | cut -f2- >"$scratch/expected"
    if ! diff "$scratch/expected" "$scratch/got" >"$scratch/diff"; then
        printf 'FAILED: rescued errors, %s\n%s\n' "$which" "$(<"$scratch/diff")"
        failures=$((failures + 1))
    fi
done

while IFS=$'\t' read -r code expected; do
    quoted=${code//\\/\\\\}
    quoted=${quoted//\'/\\\'}
    for function in acme_raised acme::raised; do
        run 1 "${compile[@]}" -e "\$x = $function('$quoted')"
        got=$(sed -n 's/^Error: //p' <<<"$err")
        if [ "$got" != "${expected/LINE/line: 1, column: 6} on node n" ]; then
            printf 'FAILED: %s: %s\n  expected %s\n  got      %s\n' "$function" "$code" "$expected" "$got"
            failures=$((failures + 1))
        fi
    done
done < <(grep -v '^#' "$SOURCE/tests/ruby/raised_errors.txt")
finish
