"""What the databases of the corpus contain, and the queries about it."""

import json
import re
import subprocess
import urllib.parse
import urllib.request

NODES = ("db1.example.org", "web1.example.org", "web2.example.org")
AT = "2026-02-03T04:05:06.000Z"
QUERIES = (
    "nodes[certname, deactivated, expired, catalog_environment, facts_environment, latest_report_status, latest_report_noop]{node_state = 'any' order by certname}",
    "facts[certname, name, value]{order by certname, name}",
    "fact_contents[certname, path, value]{name = 'disks' order by certname, path}",
    "inventory[certname]{facts.role = 'web' order by certname}",
    "catalogs[certname, version, environment, transaction_uuid, hash]{order by certname}",
    "resources[certname, type, title, parameters, exported, file, line, tags]{order by certname, type, title}",
    "resources[certname, title]{exported = true and tag = 'monitoring' order by certname}",
    "resources[type, exported, count()]{group by type, exported}",
    "edges[certname, relationship, source_type, source_title, target_type, target_title]{order by certname, source_title, target_title}",
    "reports[certname, status, noop, puppet_version, configuration_version, hash, metrics, logs]{order by certname, end_time}",
    "events[certname, status, resource_type, resource_title, property, old_value, new_value, message, corrective_change]{order by certname, timestamp, resource_title}",
    "environments[name]{order by name}",
    "packages[package_name, version, provider]{order by package_name}",
)


def comparable(answer):
    """Removes what a query may return in any order."""
    if isinstance(answer, list):
        return [comparable(item) for item in answer]
    if isinstance(answer, dict):
        return {key: sorted(value) if key == "tags" else comparable(value) for key, value in sorted(answer.items())}
    return answer


def facts(name):
    number = int(re.sub(r"\D", "", name))
    return {"certname": name, "environment": "production", "producer_timestamp": AT, "producer": "puppet.example.org",
            "package_inventory": [["bash", "5.2", "apt"], ["nginx", f"1.{number}", "apt"]] if "web" in name else [["bash", "5.2", "apt"]],
            "values": {"role": re.sub(r"\d.*", "", name), "processors": number * 2, "ratio": 0.5, "virtual": True,
                       "disks": {"sda": {"size": "1 GiB", "bytes": 2**30}, "list": [1, "two", None]}, "ümlaut": "Grüße"}}


def catalog(name):
    resources = [
        {"type": "Stage", "title": "main", "tags": ["stage"], "exported": False, "parameters": {}},
        {"type": "Class", "title": "Main", "tags": ["class", "main"], "exported": False, "parameters": {}},
        {"type": "File", "title": "/etc/motd", "tags": ["file", "motd"], "exported": False, "file": "/code/site.pp", "line": 3,
         "parameters": {"ensure": "file", "content": f"Welcome to {name}\n", "mode": "0644", "count": 3, "nested": {"a": [1, 2.5, None]}}},
        {"type": "Notify", "title": "done", "tags": ["notify"], "exported": False, "file": "/code/site.pp", "line": 9, "parameters": {"message": "ok"}},
    ]
    if "web" in name:
        resources.append({"type": "Host", "title": name, "tags": ["host", "monitoring"], "exported": True, "file": "/code/site.pp",
                          "line": 12, "parameters": {"ip": "192.0.2.1", "host_aliases": ["www", "web"]}})
    edges = [{"source": {"type": "Stage", "title": "main"}, "target": {"type": "Class", "title": "Main"}, "relationship": "contains"},
             {"source": {"type": "Class", "title": "Main"}, "target": {"type": "File", "title": "/etc/motd"}, "relationship": "contains"},
             {"source": {"type": "File", "title": "/etc/motd"}, "target": {"type": "Notify", "title": "done"}, "relationship": "before"}]
    return {"certname": name, "version": "1770091506", "environment": "production", "transaction_uuid": "68b08e2a-eeb1-4322-b241-bfdf151d294b",
            "catalog_uuid": "68b08e2a-eeb1-4322-b241-bfdf151d294b", "code_id": None, "job_id": None, "producer_timestamp": AT,
            "producer": "puppet.example.org", "resources": resources, "edges": edges}


def report(name, status):
    event = {"status": "success", "timestamp": AT, "property": "content", "name": "content changed", "new_value": "{sha256}b", "old_value": "{sha256}a",
             "message": "content changed", "corrective_change": "db" in name}
    resource = {"timestamp": AT, "resource_type": "File", "resource_title": "/etc/motd", "skipped": False, "file": "/code/site.pp", "line": 3,
                "containment_path": ["Stage[main]", "Main", "File[/etc/motd]"], "corrective_change": "db" in name,
                "events": [event] if status == "changed" else []}
    return {"certname": name, "puppet_version": "8.11.0", "report_format": 12, "configuration_version": "1770091506", "start_time": AT,
            "end_time": "2026-02-03T04:05:16.000Z", "producer_timestamp": AT if status == "changed" else "2026-02-03T05:05:06.000Z",
            "producer": "puppet.example.org", "resources": [resource], "noop": False, "noop_pending": False, "transaction_uuid": None,
            "catalog_uuid": None, "code_id": None, "job_id": None, "cached_catalog_status": "not_used", "environment": "production", "status": status,
            "metrics": [{"category": "time", "name": "total", "value": 1.25}], "corrective_change": "db" in name,
            "logs": [{"level": "notice", "message": f"Applied in {status}", "source": "Puppet", "tags": ["notice"], "time": AT, "file": None, "line": None}]}


def fill(store):
    """Sends the contents to a server with this state directory, and waits until they are stored. `store` may have more options."""
    server = subprocess.Popen([store.command, "server", "--roles", "store", "--http", "127.0.0.1:0", "--statedir", store.folder,
                               "--confdir", store.folder / "etc", "--ssldir", store.folder / "ssl", "--vardir", store.folder / "var",
                               "--setting", "node-ttl=0", "--setting", "node-purge-ttl=0", "--setting", "report-ttl=0", *getattr(store, "options", ())],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = None
        for line in server.stdout:
            match = re.search(r"http://127\.0\.0\.1:\d+", line)
            if match:
                url = match[0]
                break
        assert url, "the server did not start"

        def command(name, version, payload):
            query = urllib.parse.urlencode({"command": name, "version": version, "certname": payload["certname"], "producer-timestamp": payload["producer_timestamp"]})
            request = urllib.request.Request(f"{url}/pdb/cmd/v1?{query}&secondsToWaitForCompletion=30", json.dumps(payload).encode(),
                                             {"Content-Type": "application/json"})
            assert json.load(urllib.request.urlopen(request, timeout=60)).get("processed") is True, name

        for name in NODES:
            command("replace_facts", 5, facts(name))
            command("replace_catalog", 9, catalog(name))
            command("store_report", 8, report(name, "changed"))
            command("store_report", 8, report(name, "unchanged"))
        command("deactivate_node", 3, {"certname": "web2.example.org", "producer_timestamp": "2026-02-03T06:05:06.000Z"})
    finally:
        server.terminate()
        server.wait(timeout=60)
