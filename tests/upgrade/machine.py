"""A machine of the corpus: a folder with the configuration and the state of a server or an agent."""

import contextlib
import hashlib
import io
import lzma
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import tarfile
import time
import urllib.error
import urllib.request

# Stands for the path of the machine's folder in archives and in answers.
TOP = "@TOP@"
# What a machine keeps for the time of a process only.
PASSING = ("run", "log", "home", "work")
# Certificates of the corpus are valid for 49 years.
LONG = "1544400000"


class Failed(Exception):
    """A command or a request did not do what the part expects."""


class Machine:
    def __init__(self, command, top):
        self.command, self.top = str(command), pathlib.Path(os.path.realpath(top))
        for name in ("etc", "work", "home"):
            (self.top / name).mkdir(parents=True, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.top / "home"), "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
                            "FACTER_top": str(self.top), "GIT_CONFIG_GLOBAL": str(self.top / "etc" / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
                            "GIT_AUTHOR_DATE": "2026-02-03T04:05:06Z", "GIT_COMMITTER_DATE": "2026-02-03T04:05:06Z"}

    def path(self, *names):
        return self.top.joinpath(*names)

    def write(self, name, text, mode=None):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(TOP, str(self.top)))
        if mode is not None:
            path.chmod(mode)
        return path

    def remove(self, *patterns):
        for pattern in patterns:
            for path in self.top.glob(pattern):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def options(self, **other):
        """The options for the folders. `other` replaces some of them."""
        named = {"confdir": "etc", "ssldir": "ssl", "cadir": "ca", "vardir": "var", "statedir": "state", "codedir": "code", "rundir": "run",
                 "logdir": "log", "publicdir": "public", "basemodulepath": "modules", **other}
        return [word for name, folder in named.items() for word in (f"--{name}", str(self.path(folder)))]

    def shown(self, text):
        return text.replace(str(self.top), TOP)

    def run(self, *arguments, status=0, options=None):
        """Runs a command of the program. Returns its standard output and its standard error."""
        done = subprocess.run([self.command, *map(str, arguments), *(self.options() if options is None else options)], cwd=self.path("work"),
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != status:
            raise Failed(f"{' '.join(map(str, arguments))}: exit {done.returncode}, and not {status}: {done.stdout}{done.stderr}")
        return self.shown(done.stdout), self.shown(done.stderr)

    def tool(self, *arguments, status=0, cwd=None):
        """Runs another program. Returns its standard output."""
        done = subprocess.run(list(map(str, arguments)), cwd=cwd or self.path("work"), env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != status:
            raise Failed(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return self.shown(done.stdout)

    @contextlib.contextmanager
    def server(self, *arguments, **folders):
        """Starts a server, waits until it is ready, and stops it in the end. Yields its URLs by their scheme."""
        output = self.path("work", f"server.{folders.get('statedir', 'state')}.log")
        with output.open("wb") as log:
            process = subprocess.Popen([self.command, "server", *map(str, arguments), *self.options(**folders)], cwd=self.path("work"),
                                       env=self.environment, stdout=log, stderr=log)
        try:
            until("the server", lambda: "is ready" in output.read_text() or process.poll() is not None)
            text = output.read_text()
            if "is ready" not in text:
                raise Failed(f"the server ended: {text}")
            yield {url.partition(":")[0]: url for url in re.findall(r"https?://[^ ,\n]*:\d+", text)}
            process.terminate()
            if process.wait(timeout=60) != 0:
                raise Failed(f"the server ended with {process.returncode}: {output.read_text()}")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def digests(self, folder):
        """The modes and digests of all files below a folder, to find any change."""
        out = {}
        for path in sorted(self.path(folder).rglob("*")):
            if path.is_symlink():
                out[str(path)] = os.readlink(path)
            elif path.is_file():
                out[str(path)] = (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest())
        return out


def until(what, done, seconds=60):
    for _ in range(seconds * 50):
        if done():
            return
        time.sleep(0.02)
    raise Failed(f"waited in vain: {what}")


def fetch(url, data=None, headers=None, method=None, ca=None, certificate=None):
    """Sends a request. Returns the status and the body. `certificate` is (certificate file, key file)."""
    context = None
    if url.startswith("https:"):
        context = ssl.create_default_context(cafile=str(ca))
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        if certificate:
            context.load_cert_chain(*map(str, certificate))
    request = urllib.request.Request(url, data, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60, context=context) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def pack(machine, file):
    """Writes the folder of a machine to an archive. The bytes depend only on the contents."""
    top = str(machine.top).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(machine.top.rglob("*")):
            name = path.relative_to(machine.top)
            if name.parts[0] in PASSING or path.is_socket() or name.name.endswith((".lock", ".lck")) and path.is_file() and not path.stat().st_size:
                continue
            info = archive.gettarinfo(path, str(name))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            if info.isfile() or info.islnk():
                # Hard links become files.
                data = path.read_bytes()
                if top in data:
                    if b"\0" in data:
                        raise Failed(f"{name} is binary and contains the path of the folder")
                    data = data.replace(top, TOP.encode())
                info.type, info.linkname, info.size = tarfile.REGTYPE, "", len(data)
                archive.addfile(info, io.BytesIO(data))
            elif info.issym() and os.path.isabs(info.linkname):
                raise Failed(f"{name} is an absolute link")
            else:
                archive.addfile(info)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(out.getvalue(), preset=9))


def unpack(file, machine):
    with tarfile.open(file) as archive:
        folders = []
        for info in archive:
            path = machine.path(info.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if info.isdir():
                path.mkdir(exist_ok=True)
                folders.append((path, info))
            elif info.issym():
                path.symlink_to(info.linkname)
            else:
                data = archive.extractfile(info).read()
                if b"\0" not in data:
                    data = data.replace(TOP.encode(), str(machine.top).encode())
                path.write_bytes(data)
                path.chmod(info.mode)
                os.utime(path, (info.mtime, info.mtime))
        for path, info in reversed(folders):
            path.chmod(info.mode)
            os.utime(path, (info.mtime, info.mtime))
