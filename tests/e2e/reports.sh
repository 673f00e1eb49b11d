#!/bin/bash
# Report processing: the processors of the setting `reports`. The messages are those of Puppet 8.11.
# The data for PuppetDB was compared field by field with the output of PuppetDB's terminus 8.x for
# the same report.
. "${0%/*}/lib.sh"
here=$SOURCE/tests/e2e/reports
cat >"$scratch/site.pp" <<EOS
notify { 'hello': }
file { '$scratch/f': content => 'x' }
exec { '/bin/false': }
file { '$scratch/same': ensure => directory }
EOS
mkdir -p "$scratch/same" "$scratch/sink"
apply() { # apply ARGS...
    rm -rf "$scratch/f" "$scratch/store.sqlite3"
    run 0 apply "$scratch/site.pp" --modulepath "$here/modules" --basemodulepath "$scratch/none" --certname n1 \
        --reportdir "$scratch/reports" "$@"
}

# log and store, and an unknown processor.
apply --reports log,store,nosuch
holds "$out" '^Notice: //n1/Puppet: hello$'
holds "$out" "^Notice: //n1//Stage\[main\]/Main/Notify\[hello\]/message: defined 'message' as 'hello'\$"
holds "$err" "^Error: //n1//Stage\[main\]/Main/Exec\[/bin/false\]/returns: change from 'notrun' to \['0'\] failed: "
holds "$err" "^Warning: No report named 'nosuch'$"
[ "$(find "$scratch/reports/n1" -name '*.yaml' | wc -l)" = 1 ] || { echo "FAILED: not stored"; failures=$((failures + 1)); }
lacks "$(cat "$scratch"/reports/n1/*.yaml)" '//n1/'

apply --reports none
lacks "$out$err" '//n1/'
apply --reports log --no-report
lacks "$out$err" '//n1/'

# A service that does not respond causes an error; the other processors run.
apply --reports http,log --reporturl http://127.0.0.1:9/x
holds "$err" '^Error: Report processor failed: POST http://127.0.0.1:9/x: Connection refused$'
holds "$out" '^Notice: //n1/Puppet: hello$'

python3 -B "$here/sink.py" "$scratch/sink" &
sink=$!
trap 'kill $sink 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do [ -f "$scratch/sink/port" ] && break; sleep 0.05; done
url=http://127.0.0.1:$(<"$scratch/sink/port")
apply --reports http,puppetdb --reporturl "$url/upload?a=b" --puppetdb-url "$url"
lacks "$err" 'Report processor'
posted=$(<"$scratch/sink/upload")
holds "$posted" '^/upload\?a=b application/x-yaml$'
holds "$posted" '^--- !ruby/object:Puppet::Transaction::Report$'
holds "$posted" '^host: n1$'
command=$(<"$scratch/sink/pdb_cmd_v1")
holds "$command" '^/pdb/cmd/v1\?checksum=[0-9a-f]{40}&version=8&certname=n1&command=store_report&producer-timestamp='
python3 - "$scratch/sink/pdb_cmd_v1" "$scratch" <<'EOS' || failures=$((failures + 1))
import json, re, sys
report = json.loads(open(sys.argv[1]).read().split("\n", 1)[1])
assert sorted(report) == sorted("certname job_id puppet_version report_format configuration_version producer_timestamp "
    "start_time end_time environment transaction_uuid status noop noop_pending corrective_change logs metrics resources "
    "catalog_uuid code_id cached_catalog_status producer".split()), sorted(report)
times = [report[k] for k in ("producer_timestamp", "start_time", "end_time")]
assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", t) for t in times), times
assert report["start_time"] <= report["end_time"]
assert (report["certname"], report["status"], report["report_format"], report["noop"]) == ("n1", "failed", 12, False)
assert [r["resource_type"] for r in report["resources"]] == ["Notify", "File", "Exec"], report["resources"]
event = report["resources"][2]["events"][0]
del event["timestamp"]
assert event == {"status": "failure", "name": "executed_command", "property": "returns", "new_value": '["0"]',
    "old_value": "notrun", "corrective_change": False,
    "message": "change from 'notrun' to ['0'] failed: '/bin/false' returned 1 instead of one of [0]"}, event
assert {"category": "resources", "name": "total", "value": 11} in report["metrics"], report["metrics"]
assert [log["message"] for log in report["logs"]][0] == "hello"
EOS
apply --reports http --reporturl "$url/full"
holds "$err" "^Error: Unable to submit report to $url/full \[507\] Insufficient Storage\$"

# Without a PuppetDB the embedded store gets the report.
apply --reports puppetdb
run 0 query 'reports[certname, status, report_format]{}'
holds "$(tr -d ' \n' <<<"$out")" '"certname":"n1"'
run 0 query 'events[property, new_value, old_value]{status = "failure"}'
holds "$(tr -d ' \n' <<<"$out")" '"new_value":"\[\\"0\\"\]"'

# A module's processor, in Ruby.
if command -v ruby >/dev/null; then
    apply --reports tell,fails,log
    holds "$out" '^Notice: tell n1 failed production 12 6 :notice 6$'
    holds "$out" '^Notice: 11 \[\["failure", "Failure", 1\], \["success", "Success", 2\], \["total", "Total", 3\]\]$'
    holds "$out" '^Notice: Exec\[/bin/false\] true Exec \["returns failure \[\\"0\\"\] Time"\]$'
    holds "$out" '^Notice: Puppet::Transaction::Report Time \["version", "application", "resources", "time", "changes", "events"\]$'
    holds "$err" '^Error: Report processor failed: no way$'
    holds "$out" '^Notice: //n1/Puppet: hello$'

    # Processors that detect the report format by its instance variables, as Foreman's does.
    apply --reports variables
    holds "$err" '^Warning: format 3 status "failed" log \["@level", "@message", "@source", "@tags", "@time"\]$'
    holds "$err" '^Warning: property \[String\] tags Puppet::Util::TagSet yaml not plain server_used true$'
    holds "$err" '^Warning: metrics \["@label", "@name", "@values"\] 11 n1 false$'
    holds "$err" '^Warning: event :executed_command Time$'

    # Files on Ruby's load path are found like those of a module.
    mkdir -p "$scratch/path"/puppet/{reports,type,functions,parser/functions} "$scratch/path/facter"
    echo 'Puppet::Reports.register_report(:viarl) { def process = Puppet.warning("viarl") }' >"$scratch/path/puppet/reports/viarl.rb"
    echo 'Puppet::Type.newtype(:rltype) { newparam(:name, namevar: true) }' >"$scratch/path/puppet/type/rltype.rb"
    echo 'Puppet::Parser::Functions.newfunction(:rlfn, :type => :rvalue) { |a| "rlfn #{a.first}" }' >"$scratch/path/puppet/parser/functions/rlfn.rb"
    echo 'Puppet::Functions.create_function(:rlfour) { def rlfour(a) = "rlfour #{a}" }' >"$scratch/path/puppet/functions/rlfour.rb"
    echo 'Facter.add(:rlfact) { setcode { "rl" } }' >"$scratch/path/facter/rlfact.rb"
    export RUBYLIB=$scratch/path
    run 0 apply --basemodulepath "$scratch/none" --reports viarl -e 'rltype { "a": } notice(rlfn("q"), " ", rlfour("r"), " ", $facts["rlfact"])'
    unset RUBYLIB
    holds "$out" ': rlfn q   rlfour r   rl$'
    holds "$err" '^Warning: viarl$'
    # Ruby's vendor folder, which may contain Puppet itself, is searched only for report processors.
    mkdir -p "$scratch/own/puppet"/{reports,type}
    echo >"$scratch/own/puppet/version.rb"
    cp "$scratch/path/puppet/reports/viarl.rb" "$scratch/own/puppet/reports/"
    echo 'raise "not this one"' >"$scratch/own/puppet/type/rltype.rb"
    export RUBYLIB=$scratch/own
    run 0 apply --basemodulepath "$scratch/none" --reports viarl -e 'notice(1)'
    holds "$err" '^Warning: viarl$'
    run 1 apply --basemodulepath "$scratch/none" -e 'rltype { "a": }'
    holds "$err" "Unknown resource type: 'rltype'"
    unset RUBYLIB
fi
finish
