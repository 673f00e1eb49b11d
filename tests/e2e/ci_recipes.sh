#!/bin/bash
# The GitHub action, the GitLab template and the hooks for pre-commit: their commands run, and fail
# when they should.
. "${0%/*}/lib.sh"
cd "$scratch" || exit 1
mkdir repo && cd repo || exit 1
printf '# A class.\nclass good {}\n' >good.pp
printf '# A class.\nclass bad {\n  $a = "b"\n\tnotice( 1 )\n}\n' >bad.pp
printf "mod 'stdlib', '9.0.0'\n" >Puppetfile

# step NAME VARIABLE=VALUE...: runs the commands of a step of the action.
step() {
    local script
    script=$(ruby -ryaml -e '
        step = YAML.load_file(ARGV[0])["runs"]["steps"].find { |s| s["name"] == ARGV[1] }
        abort "no step" unless step["shell"] == "bash"
        print step["run"]' "$SOURCE/action.yml" "$1")
    shift
    env BUNRAKU="$BUNRAKU" "$@" bash -eo pipefail -c "$script" >../out 2>../err && status=0 || status=$?
    out=$(<../out)
}
expect() { [ "$status" = "$1" ] || { printf 'FAILED: exit %s, expected %s\n%s\n' "$status" "$1" "$out"; failures=$((failures + 1)); }; }

step Lint PATHS=good.pp OPTIONS='--relative --no-autoloader_layout-check' MODULEPATH= SARIF=
expect 0
step Lint PATHS='good.pp bad.pp Puppetfile' OPTIONS=--no-autoloader_layout-check MODULEPATH=. SARIF=lint.sarif
expect 1
holds "$out" '^::error file=bad.pp,line=4,col=1::tab character found \(check: hard_tabs\)'
holds "$out" "^::error file=Puppetfile,line=1,col=6::'stdlib' is not a module name"
holds "$(<lint.sarif)" '"ruleId": "hard_tabs"'
step Format PATHS=good.pp
expect 0
step Format PATHS=.
expect 1
holds "$out" '^\+  notice\(1\)'

# Impact: one node, one change.
mkdir -p env/manifests env/facts
printf 'notify { "a": }\n' >env/manifests/site.pp
printf '{"name": "web1", "values": {"kernel": "Linux"}}\n' >env/facts/web1.json
cd env || exit 1
git init -q . && git add . && git -c user.name=a -c user.email=a@example.org commit -qm one
base=$(git rev-parse HEAD)
printf 'notify { "b": }\n' >manifests/site.pp
git -c user.name=a -c user.email=a@example.org commit -qam two
touch ../github_output ../summary
step Impact OPTIONS='--facts-dir facts' REPORT=impact.md BASE="$base" GITHUB_OUTPUT=../github_output \
    GITHUB_STEP_SUMMARY=../summary
holds "$(<../github_output)" '^report=impact.md$'
holds "$(<../summary)" 'Notify'
cd ..

# The template is valid YAML, and names the same options.
ruby -ryaml -e '
    jobs = YAML.load_file(ARGV[0], aliases: true)
    text = jobs.values_at("bunraku-lint", "bunraku-fmt", "bunraku-impact").flat_map { |job| job.fetch("script") }.join(" ")
    %w[--codeclimate-report-file --check --diff --out].each { |option| abort option unless text.include?(option) }
' "$SOURCE/examples/ci/gitlab-template.yml" || failures=$((failures + 1))

# Each hook accepts a good file and refuses or changes a bad one.
while IFS='|' read -r id entry; do
    cp bad.pp changed.pp
    status=0
    # shellcheck disable=SC2086
    (PATH=$(dirname "$BUNRAKU"):$PATH; ${entry} --no-such-option good.pp) >../out 2>&1 && status=1
    [ "$status" = 0 ] || { echo "FAILED: hook $id accepts every option"; failures=$((failures + 1)); }
    # shellcheck disable=SC2086
    (PATH=$(dirname "$BUNRAKU"):$PATH; ${entry} changed.pp) >../out 2>&1 && status=0 || status=1
    if [ "$status" = 0 ] && cmp -s bad.pp changed.pp; then
        echo "FAILED: hook $id finds nothing"
        failures=$((failures + 1))
    fi
    expression=$(ruby -ryaml -e 'print YAML.load_file(ARGV[0]).find { |h| h["id"] == ARGV[1] }["files"]' \
        "$SOURCE/.pre-commit-hooks.yaml" "$id")
    grep -qE -- "$expression" <<<'site/app/manifests/init.pp' || { echo "FAILED: hook $id"; failures=$((failures + 1)); }
done < <(ruby -ryaml -e 'YAML.load_file(ARGV[0]).each { |h| puts "#{h["id"]}|#{h["entry"]}" }' "$SOURCE/.pre-commit-hooks.yaml")
finish
