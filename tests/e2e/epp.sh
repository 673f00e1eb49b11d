#!/bin/bash
# EPP templates on the command line: render, validate and dump. The output is that of `puppet epp`
# 8.11.
. "${0%/*}/lib.sh"
cd "$scratch" || exit 1
templates=envs/production/modules/m/templates
mkdir -p "$templates"
printf '<%%- | $a, $b = 2 | -%%>\nA=<%%= $a %%> B=<%%= $b %%>\n' >"$templates/t.epp"
printf 'plain <%%= $x %%>\n' >p.epp
printf 'bad <%%= $x + %%>\n' >bad.epp
printf '<%%= 1 %%>second\n' >two.epp
printf -- '---\na: 5\n' >v.yaml
printf '$x = 7\nundef\n' >u.pp
echo '{"kk": "fact!"}' >f.json
same() { [ "$1" = "$2" ] || { printf 'FAILED: got\n%s\nexpected\n%s\n' "$1" "$2"; failures=$((failures + 1)); }; }
here=(--environmentpath "$scratch/envs" --node x.example)

run 0 epp render -e 'hi <%= 1+1 %>' "${here[@]}"
same "$out" 'hi 2'
run 0 epp render -e '<%= $kk %> <%= $facts[kk] %>' --facts f.json "${here[@]}"
same "$out" 'fact! fact!'
run 0 epp render m/t.epp --values_file v.yaml --values '{b => 9}' "${here[@]}"
same "$out" 'A=5 B=9'
run 1 epp render m/t.epp --values_file v.yaml --values 5 "${here[@]}"
holds "$err" "--values option must evaluate to a Hash or undef, got: 'Integer'"
run 1 epp render m/t.epp "${here[@]}"
holds "$err" "^Error: lambda: expects a value for parameter 'a'"
holds "$err" '^Error: error while rendering epp'
run 0 epp render two.epp "$scratch/two.epp" "${here[@]}"
same "$out" $'--- two.epp\n1second\n\n--- '"$scratch"$'/two.epp\n1second'
run 1 epp render nope.epp "${here[@]}"
holds "$err" "^Error: Could not find template 'nope.epp'"

run 1 epp validate p.epp bad.epp two.epp
holds "$err" "^Error: Syntax error at '%>' \(file: bad.epp, line: 1, column: 14\)"
holds "$err" '^Error: Errors while validating epp'
run 1 epp validate nope.epp p.epp
holds "$err" '^   nope.epp'
run 0 epp validate m/t.epp "${here[@]}"

run 0 epp dump -e 'hi <%= 1 %>'
same "$out" $'(lambda (epp (block\n  (render-s \'hi \')\n  (render 1)\n)))'
run 0 epp dump -e 'hi <%= 1 %>' --format pn
same "$out" '(lambda {:body [(epp (render-s "hi ") (render 1))]})'
run 0 epp dump two.epp p.epp --format pn
same "$out" $'--- two.epp\n(lambda {:body [(epp (render 1) (render-s "second\\n"))]})--- p.epp\n(lambda {:body [(epp (render-s "plain ") (render (var "x")) (render-s "\\n"))]})'
run 0 epp dump -e '<%= 1 %>' --format json --pretty
holds "$out" '^  "\^": \[$'
finish
