#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites error texts of Ruby as newer versions of Ruby word them.

Expectations have the texts of Ruby 3.1 and 3.2, which Puppet 8.11 includes. Since 3.3, Ruby does not
show the receiver of a missing method: "for nil" instead of "for nil:NilClass", and "for an instance of
String" instead of 'for "a":String'.

usage: ruby_texts.py <EXPECTED    prints EXPECTED with the texts of the Ruby of this machine
"""
import functools
import re
import subprocess
import sys

CONSTANT = r"[A-Z]\w*(?:::[A-Z]\w*)*"
ANONYMOUS = r"#<(?:Class|Module):0x\w+>"
MISSING = re.compile(
    r"(?P<what>undefined (?:local variable or )?method `[^']+'|(?:private|protected) method `[^']+' called) for "
    rf"(?:(?P<plain>nil:NilClass|true:TrueClass|false:FalseClass|main:Object)"
    rf"|(?P<named>{CONSTANT}|{ANONYMOUS}):(?P<kind>Class|Module)"
    rf"|(?P<anonymous>{ANONYMOUS})"
    rf"|\#<(?P<shown>{CONSTANT}|#<Class:0x\w+>):0x\w+.*>"
    rf"|.*?:(?P<type>{CONSTANT}))(?=$| \(|:? at |, |\\n)", re.M)


def _worded(match):
    if match["plain"]:
        receiver = match["plain"].split(":")[0]
    elif match["kind"]:
        receiver = f"{match['kind'].lower()} {match['named']}"
    elif match["anonymous"]:
        receiver = f"{match['anonymous'][2:].split(':')[0].lower()} {match['anonymous']}"
    else:
        receiver = f"an instance of {match['shown'] or match['type']}"
    return f"{match['what']} for {receiver}"


def as_ruby_3_3(text):
    return MISSING.sub(_worded, text)


@functools.cache
def version():
    """Returns the version of the Ruby of this machine, or () without one."""
    try:
        done = subprocess.run(["ruby", "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(int(part) for part in done.stdout.split(".")[:2])


def here(text):
    """Returns `text` as the Ruby of this machine words it."""
    return as_ruby_3_3(text) if version() >= (3, 3) else text


def same(want, have):
    """Reports whether each line of `have` is the one of `want`, or the one that the Ruby of this
    machine prints instead. (Bunraku's native code always has Puppet's texts.)"""
    if want == have:
        return True
    wanted, got = want.split("\n"), have.split("\n")
    return len(wanted) == len(got) and all(h in (w, here(w)) for w, h in zip(wanted, got))


if __name__ == "__main__":
    sys.stdout.write(here(sys.stdin.read()))
