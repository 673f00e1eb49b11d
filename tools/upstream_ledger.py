#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/upstream.md: one row for each entry of the change logs of OpenVox and its companions.

    tools/upstream_ledger.py DIR > docs/upstream.md      DIR has a clone of each project
    tools/upstream_ledger.py --check DIR                 fails if an entry has no verdict

A clone is a work tree or a bare repository named after the project. The verdicts are in
tools/upstream_verdicts.tsv. The first row that matches an entry decides: a row with a project and a
number before one with an expression for titles. To follow a new release, update the clones, run
this again, and give each entry that is listed as open a verdict.
"""
import pathlib
import re
import subprocess
import sys

PROJECTS = ('openvox', 'openfact', 'openvox-server', 'openvoxdb')
FIRST = {'openfact': '5.0.0.rc0'}  # earlier releases are those of Facter
VERDICTS = {
    'has': 'has',
    'added': 'added',
    'not-ours': 'not ours',
    'open': '**open**',
}


def change_log(folder):
    """Returns the text of CHANGELOG.md in a work tree or a bare repository."""
    if (folder / 'CHANGELOG.md').is_file():
        return (folder / 'CHANGELOG.md').read_text(encoding='utf-8')
    for repository in (folder, folder / 'repo'):
        shown = subprocess.run(['git', '-C', repository, 'show', 'HEAD:CHANGELOG.md'],
                               capture_output=True, text=True)
        if shown.returncode == 0:
            return shown.stdout
    sys.exit(f'{folder}: no CHANGELOG.md')


def entries(project, text):
    """Yields (release, date, number, title) of each entry that has a number, newest first."""
    release = date = None
    for line in text.splitlines():
        if head := re.match(r'## \[?([^\]\s]+)\]?(?:\(\S+\))?(?: \((\S+)\))?', line):
            if release is not None and release == FIRST.get(project):
                return
            release, date = head[1], head[2] or ''
        elif row := re.match(r'[-*] (.+?) \[\\#(\d+)\]\(', line):
            yield release, date, row[2], row[1].strip().replace('\\', '')


def read_verdicts(path):
    """Returns the rows by (project, number), and those by expression in their order."""
    exact, patterns = {}, []
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        if not line or line.startswith('#'):
            continue
        fields = line.split('\t')
        if len(fields) != 3 or fields[1] not in VERDICTS:
            sys.exit(f'{path}:{number}: expected KEY<tab>VERDICT<tab>REASON')
        key, verdict, reason = fields
        if key.startswith('/'):
            patterns.append((re.compile(key.strip('/')), verdict, reason))
        else:
            for one in key.split(','):
                project, _, numbers = one.partition('#')
                exact[project, numbers] = (verdict, reason)
    return exact, patterns


def verdict_of(project, number, title, exact, patterns):
    if (project, number) in exact:
        return exact[project, number]
    for expression, verdict, reason in patterns:
        if expression.search(title):
            return verdict, reason
    return 'open', ''


def main(arguments):
    check = arguments[:1] == ['--check']
    if check:
        arguments = arguments[1:]
    if len(arguments) != 1:
        sys.exit(__doc__)
    root = pathlib.Path(arguments[0])
    exact, patterns = read_verdicts(pathlib.Path(__file__).with_name('upstream_verdicts.tsv'))
    counts = dict.fromkeys(VERDICTS, 0)
    body = []
    for project in PROJECTS:
        last = None
        body.append(f'\n## {project}\n')
        for release, date, number, title in entries(project, change_log(root / project)):
            if release != last:
                body.append(f'\n### {release}{f" ({date})" if date else ""}\n')
                body.append('| entry | title | verdict | reason or test |\n| --- | --- | --- | --- |')
                last = release
            verdict, reason = verdict_of(project, number, title, exact, patterns)
            counts[verdict] += 1
            title = title.replace('|', '\\|').replace('<', '&lt;').replace('[bot]', '')
            body.append(f'| {project}#{number} | {title} | {VERDICTS[verdict]} | {reason} |')
    if check:
        if counts['open']:
            sys.exit(f"{counts['open']} entries have no verdict")
        return
    total = sum(counts.values())
    print('# Upstream changes\n')
    print('<!-- Written by tools/upstream_ledger.py from tools/upstream_verdicts.tsv. -->\n')
    print('This page has one row for each numbered entry in the change logs of OpenVox, OpenFact,')
    print('OpenVox Server and OpenVoxDB since Puppet 8.11. *has*: Bunraku already behaved in this way.')
    print('*added*: Bunraku was changed, and the last column names the test. *not ours*: the entry does not')
    print('concern Bunraku, for the reason in the last column.\n')
    print(f"{total} entries: {counts['has']} has, {counts['added']} added, {counts['not-ours']} not ours, "
          f"{counts['open']} open.")
    print('\n'.join(body))


main(sys.argv[1:])
