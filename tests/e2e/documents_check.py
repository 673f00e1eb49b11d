#!/usr/bin/env python3
"""Checks that the subcommands, actions, options and scripts exist in commands that cannot run.

usage: documents_check.py BUNRAKU SOURCE BLOCK
Runs each bunraku command with all its arguments and --help. The program checks options before it prints help.
"""
import os
import re
import shlex
import subprocess
import sys

OPERATORS = {"|", "||", "&&", ";", "&", "(", ")", "<", ">", ">>", "2>", "2>&1", ">&"}


def commands(text):
    """Returns simple commands, each a list of words, without the operators between them."""
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"\$\(([^()]*)\)", r"; \1 ; ", text)
    for line in text.split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        words = []
        try:
            for word in lexer:
                if word in OPERATORS:
                    yield words
                    words = []
                    if word in ("<", ">", ">>", "2>"):
                        next(iter(lexer), None)
                else:
                    words.append(word)
        except ValueError:
            pass  # a quoted string that continues on the next line
        yield words


def has_actions(command, text):
    return re.search(r"^ +(\|? *)?`?bunraku %s [a-z|(]" % re.escape(command), text, re.M)


def word_in(word, text):
    return re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), text)


def main():
    program, source, block = sys.argv[1:]
    with open(block, encoding="utf-8") as fh:
        text = fh.read()
    failures = 0
    for words in commands(text):
        while words and (words[0] in ("sudo", "nice", "time", "exec") or re.fullmatch(r"\w+=.*", words[0])):
            words = words[1:]
        if not words:
            continue
        name = os.path.basename(words[0])
        if name in ("bunraku", "puppet"):
            result = subprocess.run([program] + words[1:] + ["--help"], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=60, check=False)
            action = words[2] if len(words) > 2 and re.fullmatch(r"[a-z_-]+", words[2]) else None
            if result.returncode != 0:
                failures += 1
                print("%s: %s" % (" ".join(words), result.stderr.strip()))
            elif action and has_actions(words[1], result.stdout) and not word_in(action, result.stdout):
                failures += 1
                print("%s: the help does not list %s" % (" ".join(words), action))
        elif re.match(r"(script|bench|tests|examples|tools)/", words[0]) and \
                not os.path.exists(os.path.join(source, words[0])):
            failures += 1
            print("%s does not exist" % words[0])
    sys.exit(1 if failures else 0)


main()
