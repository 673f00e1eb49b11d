"""Tokens of the APIs and of the console, and the rules of the console."""

import json

from machine import fetch

TOKENS = {"metrics": ("--scope", "metrics"), "query": ("--scope", "query"), "alice": ("--role", "operator"),
          "bob": ("--role", "viewer", "--environments", "staging")}


def make(machine):
    tokens = {}
    for name, options in TOKENS.items():
        tokens[name] = machine.run("token", "create", "--name", name, *options, "--expires", "never")[0].strip()
    machine.run("token", "create", "--name", "gone", "--scope", "metrics", "--expires", "never")
    machine.run("token", "revoke", "gone")
    machine.write("tokens.json", json.dumps(tokens))
    machine.write("etc/puppet.conf", "[main]\ncertname = localhost\n")
    machine.write("etc/console.conf", "[certificates]\nlocalhost = admin\n\n[proxy]\naddresses = @PROXY@\nheader = X-Remote-User\n\n"
                  "[users]\ncarol@example.org = viewer staging\n\n[links]\ncommit = https://git.example.org/commit/{commit}\n")
    with machine.server("--roles", "ca,store,console", "--https", "127.0.0.1:0", "--setting", "ca_ttl=1544400000"):
        pass
    machine.remove("state/store.sqlite3*")


def check(machine):
    """The proxy and a client with a certificate have the same address here, so that there are two rounds."""
    rules = machine.path("etc/console.conf").read_text()
    out = {}
    for title, address in (("without a proxy", "192.0.2.1"), ("from the proxy", "127.0.0.1")):
        machine.write("etc/console.conf", rules.replace("@PROXY@", address))
        out[title] = requests(machine)
    return out


def requests(machine):
    out = {"list": json.loads(machine.run("token", "list", "--json")[0])}
    tokens = json.loads(machine.path("tokens.json").read_text())
    with machine.server("--roles", "ca,store,console", "--https", "127.0.0.1:0") as urls:
        url = urls["https"].replace("127.0.0.1", "localhost")
        ca = machine.path("ssl/certs/ca.pem")
        for path in ("/metrics", "/pdb/query/v4/nodes", "/console/", "/console/server", "/console/certificates"):
            for name, token in {**tokens, "a wrong one": "x" * 43}.items():
                out[f"{path} {name}"] = fetch(url + path, headers={"Authorization": f"Bearer {token}"}, ca=ca)[0]
            for name in ("carol@example.org", "dave@example.org"):
                out[f"{path} {name}"] = fetch(url + path, headers={"X-Remote-User": name}, ca=ca)[0]
            out[f"{path} with the certificate"] = fetch(url + path, ca=ca, certificate=(
                machine.path("ssl/certs/localhost.pem"), machine.path("ssl/private_keys/localhost.pem")))[0]
    return out
