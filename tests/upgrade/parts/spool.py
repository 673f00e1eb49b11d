"""The spool: commands for a PuppetDB that did not answer."""

import json
import urllib.parse

from machine import LONG, Failed, fetch, until
from static_content import OPEN

COMPILER = ("--roles", "compiler", "--http", "127.0.0.1:0", "--setting", "storeconfigs=true", "--setting", "storeconfigs_backend=puppetdb")
QUERIES = ("catalogs[certname, environment, producer]{order by certname}", "facts[certname, name, value]{order by certname, name}",
           "resources[certname, type, title, parameters, exported]{type = 'Notify' order by certname}")


def make(machine):
    machine.write("etc/puppet.conf", f"[main]\ncertname = localhost\nenvironmentpath = @TOP@/code/environments\n[server]\nca_ttl = {LONG}\n")
    with machine.server("--roles", "ca", "--https", "127.0.0.1:0"):
        pass
    machine.write("etc/puppetserver/conf.d/auth.conf", OPEN)
    machine.write("code/environments/production/manifests/site.pp", '@@notify { "from ${trusted[\'certname\']}": message => $facts[\'role\'] }\n')
    # No process listens on port 9 (discard).
    machine.write("etc/puppetdb.conf", "[main]\nserver_urls = https://127.0.0.1:9\n")
    with machine.server(*COMPILER) as urls:
        for node in ("a", "b"):
            data = urllib.parse.urlencode({"facts": json.dumps({"name": node, "values": {"role": f"role of {node}"}}), "facts_format": "application/json"})
            status, body = fetch(f"{urls['http']}/puppet/v3/catalog/{node}?environment=production", data.encode(), {"Accept": "application/json"})
            if status != 200:
                raise Failed(f"catalog: {status} {body}")
    machine.remove("state/kept")


def segments(machine):
    return sorted(machine.path("state/spool").glob("*.log"))


def newer(machine):
    """A segment of a newer program is refused, and nothing is changed."""
    if not segments(machine):
        raise Failed("the spool has no segment")
    for file in segments(machine):
        data = bytearray(file.read_bytes())
        data[8] += 1
        file.write_bytes(data)
    before = machine.digests("state/spool")
    message = machine.run("server", *COMPILER, status=1)[1]
    if "was written by a newer program" not in message:
        raise Failed(f"a newer spool was not refused: {message}")
    if machine.digests("state/spool") != before:
        raise Failed("a newer spool was changed")


def check(machine):
    out = {}
    with machine.server("--roles", "store", "--https", "127.0.0.1:0", statedir="database") as urls:
        url = urls["https"].replace("127.0.0.1", "localhost")
        machine.write("etc/puppetdb.conf", f"[main]\nserver_urls = {url}\n")

        def query(text):
            status, body = fetch(f"{url}/pdb/query/v4?{urllib.parse.urlencode({'query': text})}", ca=machine.path("ssl/certs/ca.pem"),
                                 certificate=(machine.path("ssl/certs/localhost.pem"), machine.path("ssl/private_keys/localhost.pem")))
            if status != 200:
                raise Failed(f"{text}: {status} {body}")
            return json.loads(body)
        with machine.server(*COMPILER):
            until("the commands arrive", lambda: len(query(QUERIES[0])) == 2 and len(query("factsets[certname]{}")) == 2)
        for text in QUERIES:
            out[text] = query(text)
    return out
