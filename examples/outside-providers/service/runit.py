#!/usr/bin/env python3
"""Services that runit supervises, as an outside provider (docs/outside-providers.md):
service { 'web': ensure => running, enable => true, provider => runit }
"""
import os
import shutil
import subprocess
import sys

AVAILABLE = os.environ.get("SVDEFS", "/etc/sv")
ENABLED = os.environ.get("SVDIR", "/etc/service")


def say(key, value):
    text = str(value).replace("\\", "\\\\").replace("\n", "\\n")
    print(f"{key}={text}")


def read_request():
    request = {}
    for line in sys.stdin:
        key, found, value = line.rstrip("\n").partition("=")
        if found:
            request.setdefault(key, []).append(value.replace("\\n", "\n").replace("\\\\", "\\"))
    return request


def sv(verb, name):
    done = subprocess.run(["sv", verb, name], capture_output=True, text=True)
    if verb != "status" and done.returncode != 0:
        say("error", f"sv {verb} {name}: {(done.stdout + done.stderr).strip()}")
        sys.exit(1)
    return done.stdout


def state(name):
    say("name", name)
    say("ensure", "running" if sv("status", name).startswith("run:") else "stopped")
    say("enable", "true" if os.path.islink(f"{ENABLED}/{name}") else "false")
    print()


def change(request):
    name, what = request["name"][0], request["change"][0]
    wanted = request[what][0]
    link = f"{ENABLED}/{name}"
    if what == "ensure":
        sv("up" if wanted == "running" else "down", name)
    elif wanted == "true":
        os.symlink(f"{AVAILABLE}/{name}", link)
        say("notice", f"created {link}")
    else:
        os.remove(link)


def main():
    verb = sys.argv[1]
    request = read_request()
    if verb == "describe":
        say("protocol", 1)
        say("features", "list enableable refreshable")
        say("suitable", "true" if shutil.which("sv") else "false")
    elif verb == "list":
        for name in sorted(os.listdir(AVAILABLE)):
            state(name)
    elif verb == "query":
        state(request["name"][0])
    elif verb == "change":
        change(request)
    elif verb == "refresh":
        sv("restart", request["name"][0])


main()
