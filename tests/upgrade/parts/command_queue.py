"""The command queue with accepted commands that are not in the database yet, and a dead letter."""

import json
import urllib.parse

import contents
from machine import Failed, fetch, until

STORE = ("server", "--roles", "store", "--http", "127.0.0.1:0", "--setting", "node-ttl=0", "--setting", "node-purge-ttl=0",
         "--setting", "report-ttl=0")
SECRET = "resources[certname, type, title, parameters]{type = 'User' order by certname}"


def send(url, name, version, payload):
    query = urllib.parse.urlencode({"command": name, "version": version, "certname": payload["certname"],
                                    "producer-timestamp": payload.get("producer_timestamp", contents.AT)})
    status, body = fetch(f"{url}/pdb/cmd/v1?{query}", json.dumps(payload).encode(), {"Content-Type": "application/json"})
    if status != 200:
        raise Failed(f"{name}: {status} {body}")


def secret_catalog():
    out = contents.catalog("web1.example.org")
    out["certname"] = "secret.example.org"
    out["resources"] = out["resources"][:2] + [
        {"type": "User", "title": "alice", "tags": ["user"], "exported": False, "sensitive_parameters": ["password"],
         "parameters": {"password": "a secret of the corpus", "shell": "/bin/sh"}}]
    out["edges"] = out["edges"][:1]
    return out


def make(machine):
    with machine.server(*STORE[1:]) as urls:
        send(urls["http"], "replace_facts", 5, {"certname": "bad.example.org", "no": "facts"})
        until("the dead letter", lambda: list(machine.path("state", "queue", "dead-letters").glob("*.reason.json")))
    machine.remove("state/store.sqlite3*")
    # Without its database, the server accepts commands and leaves them on the disk.
    with machine.server(*STORE[1:], "--database", f"postgresql:///none?host={machine.path('nowhere')}") as urls:
        for name in contents.NODES:
            send(urls["http"], "replace_facts", 5, contents.facts(name))
            send(urls["http"], "replace_catalog", 9, contents.catalog(name))
            send(urls["http"], "store_report", 8, contents.report(name, "changed"))
            send(urls["http"], "store_report", 8, contents.report(name, "unchanged"))
        send(urls["http"], "replace_catalog", 9, secret_catalog())
        send(urls["http"], "deactivate_node", 3, {"certname": "web2.example.org", "producer_timestamp": "2026-02-03T06:05:06.000Z"})


def segments(machine):
    return sorted(machine.path("state", "queue").glob("*.log"))


def newer(machine):
    """A segment of a newer program is refused, and nothing is changed."""
    if not segments(machine):
        raise Failed("the queue has no segment")
    for file in segments(machine):
        data = bytearray(file.read_bytes())
        data[8] += 1
        file.write_bytes(data)
    before = machine.digests("state/queue")
    message = machine.run(*STORE, status=1)[1]
    if "was written by a newer program" not in message:
        raise Failed(f"a newer queue was not refused: {message}")
    if machine.digests("state/queue") != before:
        raise Failed("a newer queue was changed")


def check(machine):
    out = {"queue": machine.run("db", "queue")[0], "dead letters": machine.run("db", "dead-letters", "list")[0]}
    out["dead letter"] = machine.run("db", "dead-letters", "show", "all")[0]
    with machine.server(*STORE[1:]):
        until("the commands are in the database", lambda: not machine.run("db", "queue")[0].strip())
        for query in (*contents.QUERIES, SECRET):
            answer = contents.comparable(json.loads(machine.run("query", query)[0]))
            out[query] = answer if "order by" in query else sorted(answer, key=json.dumps)
        out["dead letters after the start"] = machine.run("db", "dead-letters", "list")[0]
        machine.run("db", "dead-letters", "resubmit", "all")
        until("the dead letter is refused again", lambda: "bad.example.org" in machine.run("db", "dead-letters", "list")[0])
    return out
