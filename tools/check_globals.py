#!/usr/bin/env python3
"""Checks the global state of src/ against tools/globals.txt.

Reports a variable that outlives its function, or that functions share without passing it, and that
is not in the list: a `static` or `thread_local` variable, or a variable of a namespace, that is not
constant. Also reports an entry of the list that no longer exists (docs/design/0386)."""
import pathlib
import re
import sys

from unity_batches import declared, is_function, skip, statement, tokens

CONSTANT = {"const", "constexpr"}


def without_arguments(head):
    """Returns the tokens outside of template arguments, up to the value."""
    out, depth = [], 0
    for token in head:
        if token in ("=", "{") and depth == 0:
            break
        depth -= token == ">"
        if depth == 0 and token != ">":
            out.append(token)
        depth += token == "<"
    return out


def variable(code, at):
    """Returns the name of the mutable variable that the declaration at `at` defines, or None."""
    head, _ = statement(code, at)
    if is_function(head) or CONSTANT & set(without_arguments(head)) or {"using", "operator"} & set(head):
        return None
    names = [t for t in head if t not in ("static", "thread_local", "inline", "constinit", "extern")]
    if names and names[0] in ("struct", "class", "enum", "union"):
        # Defines a type, or a variable of such a type.
        names = names[1:] if len(names) == 3 and "{" not in names else []
    if not names or names[0] in ("typedef", "friend", "namespace", "static_assert") or "(" in head and "=" not in head:
        return None
    name = declared(names)
    if name or len(names) < 2:
        return name
    # A member that is defined outside of its class.
    ends = [i for i, t in enumerate(names) if t in ("=", "{")] or [len(names)]
    return names[ends[0] - 1] if names[ends[0] - 2] == "::" else None


def of_namespaces(code, at, end):
    """Yields the mutable variables of namespaces."""
    while at < end:
        token = code[at]
        if token == "namespace" or token == "inline" and code[at + 1] == "namespace":
            brace = code.index("{", at)
            if "=" in code[at:brace]:
                _, at = statement(code, at)
                continue
            close = skip(code, brace, "{", "}")
            yield from of_namespaces(code, brace + 1, close - 1)
            at = close
            continue
        if token in (";", "}", ")"):
            at += 1
            continue
        if token == "extern" and code[at + 1] == '""' and code[at + 2] == "{":
            at += 3
            continue
        if name := variable(code, at):
            yield name
        _, at = statement(code, at)


def found(text):
    """Returns the names of the global state in a file."""
    code, _ = tokens(text)
    out = set(of_namespaces(code, 0, len(code)))
    for at, token in enumerate(code):
        if token in ("static", "thread_local") and (at == 0 or code[at - 1] not in ("static", "constinit", "inline")):
            if name := variable(code, at):
                out.add(name)
    return out


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    permitted = {}
    for number, line in enumerate((root / "tools/globals.txt").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if not (match := re.fullmatch(r"(\S+): ([\w ]+) \| (.+)", line)):
            sys.exit(f"tools/globals.txt:{number}: expected 'FILE: NAMES | REASON'")
        permitted[match.group(1)] = set(match.group(2).split())
    problems = []
    for path in sorted([*root.glob("src/**/*.cc"), *root.glob("src/**/*.h")]):
        file = path.relative_to(root / "src").as_posix()
        if file.startswith("testing/"):
            continue
        text = path.read_text()
        names, allowed = found(text), permitted.pop(file, set())
        for name in sorted(names - allowed):
            problems.append(f"src/{file}: {name} is global state; pass it, or give a reason in tools/globals.txt")
        for name in sorted(allowed - names):
            problems.append(f"tools/globals.txt: src/{file} has no global {name}")
    problems += [f"tools/globals.txt: there is no file src/{file}" for file in permitted]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print("globals: as listed")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
