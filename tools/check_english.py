#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the English of comments and documents, and the subjects of commits.

Counts phrases that word-for-word translations use and technical English does not: programs that
"tell" or "say", relative clauses as subjects, "nobody", "stands", "anew" and others. Fails if a
group of files has more than 2 of them per 1,000 words, or a file of 200 words or more has over 5.

    tools/check_english.py [ROOT]                 check all groups
    tools/check_english.py --worst N [ROOT]       also print the N worst files
    tools/check_english.py --commits REV [ROOT]   check the commit subjects since REV
"""
import argparse
import pathlib
import re
import subprocess
import sys

GROUP_CEILING, FILE_CEILING, FILE_WORDS, SUBJECT_COLUMNS = 2.0, 5.0, 200, 72

GROUPS = {
    "src": ("src/*.cc", "src/*.h"),
    "share": ("share/*.rb",),
    "tests": ("tests/*.cc", "tests/*.h", "tests/*.sh", "tests/*.py", "tests/*.rb", "fuzz/*.cc"),
    "tools": ("tools/*.py", "tools/*.cmake", "script/*", "bench/*.cc", "bench/*.py"),
    "help": ("src/cli/*.md",),
    "docs": ("docs/*.md", ":!docs/design"),
    "design notes": ("docs/design/*.md",),
    "README and CHANGELOG": ("*.md", ":!docs", ":!src", ":!tests", ":!share", ":!examples"),
}

PHRASES = re.compile(
    "|".join(
        (
            r"\b(?:is|are|was|were) (?:told|said)\b",
            r"\b(?:tell|tells|told|telling) (?:of|that|what|it|them|by|to|on|from|apart)\b",
            r"\b(?:say|says) so\b",
            r"\b(?:nobody|somebody|whoever|whom)\b",
            r"\bwho (?:asks?|wants?|reads?|waits?|has|may|looks?|uses|runs|comes?|sends?)\b",
            r"(?:^|[.:;] )(?:Where|Whom|Whose|Of|As) [a-z]+ ",
            r"(?:^|[.:;] )(?:What|Who) (?!is\b[^.]*\?|follows\b)[a-z]+ ",
            r"\bstands?\b(?! for\b)|\bstood\b",
            r"\b(?:is|are|was|were|be) no (?!longer|more|such|op\b|way)[a-z]+",
            r"\bof (?:its|their|his|our) own\b",
            r"\b(?:goes|comes|come|went|came) (?:here|there|on|by|before|after|with|of|from|back|along)\b",
            r"\b(?:beside|behind|anew|wholly|till|thereof|wherever|whence|likewise)\b",
            r"\b(?:null|empty|nullopt|undef|0|false|true): [a-z]",
            r"\b(?:at rest|imagined|the wish|wishes|by turns|in company|that is all)\b",
        )
    )
)


def comments_of(text, mark):
    lines = []
    for line in text.split("\n"):
        found = re.search(r"(?:^|\s)" + re.escape(mark) + r"[/!<]* ?(.*)$", line)
        if found and not line.lstrip().startswith(("#include", "#define", "#if", "#!", "#endif")):
            lines.append(found.group(1))
    return " ".join(lines)


def prose_of(text):
    text = re.sub(r"```.*?```|<!--.*?-->", " ", text, flags=re.S)
    lines = (line for line in text.split("\n") if not line.startswith(("    ", "\t")))
    return re.sub(r"`[^`]*`", "X", " ".join(lines))


def body_of(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md":
        return prose_of(text)
    return comments_of(text, "//" if path.suffix in (".cc", ".h") else "#")


def check_commits(root, since):
    log = subprocess.run(
        ["git", "-C", root, "log", "--no-merges", "--format=%h %s", f"{since}..HEAD"],
        capture_output=True, text=True, check=True)
    bad = []
    for line in log.stdout.splitlines():
        commit, subject = line.split(" ", 1)
        if len(subject) > SUBJECT_COLUMNS:
            bad.append(f"{commit}: subject of {len(subject)} characters, the limit is {SUBJECT_COLUMNS}")
        elif not re.match(r"[a-z0-9_/,. -]+: \S", subject):
            bad.append(f"{commit}: subject '{subject}' is not 'area: imperative summary'")
    return bad


def check_files(root, worst):
    bad, files = [], []
    for group, patterns in GROUPS.items():
        listed = subprocess.run(["git", "-C", root, "ls-files", "--", *patterns],
                                capture_output=True, text=True, check=True)
        words = hits = 0
        for name in listed.stdout.splitlines():
            path = pathlib.Path(root, name)
            if path.is_symlink() or not path.is_file():
                continue
            body = body_of(path)
            n, h = len(re.findall(r"[A-Za-z']+", body)), len(PHRASES.findall(body))
            words, hits = words + n, hits + h
            if n:
                files.append((1000 * h / n, n, name))
            if n >= FILE_WORDS and 1000 * h / n > FILE_CEILING:
                bad.append(f"{name}: {1000 * h / n:.1f} phrases per 1,000 words, the limit is {FILE_CEILING:g}")
        if words and 1000 * hits / words > GROUP_CEILING:
            bad.append(f"{group}: {1000 * hits / words:.1f} phrases per 1,000 words, the limit is {GROUP_CEILING:g}")
    for index, n, name in sorted(files, reverse=True)[:worst]:
        print(f"{index:6.1f} {n:6} {name}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="print the N worst files")
    parser.add_argument("--commits", metavar="REV", help="check the commit subjects since REV")
    parser.add_argument("root", nargs="?", default=".", metavar="ROOT", help="the repository (default: .)")
    options = parser.parse_args()
    if options.commits:
        bad = check_commits(options.root, options.commits)
    else:
        bad = check_files(options.root, options.worst)
    for line in bad:
        print(f"check_english: {line}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
