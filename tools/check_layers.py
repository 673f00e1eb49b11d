#!/usr/bin/env python3
"""Fails where a file under src/ includes a folder that its own may not lean on (layers.txt), where a
public header pulls in something expensive, where a name is used that has no place here, or where the
table itself has a circle."""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
# Costly in every file that includes the header (see docs/design/0002-the-house.md).
BANNED_IN_HEADERS = {"regex", "iostream", "ranges"}
BANNED = {"regex"}
# Names that are not for src/, and what stands for them.
BANNED_NAMES = [
    (re.compile(r"\bstd::sto(i|l|ul|ll|ull|f|d|ld)\b"), "base::parse_integer (base/number.h): it throws nothing"),
]
# The same in some rooms only.
BANNED_NAMES_IN = {
    room: [
        (
            re.compile(r"\bstd::(jthread|thread|condition_variable|this_thread)\b"),
            "an executor or a Condition of the Runtime (sys/executor.h)",
        )
    ]
    for room in ("http", "server", "store")
}


def read_layers(path):
    layers = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, _, rest = line.partition(":")
        allowed = rest.split()
        for name in allowed:
            if name != "*" and name not in layers:
                sys.exit(f"{path}:{number}: {folder} leans on {name}, which does not stand above it")
        layers[folder.strip()] = set(allowed)
    return layers


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    layers = read_layers(root / "tools" / "layers.txt")
    source = root / "src"
    findings = []
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        parts = path.relative_to(source).parts
        folder = parts[0] if len(parts) > 1 else None
        if folder is not None and folder not in layers:
            findings.append(f"{path}: folder {folder} is missing in tools/layers.txt")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            where = f"src/{'/'.join(parts)}:{number}"
            for name, instead in BANNED_NAMES + BANNED_NAMES_IN.get(folder, []):
                if name.search(line):
                    findings.append(f"{where}: {name.search(line)[0]} is not for this place; {instead}")
            match = INCLUDE.match(line)
            if not match:
                continue
            own, system = match.groups()
            if system:
                if system in BANNED or (path.suffix == ".h" and system in BANNED_IN_HEADERS):
                    findings.append(f"{where}: <{system}> is not for this place")
                continue
            target = own.split("/")[0]
            if "/" not in own or not (source / target).is_dir():
                findings.append(f'{where}: "{own}" is not written from src/')
            elif folder is not None and target not in (folder, "base"):
                allowed = layers[folder]
                if "*" not in allowed and target not in allowed:
                    findings.append(f"{where}: {folder} may not include {target}")
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
