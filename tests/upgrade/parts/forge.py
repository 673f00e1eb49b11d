"""The forge: an open and a private repository with releases, signatures, signed metadata, users, tokens and grants."""

import base64
import hashlib
import json

from machine import Failed, fetch

MODULES = (("web", "1.0.0"), ("web", "1.1.0"), ("lib", "0.2.0"))


def forge(machine, *arguments, status=0):
    done = machine.run("forge", *arguments, "--statedir", machine.path("state"), status=status, options=())
    return done[0] + done[1]


def archive(machine, name, version):
    folder = f"work/{name}-{version}"
    metadata = {"name": f"acme-{name}", "version": version, "author": "acme", "license": "Apache-2.0", "summary": f"The module {name}",
                "source": f"https://git.example.org/{name}", "project_page": f"https://git.example.org/{name}",
                "dependencies": [{"name": "acme/lib", "version_requirement": ">= 0.1.0"}] if name == "web" else []}
    machine.write(f"{folder}/metadata.json", json.dumps(metadata))
    machine.write(f"{folder}/README.md", f"# {name}\n\nSets up *{name}*.\n")
    machine.write(f"{folder}/manifests/init.pp", f"class {name} {{ notify {{ '{name} {version}': }} }}\n")
    machine.run("module", "build", machine.path(folder))
    return machine.path(folder, "pkg", f"acme-{name}-{version}.tar.gz")


def make(machine):
    forge(machine, "key", "create", "--out", machine.path("acme.key"))
    forge(machine, "create", "--repo", "open")
    forge(machine, "create", "--repo", "inside", "--private")
    forge(machine, "trust", "--repo", "open", "--signer", f"acme={machine.path('acme.key.pub')}", "--require-signed", "acme")
    for name, version in MODULES:
        file = archive(machine, name, version)
        forge(machine, "sign", "--key", machine.path("acme.key"), file)
        forge(machine, "upload", "--repo", "open", file)
        if name == "lib":
            forge(machine, "upload", "--repo", "inside", file)
    forge(machine, "metadata", "init", "--repo", "open", "--root-key", machine.path("root.key"))
    for repository in ("open", "inside"):
        forge(machine, "publish", "--repo", repository)
    # A release that is not published yet.
    file = archive(machine, "web", "2.0.0")
    forge(machine, "sign", "--key", machine.path("acme.key"), file)
    forge(machine, "upload", "--repo", "open", file)
    forge(machine, "bind", "--consumer", "site", "--repo", "open")
    forge(machine, "bind", "--consumer", "site", "--repo", "inside")
    secrets = {"alice": forge(machine, "user", "create", "--name", "alice", "--group", "ops").split()[-1]}
    for name, options in {"ci": ("--repo", "inside"), "backup": ("--repo", "inside", "--read-only")}.items():
        secrets[name] = forge(machine, "token", "create", "--name", name, *options).split()[-1]
    forge(machine, "grant", "--repo", "inside", "--reader", "group:ops")
    forge(machine, "grant", "--repo", "inside", "--reader", "token:backup")
    machine.write("secrets.json", json.dumps(secrets))


def newer(machine):
    """Records of a newer program are made again from the archives. A snapshot of a newer program is not served, and not changed."""
    files = sorted(machine.path("state/forge/repos/open/units").glob("*.rec"))
    for file in files:
        file.write_bytes(file.read_bytes().replace(b"bunraku-release-", b"bunraku-release-9", 1))
    before = json.loads(machine.path("state/forge/published/open/modules.json").read_text())
    forge(machine, "publish", "--repo", "open")
    after = json.loads(machine.path("state/forge/published/open/modules.json").read_text())
    if not files or [module for module in after if module["version"] != "2.0.0"] != before or len(after) != len(before) + 1:
        raise Failed(f"records of a newer program: {after}")
    snapshots = sorted(machine.path("state/forge/snapshots").glob("*/.records"))
    for file in snapshots:
        file.write_bytes(file.read_bytes().replace(b"bunraku-release-", b"bunraku-release-9"))
    digests = machine.digests("state/forge/snapshots")
    with machine.server("--roles", "forge", "--http", "127.0.0.1:0") as urls:
        status, body = fetch(urls["http"] + "/pulp_puppet/forge/repository/open/v3/modules")
    if not snapshots or status == 200 or machine.digests("state/forge/snapshots") != digests:
        raise Failed(f"snapshots of a newer program: {status} {body}")


def requests(machine, url, secrets):
    basic = "Basic " + base64.b64encode(f"alice:{secrets['alice']}".encode()).decode()
    people = {"nobody": {}, "alice": {"Authorization": basic}, "ci": {"Authorization": f"Bearer {secrets['ci']}"},
              "backup": {"Authorization": f"Bearer {secrets['backup']}"}}
    out = {}
    for repository in ("open", "inside"):
        base = f"/pulp_puppet/forge/repository/{repository}"
        for path in (f"{base}/v3/modules", f"{base}/v3/releases?module=acme-web", f"{base}/v3/files/acme-lib-0.2.0.tar.gz",
                     f"{base}/v3/files/acme-web-1.1.0.tar.gz", f"{base}/v3/releases/acme-web-1.1.0", f"{base}/api/v1/releases.json?module=acme/web", f"/forge/{repository}",
                     f"/pulp/puppet/{repository}/modules.json", f"/pulp/puppet/{repository}/PULP_MANIFEST"):
            for who, headers in people.items():
                if repository == "open" and who != "nobody":
                    continue
                status, body = fetch(url + path, headers=headers)
                try:
                    answer = json.loads(body)
                except ValueError:
                    answer = "text" if path.startswith("/forge/") else hashlib.sha256(body).hexdigest()
                out[f"{who} {path}"] = [status, answer if status == 200 else None]
    out["consumer"] = json.loads(fetch(url + "/pulp_puppet/forge/consumer/site/v3/modules", headers=people["alice"])[1])
    return json.loads(json.dumps(out).replace(url, "URL"))


def check(machine):
    secrets = json.loads(machine.path("secrets.json").read_text())
    out = {}
    for words in (("list",), ("list", "--repo", "open"), ("list", "--repo", "inside"), ("search", "--repo", "open", "web")):
        out[" ".join(words)] = json.loads(machine.run("forge", *words, "--json", "--statedir", machine.path("state"), options=())[0])
    for words in (("token", "list"), ("user", "list")):
        out[" ".join(words)] = forge(machine, *words)
    with machine.server("--roles", "forge", "--http", "127.0.0.1:0") as urls:
        out["requests"] = requests(machine, urls["http"], secrets)
        # A token that may write, the release that was not published, and the rule about signatures.
        file = archive(machine, "lib", "0.3.0")
        status, _ = fetch(f"{urls['http']}/pulp_puppet/forge/repository/inside/v3/releases",
                          json.dumps({"file": base64.b64encode(file.read_bytes()).decode()}).encode(),
                          {"Content-Type": "application/json", "Authorization": f"Bearer {secrets['ci']}"}, "POST")
        out["upload"] = status
        out["upload without a signature"] = forge(machine, "upload", "--repo", "open", file, status=1)
        forge(machine, "publish", "--repo", "open")
        out["published"] = sorted(release["version"] for release in json.loads(
            fetch(f"{urls['http']}/pulp_puppet/forge/repository/open/v3/releases?module=acme-web")[1])["results"])
    # The signed metadata, from the root that clients have.
    forge(machine, "metadata", "renew", "--repo", "open")
    forge(machine, "create", "--repo", "copy")
    forge(machine, "sync", "--repo", "copy", "--feed", f"file://{machine.path('state/forge/published/open')}", "--with-signatures",
          "--root", machine.path("state/forge/published/open/metadata/1.root.json"))
    out["synced"] = json.loads(machine.run("forge", "list", "--repo", "copy", "--json", "--statedir", machine.path("state"), options=())[0])
    return out
