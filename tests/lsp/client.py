# SPDX-License-Identifier: Apache-2.0
"""A client of the Language Server Protocol for tests: it starts a server and speaks with it."""
import json
import os
import subprocess
import time
import urllib.parse


class Failure(Exception):
    """The server sent an error response, or ended."""


def uri(path):
    return "file://" + urllib.parse.quote(os.path.abspath(path))


def path_of(name):
    return urllib.parse.unquote(name[7:])


def apply(edit):
    """Applies a WorkspaceEdit with documentChanges to the files, as an editor does."""
    for change in edit["documentChanges"]:
        if change.get("kind") == "rename":
            os.rename(path_of(change["oldUri"]), path_of(change["newUri"]))
            continue
        path = path_of(change["textDocument"]["uri"])
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for one in sorted(change["edits"], key=lambda e: (e["range"]["start"]["line"],
                                                          e["range"]["start"]["character"]), reverse=True):
            start, end = one["range"]["start"], one["range"]["end"]
            assert start["line"] == end["line"]
            line = lines[start["line"]]
            lines[start["line"]] = line[:start["character"]] + one["newText"] + line[end["character"]:]
        os.remove(path)  # the copy of a repository may share files by hard links
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


class Client:
    """One session. Requests wait for their response; notifications collect in `published`."""

    def __init__(self, command, root, encodings=("utf-16",), options=None, arguments=(), log=None,
                 capabilities=None, stream=None):
        self.process = None
        if stream:
            self.reader, self.writer = stream
        else:
            self.process = subprocess.Popen([command, "lsp", *arguments], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log)
            self.reader, self.writer = self.process.stdout, self.process.stdin
        self.next_id = 0
        self.published = {}  # by URI: the last diagnostics
        self.messages = []  # other notifications and requests of the server
        self.times = {}  # by method: seconds of each response
        self.versions = {}
        asked = capabilities or {
            "workspace": {"workspaceEdit": {"documentChanges": True,
                                            "resourceOperations": ["create", "rename", "delete"]}}}
        asked["general"] = {"positionEncodings": list(encodings)}
        roots = [root] if isinstance(root, str) else root
        self.initialized = self.request("initialize", {
            "processId": os.getpid(), "capabilities": asked, "initializationOptions": options or {},
            "rootUri": uri(roots[0]),
            "workspaceFolders": [{"uri": uri(r), "name": os.path.basename(r)} for r in roots]})
        self.notify("initialized", {})

    def send(self, message):
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.writer.flush()

    def receive(self):
        length = None
        while True:
            line = self.reader.readline()
            if not line:
                raise Failure("the server has ended")
            if line == b"\r\n":
                break
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        message = json.loads(self.reader.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.published[params["uri"]] = params
        elif "method" in message:
            self.messages.append(message)
        return message

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.next_id += 1
        wanted = self.next_id
        began = time.monotonic()
        self.send({"id": wanted, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == wanted and "method" not in message:
                break
        self.times.setdefault(method, []).append(time.monotonic() - began)
        if "error" in message:
            raise Failure("%s: %s" % (method, message["error"]["message"]))
        return message["result"]

    def ask(self, feature, path, line=None, character=None, **more):
        """Sends a request of textDocument/FEATURE."""
        params = {"textDocument": {"uri": uri(path)}, **more}
        if line is not None:
            params["position"] = {"line": line, "character": character}
        return self.request("textDocument/" + feature, params)

    def open(self, path, text=None):
        if text is None:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
        # Each opening gets its own version number, because the server may still publish diagnostics
        # for the previous one.
        self.versions[path] = self.versions.get(path, 0) + 1
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri(path), "languageId": "puppet", "version": self.versions[path], "text": text}})
        return text

    def change(self, path, changes):
        self.versions[path] += 1
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri(path), "version": self.versions[path]},
            "contentChanges": changes})

    def close(self, path):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri(path)}})

    def diagnostics(self, path):
        """Waits for the diagnostics of the current version of a document."""
        while True:
            found = self.published.get(uri(path))
            if found and found.get("version") == self.versions[path]:
                return found["diagnostics"]
            self.receive()

    def end(self):
        """Ends the session and returns the exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        if not self.process:
            return None
        self.process.stdin.close()
        return self.process.wait()
