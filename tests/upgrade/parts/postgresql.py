"""Dumps of PostgreSQL databases: loaded into a fresh server, converted, and asked the queries of answers.json."""

import contextlib
import glob
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess

import contents
from machine import Failed, until


def programs():
    """Returns the folder of PostgreSQL's programs, or None."""
    folders = [os.path.dirname(shutil.which("initdb") or "/nowhere/x"), *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    needed = ("initdb", "postgres", "createdb", "psql", "pg_dump")
    return next((folder for folder in folders if all(os.path.exists(f"{folder}/{name}") for name in needed)), None)


@contextlib.contextmanager
def database(folder):
    """Starts a private PostgreSQL that is reached by a socket. Yields a function that runs its programs, and the URL."""
    bin_folder, where = programs(), pathlib.Path(folder)
    where.mkdir(parents=True)
    who = {}
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        users = {user.pw_name: user for user in pwd.getpwall()}
        user = users.get("postgres") or users["nobody"]
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(where, user.pw_uid, user.pw_gid)

    def run(name, *arguments, data=None):
        done = subprocess.run([f"{bin_folder}/{name}", *arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd="/", check=False, **who)
        if done.returncode:
            raise Failed(f"{name}: {done.stderr}")
        return done.stdout

    run("initdb", "-D", str(where / "d"), "-A", "trust", "-U", "bunraku", "--no-sync", "--encoding=UTF8", "--locale=C")
    with (where / "d/postgresql.conf").open("a") as file:
        file.write(f"listen_addresses = ''\nunix_socket_directories = '{where}'\nfsync = off\n")
    with (where.parent / "postgresql.log").open("wb") as log:
        process = subprocess.Popen([f"{bin_folder}/postgres", "-D", str(where / "d")], stdout=log, stderr=log, cwd="/", **who)
    at = ("-h", str(where), "-U", "bunraku")

    def created():
        with contextlib.suppress(Failed):
            run("createdb", *at, "store")
            return True
        return process.poll() is not None
    try:
        until("PostgreSQL", created)
        yield (lambda name, *arguments, data=None: run(name, *at, *arguments, data=data)), f"postgresql:///store?host={where}&user=bunraku"
    finally:
        process.send_signal(2)
        process.wait(timeout=60)


def dump(run):
    text = run("pg_dump", "--no-owner", "--no-privileges", "--no-comments", "store")
    # The key of Sensitive values is not part of the corpus. Newer versions of pg_dump write commands that older ones of psql do not know.
    text = re.sub(r"^\\(un)?restrict .*\n", "", text, flags=re.M)
    text = re.sub(r"^secrets_key\t.*\n", "", text, flags=re.M)
    return re.sub(r"^(--.*|)\n", "", text, flags=re.M)


def record(machine):
    """Returns the schema and the dump of a new database with the contents."""
    with database(machine.path("postgresql")) as (run, url):
        store = Store(machine, url)
        contents.fill(store)
        return int(run("psql", "-At", "-c", "SELECT value FROM store_meta WHERE name = 'schema'", "store")), dump(run)


class Store:
    """The store of a machine on PostgreSQL, for contents.fill()."""

    def __init__(self, machine, url):
        self.command, self.folder, self.options = machine.command, machine.top, ("--database", url)


def check(machine, text, schema, newest, answers):
    """Returns the differences."""
    bad = []
    with database(machine.path("postgresql")) as (run, url):
        run("psql", "-q", "-v", "ON_ERROR_STOP=1", "store", data=text)

        def query(words, status=0):
            return machine.run("query", words, "--database", url, status=status)
        if schema < newest:
            message = query("nodes[certname]{}", 1)[1]
            if f"its schema is {schema}, {newest} is needed" not in message:
                bad.append(f"a reader opened it: {message}")
        machine.run("db", "compact", "--database", url)
        version = run("psql", "-At", "-c", "SELECT value FROM store_meta WHERE name = 'schema'", "store").strip()
        if version != str(newest):
            bad.append(f"it was not converted, but has schema {version}")
        for entry in answers:
            answer = contents.comparable(json.loads(query(entry["query"])[0]))
            if "order by" not in entry["query"]:
                answer = sorted(answer, key=json.dumps)
            if answer != entry["answer"]:
                bad.append(f"{entry['query']}:\n  {json.dumps(answer)}\nand not\n  {json.dumps(entry['answer'])}")
        run("psql", "-q", "store", data=f"UPDATE store_meta SET value = {newest + 5} WHERE name IN ('schema', 'usable_since');")
        before = dump(run)
        for words in (("query", "nodes[certname]{}"), ("db", "compact")):
            message = machine.run(*words, "--database", url, status=1)[1]
            if f"it was written by a newer program (schema {newest + 5}, this one knows {newest})" not in message:
                bad.append(f"a newer schema was not refused: {message}")
        if dump(run) != before:
            bad.append("a newer schema was changed")
    return bad
