#!/usr/bin/env python3
"""Writes a software bill of materials (SPDX 2.3, JSON) for a package of Bunraku.

    sbom.py --build DIR --version VERSION [--portable] PACKAGE

The libraries are those on the command line that links the program, and the headers that contain code.
Their versions are those of the Debian packages that they belong to, on the machine that built the
program. --portable describes the program of the tarball and of the RPM package, which includes them.
SOURCE_DATE_EPOCH is the date of the document.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# The static libraries that script/package uses instead of shared ones (tools/package/portable.sh).
STATIC = ("sqlite3", "gdbm", "utf8proc", "yaml", "z", "ssl", "crypto", "crypt", "fmt")
# Included in the package as shared libraries.
INCLUDED = ("onig", "md4c")
# Left out of the portable program.
OMITTED = ("mimalloc",)
# Parts of the C library.
C_LIBRARY = ("c", "m", "dl", "pthread", "rt")
# Headers with code that is compiled into the program. The portable program also uses that of fmt.
HEADERS = ("/usr/include/boost/version.hpp",)
FMT_HEADER = "/usr/include/fmt/format.h"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def cached(build, name):
    match = re.search(rf"^{name}:[A-Z]*=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return match[1] if match else ""


def linked_files(build, compiler):
    """Returns the libraries on the command line of the linker: {"ssl": path}."""
    line = output("ninja", "-C", build, "-t", "commands", "bunraku").splitlines()[-1]
    found = {}
    for word in line.split():
        match = re.fullmatch(r"(/.*/)?lib([A-Za-z0-9_+-]+)\.(?:so|a)[0-9.]*", word)
        if match and match[1]:
            found[match[2]] = word
        elif word.startswith("-l"):
            path = output(compiler, f"-print-file-name=lib{word[2:]}.so").strip()
            found[word[2:]] = path
    return found


def package_of(path):
    """Returns (name, version, architecture, source) of the Debian package of a file."""
    # The library itself, and not a link of a development package to it. Files below /lib belong to
    # packages under that name even if /lib is a link to /usr/lib.
    real = os.path.realpath(path)
    for candidate in (real, real.removeprefix("/usr"), path):
        found = subprocess.run(["dpkg-query", "-S", candidate], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, check=False)
        if found.returncode == 0:
            name = found.stdout.split(": ")[0].split(",")[0]
            fields = output("dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Architecture}\t${source:Package}", name)
            return tuple(fields.split("\t"))
    sys.exit(f"No package contains {path}")


def components(build, portable):
    """Returns [(relation, name, version, architecture, source)], sorted and without duplicates."""
    compiler = cached(build, "CMAKE_CXX_COMPILER")
    found = set()
    for name, path in linked_files(build, compiler).items():
        if name in C_LIBRARY or portable and name in OMITTED:
            continue
        static = portable and name in STATIC
        if static:
            path = FMT_HEADER if name == "fmt" else output(compiler, f"-print-file-name=lib{name}.a").strip()
        relation = "STATIC_LINK" if static else "DYNAMIC_LINK"
        if portable and name in INCLUDED:
            relation = "CONTAINS"
        found.add((relation, *package_of(path)))
    for name in ("libstdc++", "libgcc"):
        path = output(compiler, f"-print-file-name={name}.a").strip()
        shared = output(compiler, f"-print-file-name={'libstdc++.so.6' if name == 'libstdc++' else 'libgcc_s.so.1'}").strip()
        found.add(("STATIC_LINK", *package_of(path)) if portable else ("DYNAMIC_LINK", *package_of(shared)))
    found.add(("DYNAMIC_LINK", *package_of(output(compiler, "-print-file-name=libc.so.6").strip())))
    for header in HEADERS:
        found.add(("STATIC_LINK", *package_of(header)))
    return sorted(found)


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def document(arguments):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    digest = hashlib.sha256(arguments.package.read_bytes()).hexdigest()
    os_release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    distribution = os_release["ID"].strip('"')
    packages = [{
        "SPDXID": "SPDXRef-bunraku", "name": "bunraku", "versionInfo": arguments.version,
        "packageFileName": arguments.package.name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "The Bunraku authors",
    }]
    relationships = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-bunraku"}]
    for relation, name, version, architecture, source in components(arguments.build, arguments.portable):
        spdx = identifier(f"{name}-{relation.lower()}")
        packages.append({
            "SPDXID": spdx, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "sourceInfo": f"built from the {distribution} source package {source}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/{distribution}/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"}],
        })
        relationships.append({"spdxElementId": "SPDXRef-bunraku", "relationshipType": relation, "relatedSpdxElement": spdx})
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": arguments.package.name,
        "documentNamespace": f"https://bunraku.example.org/spdx/{arguments.package.name}-{digest}",
        "creationInfo": {"created": created, "creators": ["Tool: bunraku-sbom", "Organization: The Bunraku authors"]},
        "packages": packages, "relationships": relationships,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("package", type=pathlib.Path)
    arguments = parser.parse_args()
    target = arguments.package.with_name(arguments.package.name + ".spdx.json")
    target.write_text(json.dumps(document(arguments), indent=1) + "\n")
    print(target)


if __name__ == "__main__":
    main()
