#!/bin/bash
# What becomes of the report of a run: the processors of the setting `reports`. The messages are those
# of Puppet 8.11; what PuppetDB is sent was compared field by field with what its terminus 8.x makes
# of the same report.
. "${0%/*}/lib.sh"
here=$SOURCE/tests/e2e/reports
cat >"$scratch/site.pp" <<EOS
notify { 'hello': }
file { '$scratch/f': content => 'x' }
exec { '/bin/false': }
file { '$scratch/same': ensure => directory }
EOS
mkdir -p "$scratch/same" "$scratch/sink"
applied() { # ARGS...
    rm -rf "$scratch/f" "$scratch/store.sqlite3"
    run 0 apply "$scratch/site.pp" --modulepath "$here/modules" --basemodulepath "$scratch/none" --certname n1 \
        --reportdir "$scratch/reports" "$@"
}

# log and store, a name that nobody knows.
applied --reports log,store,nosuch
holds "$out" '^Notice: //n1/Puppet: hello$'
holds "$out" "^Notice: //n1//Stage\[main\]/Main/Notify\[hello\]/message: defined 'message' as 'hello'\$"
holds "$err" "^Error: //n1//Stage\[main\]/Main/Exec\[/bin/false\]/returns: change from 'notrun' to \['0'\] failed: "
holds "$err" "^Warning: No report named 'nosuch'$"
[ "$(find "$scratch/reports/n1" -name '*.yaml' | wc -l)" = 1 ] || { echo "FAILED: not stored"; failures=$((failures + 1)); }
lacks "$(cat "$scratch"/reports/n1/*.yaml)" '//n1/'

applied --reports none
lacks "$out$err" '//n1/'
applied --reports log --no-report
lacks "$out$err" '//n1/'

# What does not answer is an error, and the others go on.
applied --reports http,log --reporturl http://127.0.0.1:9/x
holds "$err" '^Error: Report processor failed: POST http://127.0.0.1:9/x: Connection refused$'
holds "$out" '^Notice: //n1/Puppet: hello$'

python3 -B "$here/sink.py" "$scratch/sink" &
sink=$!
trap 'kill $sink 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do [ -f "$scratch/sink/port" ] && break; sleep 0.05; done
url=http://127.0.0.1:$(<"$scratch/sink/port")
applied --reports http,puppetdb --reporturl "$url/upload?a=b" --puppetdb-url "$url"
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
applied --reports http --reporturl "$url/full"
holds "$err" "^Error: Unable to submit report to $url/full \[507\] Insufficient Storage\$"

# Without a service the embedded store keeps it.
applied --reports puppetdb
run 0 query 'reports[certname, status, report_format]{}'
holds "$(tr -d ' \n' <<<"$out")" '"certname":"n1"'
run 0 query 'events[property, new_value, old_value]{status = "failure"}'
holds "$(tr -d ' \n' <<<"$out")" '"new_value":"\[\\"0\\"\]"'

# A module's own, in Ruby.
if command -v ruby >/dev/null; then
    applied --reports tell,fails,log
    holds "$out" '^Notice: tell n1 failed production 12 6 :notice 6$'
    holds "$out" '^Notice: 11 \[\["failure", "Failure", 1\], \["success", "Success", 2\], \["total", "Total", 3\]\]$'
    holds "$out" '^Notice: Exec\[/bin/false\] true Exec \["returns failure \[\\"0\\"\] Time"\]$'
    holds "$out" '^Notice: Puppet::Transaction::Report Time \["version", "application", "resources", "time", "changes", "events"\]$'
    holds "$err" '^Error: Report processor failed: no way$'
    holds "$out" '^Notice: //n1/Puppet: hello$'
fi
finish
