"""File contents that static catalogs name."""

import json
import urllib.parse

from machine import Failed, fetch

OPEN = ('authorization: {version: 1, rules: [{name: all, sort-order: 1, allow-unauthenticated: true, match-request: {path: "/", type: path}}]}\n')
SERVER = ("--roles", "compiler", "--http", "127.0.0.1:0")


def catalog(url, node):
    facts = json.dumps({"name": node, "values": {"kernel": "Linux"}})
    data = urllib.parse.urlencode({"facts": facts, "facts_format": "application/json", "static_catalog": "true", "checksum_type": "sha256"})
    status, body = fetch(f"{url}/puppet/v3/catalog/{node}?environment=production", data.encode(), {"Accept": "application/vnd.puppet.rich+json"})
    if status != 200:
        raise Failed(f"catalog: {status} {body}")
    return json.loads(body)


def content(url, found):
    path = found["metadata"]["/tmp/one"]["content_uri"].removeprefix("puppet:///")
    return [path, *map(lambda v: v.decode() if isinstance(v, bytes) else v, fetch(
        f"{url}/puppet/v3/static_file_content/{path}?environment=production&code_id={found['code_id']}"))]


def make(machine):
    machine.write("etc/puppet.conf", "[main]\ncertname = localhost\nenvironmentpath = @TOP@/code/environments\n")
    machine.write("etc/puppetserver/conf.d/auth.conf", OPEN)
    machine.write("code/environments/production/manifests/site.pp", "include app\n")
    machine.write("code/environments/production/modules/app/manifests/init.pp", "class app { file { '/tmp/one': source => 'puppet:///modules/app/one' } }\n")
    machine.write("code/environments/production/modules/app/files/one", "one of 1\n")
    with machine.server(*SERVER) as urls:
        found = catalog(urls["http"], "a.example.org")
        machine.write("catalog.json", json.dumps(found))
    machine.write("code/environments/production/modules/app/files/one", "one of 2\n")
    # The caches and the store contain the path of the folder.
    machine.remove("state/kept", "state/store.sqlite3*", "state/queue")


def check(machine):
    found, out = json.loads(machine.path("catalog.json").read_text()), {}
    with machine.server(*SERVER) as urls:
        out["content of the earlier catalog"] = content(urls["http"], found)
        fresh = catalog(urls["http"], "a.example.org")
        out["content of a new catalog"] = content(urls["http"], fresh)
        out["code_id changed"] = fresh["code_id"] != found["code_id"]
        found["code_id"] = "0" * 64
        out["a code_id that is unknown"] = content(urls["http"], found)
    return out
