#!/bin/bash
# `doc` and `describe`. documented.md and documented.json are the output of puppet-strings 4.1 (YARD
# 0.9.28) for the module in documented/.
. "${0%/*}/lib.sh"
command -v ruby >/dev/null || { echo "skipped: Ruby is not installed"; exit 0; }
module=$SOURCE/tests/e2e/documented
run 0 doc --out "$scratch/REFERENCE.md" "$module"
diff "$SOURCE/tests/e2e/documented.md" "$scratch/REFERENCE.md" || { echo "FAILED: REFERENCE.md"; failures=$((failures + 1)); }
run 0 doc --format json "$module"
printf '%s\n' "$out" | diff "$SOURCE/tests/e2e/documented.json" - || { echo "FAILED: JSON"; failures=$((failures + 1)); }
# Without Ruby, the documentation of Puppet code is still generated.
run 0 doc --out - --ruby_program "$scratch/none" "$module"
holds "$err" 'Skipping Ruby code: '
holds "$out" '^\* \[`web::join`\]'
lacks "$out" 'web_site'
# By default the output is written to the module's folder. Files that cannot be parsed are reported
# and left out.
mkdir -p "$scratch/m/manifests" "$scratch/m/lib/puppet/functions"
echo 'class m { }' >"$scratch/m/manifests/init.pp"
echo 'class m::broken {' >"$scratch/m/manifests/broken.pp"
echo 'Puppet::Functions.create_function(:x) do' >"$scratch/m/lib/puppet/functions/x.rb"
run 0 doc "$scratch/m"
holds "$err" 'Failed to parse manifests/broken.pp'
holds "$err" 'Failed to parse lib/puppet/functions/x.rb'
holds "$(<"$scratch/m/REFERENCE.md")" '^The m class\.$'
# A pipe among the files is not read.
mkfifo "$scratch/m/manifests/pipe.pp" "$scratch/m/lib/puppet/functions/pipe.rb"
run 0 doc --out - "$scratch/m"
holds "$err" 'Could not read manifests/pipe.pp: .*: No such device or address'
holds "$out" '^The m class\.$'
rm "$scratch/m/manifests/pipe.pp" "$scratch/m/lib/puppet/functions/pipe.rb"
for wrong in "--format html" "$scratch/none" "$module $module" "$module/metadata.json"; do run 1 doc $wrong; done

mkdir -p "$scratch/modules"
cp -r "$module" "$scratch/modules/web"
where=(--modulepath "$scratch/modules")
run 0 describe web "${where[@]}"
holds "$out" "^\(class, $scratch/modules/web/manifests/init.pp:37\)\$"
holds "$out" '^Serves pages\.$'
holds "$out" '^- \*\*ports\*\* Array\[Integer\[1, 65535\]\] = \[80, 443\]$'
holds "$out" '^    Where to listen, on further lines$'
holds "$out" "^    class \{ 'web':\$"
run 0 describe web::url Web::Port web_version WebCar "${where[@]}"
holds "$out" '^    web::url\(String\[1\] \$host, Optional\[String\] \$path, Any \*\$more\)$'
holds "$out" '^Alias of Integer\[1, 65535\]$'
holds "$out" '^The version of what serves\.$'
holds "$out" '^- \*\*wheels\*\* Integer = 4$'
run 0 describe split networking Enum file
for text in '^\(function, built in\)$' '    split\(String str, Regexp pattern\)' '^\(fact, built in\)$' '^\(data type, built in\)$' '^- \*\*checksum\*\*$'; do
    holds "$out" "$text"
done
run 0 describe nothing_of_that_name
[ "$out" = "Unknown type nothing_of_that_name" ] || { echo "FAILED: $out"; failures=$((failures + 1)); }
run 0 describe --short web "${where[@]}"
holds "$out" '^    ports, user, options, mode, undocumented$'
run 0 describe --kind class --list "${where[@]}"
holds "$out" '^web +- Serves pages\.$'
lacks "$out" 'split|web::site'
run 0 describe --kind define "${where[@]}"
holds "$out" '^web::site +- A site with marks that are doubled\.$'
run 0 describe --json --kind function web::join "${where[@]}"
holds "$out" '"signature": "web::join\(String \$a, String \$b = '"'-'"', Any \$rest\)"'
run 0 describe --json --list --kind fact "${where[@]}"
holds "$out" '"name": "web_version"'
run 1 describe --kind class nothing "${where[@]}"
run 1 describe --kind nonsense web
# Error codes.
run 0 help --errors
printf '%s\n' "$out" | diff -q "$SOURCE/docs/errors.md" - >/dev/null || { echo "FAILED: docs/errors.md differs from the program's output"; failures=$((failures + 1)); }
finish
