#!/usr/bin/env python3
"""Checks the includes of src/ against tools/layers.txt.

Reports an include of a module or folder that the table does not allow, a module that the table
allows but nothing includes, an expensive header in a public header, a banned name, and code of the
compiler that reads the system other than through the I/O interface (docs/design/0054)."""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
# These headers are expensive to compile (docs/design/0002-modules-and-layers.md).
BANNED_IN_HEADERS = {"regex", "iostream", "ranges"}
BANNED = {"regex"}
# Names that src/ must not use, and their replacement.
BANNED_NAMES = [
    (re.compile(r"\bstd::sto(i|l|ul|ll|ull|f|d|ld)\b"), "base::parse_integer (base/number.h): it throws nothing"),
]
# The same, but only in some folders.
BANNED_NAMES_IN = {
    folder: [
        (
            re.compile(r"\bstd::(jthread|thread|condition_variable|this_thread)\b"),
            "an executor or a Condition of the Runtime (sys/executor.h)",
        )
    ]
    for folder in ("net/http", "services/server", "store/db", "store/engine")
}


# Code in these folders must read the system through the I/O interface, which records every read.
IO_FOLDERS = (
    "language/environment",
    "language/evaluator",
    "language/erb",
    "language/function",
    "language/hiera",
    "language/template",
    "compile/compiler",
)
IO_INTERFACE = "a compile reads through environment::Environment or evaluator::Inputs (docs/design/0054)"
# The implementation of the I/O interface.
IO_FILES = {
    "language/environment/files.cc",
    "language/environment/regular_files.cc",
    "language/environment/watched_files.cc",
    "language/environment/commit_files.cc",
    "compile/compiler/system_inputs.cc",
}
IO_INCLUDES = re.compile(
    r"^(fstream|filesystem|random|dirent\.h|fcntl\.h|glob\.h|ftw\.h|unistd\.h|pwd\.h|grp\.h|netdb\.h"
    r"|spawn\.h|sys/.*)$"
)
IO_NAMES = [
    re.compile(pattern)
    for pattern in (
        r"\b(secure_)?getenv\b|\benviron\b",
        # Plain calls and ::open(), but not Environment::open() or x.stat().
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
# An identifier of the catalog that is not part of its content.
IO_NAMES_BUT = [(re.compile(r"\brandom_uuid\b"), {"compile/compiler/emit.cc"})]
# Files that use the real file system by default.
DISK_FILES = {
    "language/environment/environment.cc",
    "language/environment/environment.h",
    "language/environment/environment_open.cc",
    "language/environment/files.h",
    "language/environment/snapshots.cc",
    "language/environment/file_fingerprints.cc",
    "compile/compiler/compile.h",
}


def io_findings(file, line):
    """Returns the findings for a line that bypasses the I/O interface."""
    code = line.split("//")[0]
    include = INCLUDE.match(line)
    if include:
        name = include[1] or include[2]
        return [f"<{name}> is not allowed here; {IO_INTERFACE}"] if IO_INCLUDES.match(name) else []
    found = []
    for pattern in IO_NAMES:
        match = pattern.search(code)
        if match and not (match[0] == "disk_files" and file in DISK_FILES):
            found.append(f"{match[0].strip()} is not allowed here; {IO_INTERFACE}")
    for pattern, files in IO_NAMES_BUT:
        if pattern.search(code) and file not in files:
            found.append(f"{pattern.search(code)[0]} is not allowed here; {IO_INTERFACE}")
    return found


class Layers:
    """The table of tools/layers.txt."""

    def __init__(self, path):
        self.folders = {}  # from each module to its folders, lowest first
        self.uses = {}  # from each module to the modules that it may include
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            match = re.fullmatch(r"(\w+):([\w ]*)\|([\w ]*)", line)
            if not match:
                sys.exit(f"{path}:{number}: expected 'module: folders | modules'")
            module, uses = match[1], match[3].split()
            for name in uses:
                if name not in self.uses:
                    sys.exit(f"{path}:{number}: {module} uses {name}, which is not a lower module")
            self.folders[module] = match[2].split()
            self.uses[module] = set(uses)

    def locate(self, parts):
        """Returns (module, folder) of a path below src/, or None if the table does not list it."""
        module = parts[0]
        if len(parts) < 2 or module not in self.folders:
            return None
        if not self.folders[module]:
            return module, ""
        return (module, parts[1]) if len(parts) > 2 and parts[1] in self.folders[module] else None

    def allows(self, source, target):
        """Reports whether a file of `source` may include a header of `target`; both are (module,
        folder)."""
        if source[0] != target[0]:
            return target[0] in self.uses[source[0]]
        order = self.folders[source[0]]
        return source[1] == target[1] or order.index(target[1]) < order.index(source[1])


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    table = root / "tools" / "layers.txt"
    layers = Layers(table)
    source = root / "src"
    findings = []
    unused = {(module, name) for module, names in layers.uses.items() for name in names}
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        parts = path.relative_to(source).parts
        if len(parts) == 1 or parts[0] == "testing":
            continue
        file = "/".join(parts)
        own = layers.locate(parts)
        if own is None:
            findings.append(f"src/{file}: its folder is missing in tools/layers.txt")
            continue
        folder = "/".join(own).rstrip("/")
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            where = f"src/{file}:{number}"
            for name, instead in BANNED_NAMES + BANNED_NAMES_IN.get(folder, []):
                if name.search(line):
                    findings.append(f"{where}: {name.search(line)[0]} is not allowed here; {instead}")
            if folder in IO_FOLDERS and file not in IO_FILES:
                findings += [f"{where}: {finding}" for finding in io_findings(file, line)]
            match = INCLUDE.match(line)
            if not match:
                continue
            included, system = match.groups()
            if system:
                if system in BANNED or (path.suffix == ".h" and system in BANNED_IN_HEADERS):
                    findings.append(f"{where}: <{system}> is not allowed here")
                continue
            target = layers.locate(included.split("/"))
            if target is None:
                findings.append(f'{where}: "{included}" is not written from src/')
                continue
            unused.discard((own[0], target[0]))
            if not layers.allows(own, target):
                findings.append(f"{where}: {folder} may not include {'/'.join(target)}")
    for module, name in sorted(unused):
        findings.append(f"{table}: {module} does not use {name}")
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
