#!/usr/bin/env bash
# Tests a dashboard that classifies nodes, as Foreman does, from end to end: the classifier uploads
# the facts that the server writes before it runs the classifier, the report processor sends the
# report, and a cron job uploads the facts of all nodes. The scripts use the same Ruby API as
# Foreman's: Net::HTTP, YAML.load_file, Puppet::Reports, and the objects of a report.
. "$SOURCE/tests/e2e/lib.sh"
command -v ruby >/dev/null || exit 0

# A web server that records requests and answers like the dashboard.
mkdir -p "$scratch/web"
cat >"$scratch/dashboard.py" <<'EOS'
import http.server, json, pathlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import web
folder = pathlib.Path(sys.argv[2])
class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        path = self.path.split("?")[0]
        name = "%s %s" % (self.command, path)
        with open(folder / "requests", "a") as fh:
            fh.write(json.dumps({"request": name, "accept": self.headers.get("Accept"), "body": body}) + "\n")
        text = (folder / "node.yaml").read_text() if self.command == "GET" else "{}"
        self.send_response(200 if self.command == "GET" else 201)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    def do_GET(self):
        self.answer(None)
    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
    def log_message(self, *args):
        pass
web.serve(folder, Handler)
EOS
python3 "$scratch/dashboard.py" "$SOURCE/tests/e2e" "$scratch/web" &
dashboard=$!
trap 'kill $dashboard $server 2>/dev/null; rm -rf "$scratch"' EXIT
until [ -s "$scratch/web/port" ]; do sleep 0.05; done
url=http://127.0.0.1:$(<"$scratch/web/port")
cat >"$scratch/web/node.yaml" <<'EOS'
---
classes:
  base:
    text: from the dashboard
parameters:
  hostgroup: web
  location: {city: Kyoto}
environment: production
EOS

site=$scratch/site
production=$site/envs/production
mkdir -p "$site/etc" "$site/var" "$production/manifests" "$production/modules/base/"{manifests,lib/puppet/reports}
cat >"$site/etc/dashboard.yaml" <<EOS
---
:url: "$url"
:puppetdir: "$site/var"
EOS
cat >"$site/etc/classify" <<'EOS'
#!/usr/bin/env ruby
require 'yaml'
require 'json'
require 'net/http'
require 'fileutils'
SETTINGS = YAML.load_file(File.join(__dir__, 'dashboard.yaml'))
def facts_of(file)
  facts = JSON.parse(File.read(file))
  { 'name' => facts['name'], 'facts' => facts['values'] }
end
def upload(file)
  stamp = "#{SETTINGS[:puppetdir]}/yaml/dashboard/#{File.basename(file)}"
  FileUtils.mkdir_p(File.dirname(stamp))
  return if File.exist?(stamp) && File.mtime(stamp) >= File.mtime(file)
  uri = URI.parse("#{SETTINGS[:url]}/api/hosts/facts")
  request = Net::HTTP::Post.new(uri.request_uri)
  request.add_field('Accept', 'application/json,version=2')
  request.content_type = 'application/json'
  request.body = facts_of(file).to_json
  response = Net::HTTP.new(uri.host, uri.port).start { |http| http.request(request) }
  File.write(stamp, Time.now.to_s) if response.code.start_with?('2')
end
folder = "#{SETTINGS[:puppetdir]}/server_data/facts"
if ARGV[0] == '--push-facts'
  Dir["#{folder}/*.json"].each { |file| upload(file) }
else
  file = "#{folder}/#{ARGV[0]}.json"
  upload(file) if File.exist?(file)
  uri = URI.parse("#{SETTINGS[:url]}/node/#{ARGV[0]}?format=yml")
  puts Net::HTTP.new(uri.host, uri.port).start { |http| http.request(Net::HTTP::Get.new(uri.request_uri)) }.body
end
EOS
chmod 755 "$site/etc/classify"
cat >"$production/modules/base/lib/puppet/reports/dashboard.rb" <<'EOS'
require 'puppet'
require 'net/http'
require 'uri'
require 'yaml'
require 'json'
DASHBOARD = YAML.load_file(File.join(Puppet[:confdir], 'dashboard.yaml'))
Puppet::Reports.register_report(:dashboard) do
  desc 'Sends reports to a dashboard'
  def process
    raise(Puppet::ParseError, "no metrics for #{self.host}") if self.metrics.nil?
    uri = URI.parse(DASHBOARD[:url])
    request = Net::HTTP::Post.new("#{uri.path}/api/config_reports")
    request.content_type = 'application/json'
    request.body = { 'config_report' => summary }.to_json
    response = Net::HTTP.new(uri.host, uri.port).request(request)
    raise Puppet::Error, response.code unless response.is_a?(Net::HTTPSuccess)
  end
  def summary
    { 'host' => host, 'reported_at' => time.utc.strftime('%Y-%m-%d %H:%M:%S UTC'),
      'applied' => number('changes', :total), 'failed' => number('resources', 'failed'),
      'pending' => number('events', 'noop'),
      'metrics' => metrics.transform_values { |m| m.values.to_h { |name, _label, value| [name, value] } },
      'logs' => logs.reject { |log| log.level == :debug }.map { |log| [log.level.to_s, log.source, log.message] } }
  end
  private
  def number(category, name)
    values = metrics[category]
    values[name.to_sym].to_i + values[name.to_s].to_i
  end
end
EOS
cat >"$production/modules/base/manifests/init.pp" <<'EOS'
class base(String $text) { notify { "${text} ${hostgroup} ${location['city']}": } }
EOS
cat >"$site/etc/puppet.conf" <<EOS
[main]
certname = localhost
ssldir = $site/ssl
[server]
cadir = $site/ca
autosign = true
environmentpath = $site/envs
basemodulepath = $site/none
node_terminus = exec
external_nodes = $site/etc/classify
reports = dashboard
EOS
"$BUNRAKU" server --https 127.0.0.1:0 --http 127.0.0.1:0 --confdir "$site/etc" --vardir "$site/var" \
    --statedir "$site/state" --rundir "$site/run" --logdir "$site/log" >"$site/out" 2>"$site/err" &
server=$!
until grep -q 'is ready' "$site/out" 2>/dev/null; do
    kill -0 $server 2>/dev/null || { cat "$site/err"; exit 1; }
    sleep 0.05
done
port=$(grep -o 'https://[^ ]*' "$site/out" | sed 's/.*://')

run 2 agent --test --color false --server localhost --serverport "$port" --certname web1.example
holds "$out" '^Notice: from the dashboard web Kyoto$'
# The server accepts the report before it runs the processor.
for _ in $(seq 200); do
    grep -q config_reports "$scratch/web/requests" && break
    sleep 0.05
done
python3 - "$scratch/web/requests" <<'EOS' || { cat "$scratch/web/requests" "$site/err"; failures=$((failures + 1)); }
import json, sys
requests = [json.loads(line) for line in open(sys.argv[1])]
names = [r["request"] for r in requests]
# The agent requests its environment before it sends facts.
assert names[:3] == ["GET /node/web1.example", "POST /api/hosts/facts", "GET /node/web1.example"], names
facts = requests[names.index("POST /api/hosts/facts")]
assert facts["accept"] == "*/*, application/json,version=2", facts["accept"]
assert facts["body"]["name"] == "web1.example", facts
assert facts["body"]["facts"]["networking"]["hostname"], facts
report = requests[names.index("POST /api/config_reports")]["body"]["config_report"]
assert report["host"] == "web1.example", report
assert (report["applied"], report["failed"], report["pending"]) == (1, 0, 0), report
assert report["metrics"]["resources"]["changed"] == 1, report
assert ["notice", "/Stage[main]/Base/Notify[from the dashboard web Kyoto]/message",
        "defined 'message' as 'from the dashboard web Kyoto'"] in report["logs"], report["logs"]
EOS

# The cron job uploads nothing that has been uploaded already, and a later run uploads new facts.
: >"$scratch/web/requests"
"$site/etc/classify" --push-facts
[ -s "$scratch/web/requests" ] && { echo 'FAILED: facts were uploaded twice'; failures=$((failures + 1)); }
rm -r "$site/var/yaml/dashboard"
"$site/etc/classify" --push-facts
holds "$(<"$scratch/web/requests")" '^\{"request": "POST /api/hosts/facts", .*"name": "web1.example"'

# A different answer of the dashboard leads to a different catalog, even if nothing else changed.
sed -i 's/from the dashboard/changed there/' "$scratch/web/node.yaml"
run 2 agent --test --color false --server localhost --serverport "$port" --certname web1.example
holds "$out" '^Notice: changed there web Kyoto$'

# If the dashboard is unavailable, the run fails, because a catalog without its classes would be
# wrong.
kill $dashboard
run 1 agent --test --color false --server localhost --serverport "$port" --certname web1.example
holds "$err" 'Failed to find web1.example via exec: Execution of .*/classify web1.example. returned 1'
finish
