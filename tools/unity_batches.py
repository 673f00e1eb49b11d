#!/usr/bin/env python3
"""Distributes source files to unity files, which compile several files as one (tools/unity.cmake).

    unity_batches.py SRC FILE...    prints one unity file a line: the names of its files

Files that share a unity file share their local names. Two files with the same local function, type
or constant, or with a local name that the other one defines for all, are put into different unity
files. A unity file never spans two folders. The names in TABLES may occur in many files of a
folder, because tools/unity.cmake renames them.
"""
import pathlib
import re
import sys

BATCH = 8
TABLES = {"kAttributes", "kEntities", "kFunctions", "kKeys", "kParsed", "kPosix", "kProviders", "kUpdate"}
# The generated file has thousands of lines.
ALONE = re.compile(r"^language/function/stdlib_releases$")

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/
    |R"(?P<delimiter>[^()\s]*)\(.*?\)(?P=delimiter)"
    |"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
    |^[ \t]*\#(?:\\\n|[^\n])*
    |[A-Za-z_]\w*|\d[\w.']*|::|->|\[\[.*?\]\]|[^\s]""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")
UNDEF = re.compile(r"\s*#\s*undef\s+(\w+)")
# Words before a name that is defined; none of them is such a name.
WORDS = {
    "const", "constexpr", "constinit", "static", "inline", "extern", "thread_local", "auto", "void", "bool", "char",
    "int", "unsigned", "static_assert", "long", "short", "double", "float", "noexcept", "explicit", "virtual", "typename", "friend",
}


def tokens(text):
    """Returns the tokens of C++ code without comments and texts, and the macros that remain defined."""
    out, macros = [], set()
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.startswith(("//", "/*", "[[")):
            continue
        if token.lstrip().startswith("#"):
            if define := DEFINE.match(token):
                macros.add(define.group(1))
            if undef := UNDEF.match(token):
                macros.discard(undef.group(1))
            continue
        if token[0] in "\"'" or token.startswith('R"'):
            token = '""'
        out.append(token)
    return out, macros


def skip(code, at, opening, closing):
    """Returns the index behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(code):
        depth += (code[at] == opening) - (code[at] == closing)
        at += 1
        if depth == 0:
            break
    return at


def skip_template(code, at):
    """Returns the index behind `template <..>`."""
    depth, at = 0, at + 1
    while at < len(code):
        if code[at] == "(":
            at = skip(code, at, "(", ")")
            continue
        depth += (code[at] == "<") - (code[at] == ">")
        at += 1
        if depth == 0:
            break
    return at


def statement(code, at):
    """Reads a declaration: its tokens without the content of brackets, and the index behind it."""
    head, start = [], at
    while at < len(code) and code[at] == "template":
        at = skip_template(code, at)
    while at < len(code):
        token = code[at]
        if token == ";":
            return head, at + 1
        if token == "(":
            end = skip(code, at, "(", ")")
            head += ["(", ")"]
            at = end
        elif token == "[":
            at = skip(code, at, "[", "]")
            head.append("[")
        elif token == "{":
            end = skip(code, at, "{", "}")
            head.append("{")
            at = end
            # A function or a namespace ends here; a type or a variable ends with a semicolon.
            if is_function(head):
                return head, at
        elif token == "=" and "operator" not in head:
            head.append("=")
            at += 1
            while at < len(code) and code[at] != ";":
                at = skip(code, at, code[at], {"(": ")", "{": "}", "[": "]"}[code[at]]) if code[at] in "({[" else at + 1
        else:
            head.append(token)
            at += 1
        if at <= start:
            at = start + 1
    return head, at


def is_function(head):
    return "(" in head and "=" not in head[: head.index("(")]


def declared(head):
    """Returns the name that a declaration defines in its namespace, or None."""
    if not head:
        return None
    words = [t for t in head if t not in WORDS]
    if not words:
        return None
    if words[0] in ("struct", "class", "enum", "union"):
        names = [t for t in words[1:] if re.match(r"[A-Za-z_]", t) and t not in ("class", "struct", "final")]
        if "{" in words or ":" in words or len(words) <= 3:
            return None if "::" in words[: words.index("{") if "{" in words else None] else (names[0] if names else None)
    for at, token in enumerate(head):
        if token in ("(", "=", "[", "{", ":") and at > 0:
            name = head[at - 1]
            if at > 1 and head[at - 2] == "::" or "operator" in head[:at]:
                return None
            return name if re.match(r"[A-Za-z_]\w*$", name) and name not in WORDS else None
    name = head[-1]
    return name if len(words) > 1 and re.match(r"[A-Za-z_]\w*$", name) else None


class Names:
    """The names that a file defines in its namespaces, as pairs of namespace and name."""

    def __init__(self, text):
        code, macros = tokens(text)
        self.local = {("", m) for m in macros}
        self.shared, self.using, self.opened = set(), {}, set()
        self.foreign = set()  # names of the headers that the file includes
        self.renamed = set()  # those of them that the headers declare with "using"
        self.includes = INCLUDE.findall(text)
        self._scan(code, 0, len(code), (), False)

    def _scan(self, code, at, end, space, anonymous):
        while at < end:
            token = code[at]
            if token == "namespace" or token == "inline" and code[at + 1] == "namespace":
                brace = code.index("{", at)
                if "=" in code[at:brace]:
                    _, at = statement(code, at)
                    continue
                close = skip(code, brace, "{", "}")
                name = tuple(t for t in code[at:brace] if t not in ("namespace", "inline", "::"))
                self._scan(code, brace + 1, close - 1, space + name, anonymous or not name)
                at = close
                continue
            if token in (";", "}", ")"):
                at += 1
                continue
            if token == "extern" and code[at + 1] == '""' and code[at + 2] == "{":
                at += 3
                continue
            head, at = statement(code, at)
            if head and head[0] == "using":
                self._use(head, "::".join(space))
                continue
            name = declared(head)
            if name is None or name in TABLES:
                continue
            before = head[: head.index("(")] if "(" in head and is_function(head) else head
            constant = not is_function(head) and ("constexpr" in head or head[0] == "const")
            local = anonymous or "static" in before or constant and "inline" not in head and "extern" not in head
            (self.local if local else self.shared).add(("::".join(space), name))

    def _use(self, head, space):
        if "=" in head:
            self.local.add((space, head[1]))
        elif head[1] == "namespace":
            self.opened.add((space, "".join(head[2:])))
        else:
            self.using[(space, head[-1])] = "".join(head[1:])


def clash(a, b):
    """Returns the names because of which two files cannot share a unity file."""
    out = a.local & b.local | a.local & b.shared | a.shared & b.local
    for one, other in ((a, b), (b, a)):
        out |= one.local & (other.foreign - one.foreign)
        defined = other.local | other.shared | (other.foreign - one.foreign - other.renamed)
        # Two declarations with "using" are taken to mean the same, even with different paths.
        out |= one.using.keys() & defined
    return out


class Headers:
    """The names of the project's headers."""

    def __init__(self, root):
        self.root, self.own, self.all, self.renamed = root, {}, {}, set()

    def names(self, header):
        if header not in self.own:
            path = self.root / header
            self.own[header] = Names(path.read_text()) if path.is_file() else Names("")
        return self.own[header]

    def reached(self, header):
        """Returns the names of a header and of those that it includes."""
        if header not in self.all:
            self.all[header] = set()  # for cycles
            own = self.names(header)
            self.renamed |= own.using.keys()
            out = own.shared | own.local | own.using.keys()
            self.all[header] = out.union(*(self.reached(h) for h in own.includes))
        return self.all[header]


def read(root, files):
    """Returns the names of each file."""
    headers, out = Headers(root), {}
    for file in files:
        names = out[file] = Names((root / f"{file}.cc").read_text())
        names.foreign = set().union(*(headers.reached(h) for h in names.includes))
        names.renamed = names.foreign & headers.renamed
        names.shared -= names.foreign
        for space, opened in names.opened:
            full = f"{space}::{opened}"
            names.using |= {(space, n): f"{full}::{n}" for where, n in names.foreign | names.shared if where == full}
    return out


def batches(names):
    """Distributes files, in the order of `names`, to as few unity files as the clashes allow."""
    out, open_batches, folder = [], [], None
    for file, own in names.items():
        if ALONE.match(file):
            continue
        parent = "/".join(file.split("/")[:-1][:2])
        if parent != folder:
            open_batches, folder = [], parent
        for batch in open_batches:
            if len(batch) < BATCH and not any(clash(own, names[other]) for other in batch):
                batch.append(file)
                break
        else:
            batch = [file]
            open_batches.append(batch)
            out.append(batch)
    return out


def main():
    for batch in batches(read(pathlib.Path(sys.argv[1]), sys.argv[2:])):
        print(" ".join(batch))


if __name__ == "__main__":
    main()
