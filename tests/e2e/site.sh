#!/bin/bash
# The pages of the documentation site: one for each setting, subcommand, function, resource type, fact and
# error code, and every link has a target. script/site makes HTML of them.
. "${0%/*}/lib.sh"
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
python3 -B "$SOURCE/tools/site/generate.py" --command "$BUNRAKU" --out "$scratch/site" >"$scratch/out" || { cat "$scratch/out"; fail "broken links"; }
pages=$scratch/site/pages/reference
# all FOLDER NAME...: every name has a page.
all() {
    local folder=$1 name
    shift
    [ $# -gt 5 ] || fail "only $# $folder"
    for name in "$@"; do
        name=$(tr 'A-Z' 'a-z' <<<"$name" | sed 's/[^a-z0-9_-]/_/g')
        [ -s "$pages/$folder/$name.md" ] || fail "no page for $folder $name"
    done
    [ "$(find "$pages/$folder" -name '*.md' | wc -l)" = $# ] || fail "$(ls "$pages/$folder" | wc -l) pages of $# $folder"
    [ "$(grep -c "^| \[.*\]($folder/" "$pages/$folder.md")" = $# ] || fail "the index of $folder"
}
mapfile -t names < <("$BUNRAKU" config print all "${places[@]}" | sed 's/ = .*//' | sort -u)
all settings "${names[@]}"
mapfile -t names < <("$BUNRAKU" help --json | python3 -c 'import json, sys; [print(c["name"]) for c in json.load(sys.stdin) if c["name"] != "help"]')
all commands "${names[@]}"
mapfile -t names < <("$BUNRAKU" help --errors | sed -n 's/^## //p')
all errors "${names[@]}"
for kind in function type fact; do
    mapfile -t names < <("$BUNRAKU" describe --list --kind $kind --json "${places[@]}" | python3 -c 'import json, sys; [print(c["name"]) for c in json.load(sys.stdin)]')
    all "${kind}s" "${names[@]}"
done
holds "$(<"$pages/types/file.md")" '^# file$'
holds "$(<"$pages/settings/environment_timeout.md")" '^Default: `0`$'
holds "$(<"$scratch/site/mkdocs.yml")" '^    - .certname.: reference/settings/certname.md$'

# A link without a target is found.
cat >"$scratch/check.py" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import links
pages = {"a.md": "# A\n[b](b.md#second-part) [c](c.md) [d](b.md#none)\n`[e](e.md)`\n```\n[f](f.md)\n```\n", "b.md": "# B\n## Second *part*\n"}
found = links.broken(pages, {})
assert found == ["a.md: no page c.md", "a.md: no heading for b.md#none"], found
PYTHON
python3 -B "$scratch/check.py" "$SOURCE/tools/site" || fail "the check of links"
finish
