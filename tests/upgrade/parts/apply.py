"""State of `apply` and of an agent: transaction store, state, cached catalog, last run, file bucket."""

import hashlib
import json
import re

from machine import LONG, Failed

SITE = """
$root = $facts['top']
File { backup => 'puppet' }
filebucket { 'puppet': path => "${root}/var/clientbucket" }
file { "${root}/managed": ensure => directory }
file { "${root}/managed/kept": content => "kept\\n", mode => '0644' }
file { "${root}/managed/drifts": content => "right\\n", mode => '0644' }
file { "${root}/managed/changes": content => "%s\\n", mode => '0644' }
file { "${root}/managed/source": source => "${root}/source" }
exec { 'once': command => "/bin/sh -c 'echo x >>${root}/managed/ran'", creates => "${root}/managed/ran" }
"""
AGENT = ("agent", "--onetime", "--no-daemonize", "--verbose", "--detailed-exitcodes", "--server", "localhost", "--certname", "node.example.org")


def manifest(machine, text):
    return machine.write("site.pp", SITE % text)


def make(machine):
    machine.write("source", "of a source\n")
    machine.write("managed/drifts", "of somebody else\n")
    machine.write("etc/puppet.conf", f"[main]\ncertname = localhost\n[server]\nca_ttl = {LONG}\nautosign = true\n")
    machine.write("code/environments/production/manifests/site.pp", "notify { 'from the server': }\nfile { \"${facts['top']}/managed/agent\": content => 'x' }\n")
    # An agent, with a certificate and a catalog of a server. Its server's state is in other parts.
    machine.run("config", "set", "environmentpath", machine.path("code/environments"), "--section", "main")
    with machine.server("--roles", "ca,compiler", "--https", "127.0.0.1:0") as urls:
        machine.run(*AGENT, "--serverport", urls["https"].rpartition(":")[2], status=2)
    machine.remove("state/kept", "state/reports", "state/static", "state/store.sqlite3*", "state/queue", "state/forge")
    # `apply` in the same folders. Its transaction store replaces the agent's.
    machine.run("apply", manifest(machine, "first"))
    machine.write("managed/drifts", "another one\n")
    machine.run("apply", manifest(machine, "second"), "--detailed-exitcodes", status=2)


def events(output):
    """What a run reports, without times."""
    text = "\n".join(output)
    return [re.sub(r"in [0-9.]+ seconds", "in N seconds", line) for line in text.splitlines() if line.startswith(("Notice:", "Error:", "Warning:"))]


def report(machine):
    text = machine.path("state/last_run_report.yaml").read_text()
    out = {"status": re.search(r"^status: (.*)$", text, re.M)[1], "corrective_change": re.search(r"^corrective_change: (.*)$", text, re.M)[1], "resources": {}}
    for title, body in re.findall(r"^  (File\[.*?\]|Exec\[.*?\]|Notify\[.*?\]):\n((?:    .*\n)*)", text, re.M):
        out["resources"][machine.shown(title)] = re.findall(r"^    ((?:changed|corrective_change|out_of_sync): .*)$", body, re.M)
    return out


def check(machine):
    out = {"resources.txt": sorted(machine.shown(machine.path("state/resources.txt").read_text()).splitlines()),
           "bucket": json.loads(machine.run("filebucket", "-l", "list", "--json")[0])}
    digest = hashlib.sha256(b"of somebody else\n").hexdigest()
    out["content in the bucket"] = machine.run("filebucket", "-l", "get", digest)[0]
    out["last report"] = report(machine)
    out["unchanged"] = events(machine.run("apply", manifest(machine, "second"), "--detailed-exitcodes"))
    # A changed file and a changed manifest, first without changing anything.
    machine.write("managed/drifts", "drifted\n")
    changed = manifest(machine, "third")
    out["noop"] = [events(machine.run("apply", changed, "--noop", "--detailed-exitcodes")), report(machine)]
    out["changed"] = [events(machine.run("apply", changed, "--detailed-exitcodes", status=2)), report(machine)]
    out["restored"] = machine.run("filebucket", "-l", "get", hashlib.sha256(b"drifted\n").hexdigest())[0]
    # No server answers: the agent applies its cached catalog. According to its transaction store,
    # the change is corrective.
    machine.path("managed/agent").unlink()
    cached = (*AGENT, "--serverport", "9", "--use_cached_catalog", "--no-report")
    out["cached catalog, noop"] = events(machine.run(*cached, "--noop"))
    out["cached catalog"] = events(machine.run(*cached, status=2))
    if machine.path("managed/agent").read_text() != "x":
        raise Failed("the cached catalog was not applied")
    machine.run("ssl", "verify", "--certname", "node.example.org", "--server", "localhost")
    return out
