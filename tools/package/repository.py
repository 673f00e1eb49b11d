#!/usr/bin/env python3
"""Adds packages to a signed apt and a signed dnf repository in one folder.

    repository.py --key KEY [--url URL] DIR PACKAGE...

DIR/dists/debian12 is the apt suite for packages with +deb12 in their version. DIR/rpm is the dnf
repository. DIR/debian12.sources and DIR/bunraku.repo configure the package managers; the first one
contains the public key, and the second one names it (DIR/bunraku.asc). Packages that are already in
DIR remain. SOURCE_DATE_EPOCH is the date of the apt repository.
"""

import argparse
import datetime
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def gpg(key, *arguments, data=None):
    return output("gpg", "--batch", "--yes", "--local-user", key, *arguments, input=data)


def replace(path, data):
    """Writes a file in one step, so that a web server never serves a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_bytes(data if isinstance(data, bytes) else data.encode())
    new.replace(path)


def suite_of(version):
    """Returns the apt suite for a version: its release as in /etc/os-release, such as debian12."""
    match = re.search(r"\+(deb|ubuntu)([0-9.]+)$", version)
    if not match:
        sys.exit(f"The version {version} does not name the release it was built for (+deb12)")
    return {"deb": "debian"}.get(match[1], match[1]) + match[2]


def add_deb(folder, file):
    fields = dict(line.split(": ", 1) for line in output("dpkg-deb", "-f", file, "Package", "Version").decode().splitlines())
    suite = suite_of(fields["Version"])
    target = folder / "pool" / suite / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    return suite


def write_suite(folder, suite, key):
    """Writes the indexes of all packages in pool/SUITE, and a signed Release file last."""
    base = folder / "dists" / suite
    pool = folder / "pool" / suite
    architectures = sorted({name.stem.rsplit("_", 1)[1] for name in pool.glob("*.deb")})
    old = (base / "Release").read_text() if (base / "Release").exists() else ""
    lines = []
    for architecture in architectures:
        index = output("dpkg-scanpackages", "--multiversion", "--arch", architecture, f"pool/{suite}",
                       cwd=folder, stderr=subprocess.DEVNULL)
        place = base / "main" / f"binary-{architecture}"
        for name, data in (("Packages", index), ("Packages.gz", gzip.compress(index, mtime=0))):
            digest = hashlib.sha256(data).hexdigest()
            # A client that has read the Release file before a change still gets the indexes of that
            # Release file.
            replace(place / "by-hash" / "SHA256" / digest, data)
            replace(place / name, data)
            lines.append(f" {digest} {len(data)} main/binary-{architecture}/{name}\n")
        for path in (place / "by-hash" / "SHA256").iterdir():
            if path.name not in old and path.name not in "".join(lines):
                path.unlink()
    date = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    release = (f"Origin: Bunraku\nLabel: Bunraku\nSuite: {suite}\nCodename: {suite}\n"
               f"Date: {date:%a, %d %b %Y %H:%M:%S} UTC\nArchitectures: {' '.join(architectures)}\n"
               f"Components: main\nDescription: Bunraku for {suite}\nAcquire-By-Hash: yes\nSHA256:\n{''.join(lines)}").encode()
    replace(base / "Release", release)
    replace(base / "Release.gpg", gpg(key, "--armor", "--detach-sign", "--output", "-", data=release))
    replace(base / "InRelease", gpg(key, "--clearsign", "--output", "-", data=release))
    return architectures


def write_sources(folder, suite, architectures, url, public):
    key = "".join(f" {line or '.'}\n" for line in public.decode().splitlines())
    replace(folder / f"{suite}.sources",
            f"Types: deb\nURIs: {url}\nSuites: {suite}\nComponents: main\n"
            f"Architectures: {' '.join(architectures)}\nSigned-By:\n{key}")


def add_rpm(folder, file, key):
    target = folder / "rpm" / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(target.name + ".new")
    shutil.copyfile(file, new)
    signed = subprocess.run(["rpmsign", "--addsign", "--define", f"_gpg_name {key}", "--define", "__gpg /usr/bin/gpg", new],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if signed.returncode:
        sys.exit(f"rpmsign cannot sign {file}: {signed.stdout.decode()}")
    new.replace(target)


def write_rpm(folder, key, url):
    output("createrepo_c", "--quiet", "--no-database", "--general-compress-type", "gz", "--revision",
           os.environ.get("SOURCE_DATE_EPOCH", "0"), "--set-timestamp-to-revision", folder / "rpm")
    index = folder / "rpm" / "repodata" / "repomd.xml"
    replace(index.with_name("repomd.xml.asc"), gpg(key, "--armor", "--detach-sign", "--output", "-", data=index.read_bytes()))
    replace(folder / "bunraku.repo",
            f"[bunraku]\nname=Bunraku\nbaseurl={url}/rpm\nenabled=1\ngpgcheck=1\nrepo_gpgcheck=1\ngpgkey={url}/bunraku.asc\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", required=True)
    parser.add_argument("--url")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("packages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    for file in arguments.packages:
        if file.suffix not in (".deb", ".rpm") or not file.is_file():
            sys.exit(f"{file} is no .deb or .rpm file")
    url = (arguments.url or folder.as_uri()).rstrip("/")
    os.umask(0o022)
    public = output("gpg", "--batch", "--armor", "--export-options", "export-minimal", "--export", arguments.key)
    if not public:
        sys.exit(f"gpg has no key {arguments.key}")
    replace(folder / "bunraku.asc", public)
    suites = sorted({add_deb(folder, file) for file in arguments.packages if file.suffix == ".deb"})
    for suite in suites:
        architectures = write_suite(folder, suite, arguments.key)
        write_sources(folder, suite, architectures, url, public)
        print(folder / f"{suite}.sources")
    rpms = [file for file in arguments.packages if file.suffix == ".rpm"]
    for file in rpms:
        add_rpm(folder, file, arguments.key)
    if rpms:
        write_rpm(folder, arguments.key, url)
        print(folder / "bunraku.repo")


if __name__ == "__main__":
    main()
