#!/usr/bin/env python3
"""Prints the differences between two files of facts (facter --json): facts_differ.py PEER OURS.

Facts that change all the time (uptimes, free memory) are compared by their type only. The last line
is `facts: N of M values equal`.
"""
import json
import re
import sys

CHANGING = re.compile(r"(^|\.)(uptime.*|seconds|minutes|hours|available.*|used.*|capacity|free|load_averages\..*|\d+m)$")


def flat(value, path=""):
    """Yields path and value of each leaf; lists and empty hashes are leaves."""
    if isinstance(value, dict) and value:
        for key, member in value.items():
            yield from flat(member, f"{path}.{key}" if path else key)
    else:
        yield path, value


def main():
    theirs, ours = (dict(flat(json.load(open(name, encoding="utf-8")))) for name in sys.argv[1:3])
    same = 0
    for path in sorted(set(theirs) | set(ours)):
        if path not in ours:
            print(f"missing   {path}: {theirs[path]!r:.100}")
        elif path not in theirs:
            print(f"extra     {path}: {ours[path]!r:.100}")
        elif theirs[path] == ours[path] or CHANGING.search(path) and isinstance(theirs[path], type(ours[path])):
            same += 1
        else:
            print(f"different {path}: {ours[path]!r:.100}, not {theirs[path]!r:.100}")
    total = len(set(theirs) | set(ours))
    print(f"facts: {same} of {total} values equal")
    return same != total


if __name__ == "__main__":
    sys.exit(main())
