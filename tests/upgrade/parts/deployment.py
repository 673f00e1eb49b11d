"""Deployed environments: versions with digests of their files, the cache of repositories, the record of webhooks."""

import hashlib
import hmac
import json
import os
import shutil

from machine import Failed, fetch, until

SECRET = b"the secret of the corpus"
URL = "https://git.example.org"


def deploy(machine, *arguments, status=0):
    return machine.run("deploy", *arguments, "--r10k", machine.path("etc/r10k.yaml"), status=status)


def commit(machine, repository, files):
    for name, text in files.items():
        machine.write(f"git/{repository}/{name}", text)
    folder = machine.path("git", repository)
    machine.tool("git", "add", "-A", cwd=folder)
    machine.tool("git", "commit", "-q", "-m", "change", cwd=folder)


def hook(machine, url, branch):
    body = json.dumps({"ref": f"refs/heads/{branch}", "repository": {"full_name": "site/control", "clone_url": f"{URL}/control"}}).encode()
    return fetch(url + "/deploy/webhook", body, {"X-Gitea-Signature": hmac.new(SECRET, body, hashlib.sha256).hexdigest()})[0]


def make(machine):
    # Repositories have the same address wherever the folder is.
    machine.write("etc/gitconfig", f'[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = production\n'
                  f'[url "file://@TOP@/git/"]\n\tinsteadOf = {URL}/\n[protocol "file"]\n\tallow = always\n')
    machine.write("etc/r10k.yaml", f"cachedir: @TOP@/cache\nsources:\n  site: {{remote: '{URL}/control', basedir: '@TOP@/envs'}}\n")
    machine.write("etc/webhook.conf", f"secret = {SECRET.decode()}\nr10k = @TOP@/etc/r10k.yaml\n", 0o600)
    for repository in ("control", "one"):
        machine.path("git", repository).mkdir(parents=True)
        machine.tool("git", "init", "-q", "--template=", cwd=machine.path("git", repository))
    commit(machine, "one", {"manifests/init.pp": "class one { notify { 'one of 1': } }\n", "metadata.json": '{"name": "site-one", "version": "1.0.0"}\n'})
    commit(machine, "control", {"Puppetfile": f"mod 'one', git: '{URL}/one', branch: 'production'\n", "manifests/site.pp": "include one # 1\n",
                                "environment.conf": "config_version = '/bin/echo 1'\n"})
    machine.tool("git", "branch", "staging", cwd=machine.path("git/control"))
    deploy(machine, "environment", "--modules")
    commit(machine, "one", {"manifests/init.pp": "class one { notify { 'one of 2': } }\n"})
    commit(machine, "control", {"manifests/site.pp": "include one # 2\n", "run": "#!/bin/sh\n"})
    with machine.server("--roles", "forge", "--http", "127.0.0.1:0") as urls:
        if hook(machine, urls["http"], "production") != 202:
            raise Failed("the webhook was refused")
        until("the deployment", lambda: "# 2" in machine.path("envs/production/manifests/site.pp").read_text() and
              not list(machine.path("state").glob("webhooks.new")))
        until("the end of the deployment", lambda: b'"running"' not in fetch(urls["http"] + "/deploy/status")[1])
    deploy(machine, "environment", "--modules")
    shutil.rmtree(machine.path("var"), ignore_errors=True)


def compiled(machine):
    out = json.loads(machine.run("compile", "--environmentpath", machine.path("envs"), "--environment", "production", "--node", "n.example.org",
                                 machine.path("envs/production/manifests/site.pp"))[0])
    return sorted(resource["title"] for resource in out["resources"] if resource["type"] == "Notify")


def state(machine):
    version = os.readlink(machine.path("envs/production"))
    record = json.loads(machine.path("envs", version + ".json").read_text())
    return {"version": version, "site": machine.path("envs/production/manifests/site.pp").read_text(), "resources": compiled(machine),
            "record": sorted(record), "versions": sorted(path.name for path in machine.path("envs/.bunraku/production").iterdir())}


def check(machine):
    # Reading the files of an extracted archive once is fine, but no file counts as edited.
    out = {"at first": state(machine), "display": json.loads(deploy(machine, "display", "--detail", "--format", "json")[0]),
           "unchanged": deploy(machine, "environment", "--modules")}
    if machine.path("envs/production/manifests/site.pp").stat().st_mode & 0o222:
        raise Failed("a deployed file is writable")
    edited = machine.path("envs/production/modules/one/manifests/init.pp")
    edited.chmod(0o644)
    edited.write_text("class one { fail('edited') }\n")
    out["edited"] = deploy(machine, "environment", "--modules", "--json")
    out["restored"] = state(machine)
    out["rollback"] = [deploy(machine, "rollback", "production"), state(machine)]
    out["rollback again"] = [deploy(machine, "rollback", "production"), state(machine)]
    with machine.server("--roles", "forge", "--http", "127.0.0.1:0") as urls:
        out["repeated webhook"] = hook(machine, urls["http"], "production")
        out["other webhook"] = hook(machine, urls["http"], "staging")
    return out
