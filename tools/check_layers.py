#!/usr/bin/env python3
"""Fails where a file under src/ includes a folder that its own may not lean on (layers.txt), where a
public header pulls in something expensive, where a name is used that has no place here, where a room
of compiles reads the world by another way than the door (docs/design/0054), or where the table itself
has a circle."""
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


# What a compile reads comes by the door, which notes it. These rooms have no other way out of the
# process.
DOOR_ROOMS = ("environment", "evaluator", "erb", "function", "hiera", "template", "compiler")
DOOR = "a compile reads by the door: environment::Environment or evaluator::Inputs (docs/design/0054)"
# The door itself.
DOOR_FILES = {
    "environment/files.cc",
    "environment/watched_files.cc",
    "environment/commit_files.cc",
    "compiler/system_inputs.cc",
}
DOOR_INCLUDES = re.compile(
    r"^(fstream|filesystem|random|dirent\.h|fcntl\.h|glob\.h|ftw\.h|unistd\.h|pwd\.h|grp\.h|netdb\.h"
    r"|spawn\.h|sys/.*)$"
)
DOOR_NAMES = [
    re.compile(pattern)
    for pattern in (
        r"\b(secure_)?getenv\b|\benviron\b",
        # By their own names or as ::open; Environment::open and x.stat() are others.
        r"(?<![\w>])::(open|openat|read|stat|lstat|fstat|access|readlink|realpath|opendir|glob|getcwd|system|fork"
        r"|exec\w*|posix_spawn\w*|socket|connect|time|uname|getuid|geteuid)\s*\(",
        r"(?<![\w.>:])(fopen|freopen|popen|tmpfile|mkstemp|mkostemp|mkdtemp|readlink|opendir|realpath|getcwd"
        r"|getaddrinfo|gethostbyname|gethostname|getpwnam\w*|getpwuid\w*|getgrnam\w*|uname)\s*\(",
        r"\bstd::(filesystem|[io]?fstream|random_device|system|time|rand|srand)\b",
        r"\bsystem_clock\b|\bclock_gettime\b|\bgettimeofday\b|\blocaltime(_r)?\b|(?<![\w.>:])time\s*\(\s*(nullptr|NULL|0|&)",
        r"\bgetrandom\b|\bgetentropy\b|\barc4random\w*|\bRAND_bytes\b|(?<![\w.>:])s?rand\s*\(",
        r"\bdisk_files\b|\benvironment::read_file\b",
        r"\bsys::",
    )
]
# A stamp of a catalog, no part of what it is.
DOOR_NAMES_BUT = [(re.compile(r"\brandom_uuid\b"), {"compiler/emit.cc"})]
# Where the disk is what counts where nothing else is given.
DISK_FILES = {
    "environment/environment.cc",
    "environment/environment.h",
    "environment/files.h",
    "environment/snapshots.cc",
    "environment/witness.cc",
    "compiler/compile.h",
}


def door_findings(file, line):
    """What a line of a file of the rooms of compiles reads by itself."""
    code = line.split("//")[0]
    include = INCLUDE.match(line)
    if include:
        name = include[1] or include[2]
        return [f"<{name}> is not for this place; {DOOR}"] if DOOR_INCLUDES.match(name) else []
    found = []
    for pattern in DOOR_NAMES:
        match = pattern.search(code)
        if match and not (match[0] == "disk_files" and file in DISK_FILES):
            found.append(f"{match[0].strip()} is not for this place; {DOOR}")
    for pattern, files in DOOR_NAMES_BUT:
        if pattern.search(code) and file not in files:
            found.append(f"{pattern.search(code)[0]} is not for this place; {DOOR}")
    return found


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
            file = "/".join(parts)
            if folder in DOOR_ROOMS and file not in DOOR_FILES:
                findings += [f"{where}: {finding}" for finding in door_findings(file, line)]
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
