#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares texts that contain error messages of Ruby.

Expectations have the messages of Ruby 3.1, which differ from those of Ruby 3.3:
- Ruby 3.1 adds the source line and a line of ^ to the message.
- For a missing method, Ruby 3.1 shows the receiver: 'for "a":String', "for nil:NilClass". Ruby 3.3
  shows what it is: "for an instance of String", "for nil". It uses the method `name` of the class. If
  `name` is not a string, as in Puppet's providers, it shows the address of the class.
- The expected tokens of a syntax error include "dummy end" in Ruby 3.3.

usage: ruby_texts.py EXPECTED FOUND    compares two files, and prints the difference
"""
import difflib
import functools
import re
import subprocess
import sys

CONSTANT = r"[A-Z]\w*(?:::[A-Z]\w*)*"
ANONYMOUS = r"#<(?:Class|Module):0x\w+>"
EXCERPT = re.compile(r"\n\n[^\n]*\n *\^+(?=\n| \(|$)")
CHANGED = re.compile(
    r"(?P<what>undefined (?:local variable or )?method `[^']+'|(?:private|protected) method `[^']+' called) for "
    rf"(?:(?P<plain>nil|true|false|main):(?:NilClass|TrueClass|FalseClass|Object)"
    rf"|(?P<named>{CONSTANT}):(?P<kind>Class|Module)"
    rf"|(?P<nameless>{ANONYMOUS})"
    rf"|\#<(?:{ANONYMOUS}):0x\w+.*>"
    rf"|\#<(?P<shown>{CONSTANT}):0x\w+.*>"
    rf"|.*?:(?P<type>{CONSTANT}))(?=$| \(|:? at |, )"
    r"|(?P<syntax>syntax error, .*expecting `end')$")


def _newer(match):
    """Returns a regular expression for the text of Ruby 3.3."""
    if match["syntax"]:
        return re.escape(match["syntax"] + " or dummy end")
    if match["plain"]:
        receiver = match["plain"]
    elif match["kind"]:
        receiver = f"{match['kind'].lower()} {match['named']}"
    elif match["nameless"]:
        receiver = rf"(?:class|module) {ANONYMOUS}"
    elif match["shown"] or match["type"]:
        receiver = rf"an instance of (?:{match['shown'] or match['type']}|{ANONYMOUS})"
    else:
        receiver = rf"an instance of (?:{ANONYMOUS}|[\w:]+)"
    return re.escape(match["what"]) + " for " + receiver


def _line_matches(want, have):
    if want == have:
        return True
    pattern, at = "", 0
    for match in CHANGED.finditer(want):
        pattern += re.escape(want[at:match.start()]) + _newer(match)
        at = match.end()
    return at > 0 and re.fullmatch(pattern + re.escape(want[at:]), have) is not None


@functools.cache
def version():
    """Returns the version of the Ruby of this machine, or () without one."""
    try:
        done = subprocess.run(["ruby", "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(int(part) for part in done.stdout.split(".")[:2])


def difference(want, have):
    """Returns the lines that differ, or an empty string if `have` is `want` in the words of this
    machine's Ruby."""
    if version() >= (3, 3) and want != have:
        want = EXCERPT.sub("", want)
        wanted, got = want.split("\n"), have.split("\n")
        if len(wanted) == len(got):
            want = "\n".join(h if _line_matches(w, h) else w for w, h in zip(wanted, got))
    return "".join(difflib.unified_diff(want.splitlines(True), have.splitlines(True), "expected", "got", n=1))


def same(want, have):
    return not difference(want, have)


def main():
    texts = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8", errors="surrogateescape") as file:
            texts.append(file.read())
    told = difference(*texts)
    sys.stdout.write(told)
    sys.exit(1 if told else 0)


if __name__ == "__main__":
    main()
