#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/upstream.md: one row for each entry of the change logs of OpenVox and its companions.

    tools/upstream_ledger.py DIR > docs/upstream.md      DIR has a clone of each project
    tools/upstream_ledger.py --check DIR                 fails if an entry has no verdict

A clone is a bare repository or a work tree named after the project. A file PROJECT.CHANGELOG.md, for
example of a newer package, comes first, then the change log of the clone and that of its maintenance
branch, which has the releases that the others lack, and the pull requests that were merged after the
newest release. The verdicts are in
tools/upstream_verdicts.tsv. The first row that matches an entry decides: a row with a project and a
number before one with an expression for titles. To follow a new release, update the clones, run
this again, and give each entry that is listed as open a verdict.
"""
import pathlib
import re
import subprocess
import sys

PROJECTS = {'openvox': '8.x', 'openfact': '5.x', 'openvox-server': '8.x', 'openvoxdb': '8.x'}  # maintenance branch
FIRST = {'openfact': '5.0.0.rc0', 'openvox-server': '8.8.1'}  # earlier releases are those of Facter and Puppet Server
DEPENDENCY = re.compile(r'(build\(deps\): )?([Bb]ump|Update (dependency|\S+-version|\S+ updates)|Release) ')
VERDICTS = {
    'has': 'has',
    'added': 'added',
    'not-ours': 'not ours',
    'open': '**open**',
}


def git(folder, *words):
    """Returns the output of git in a clone, or None."""
    for repository in (folder, folder / 'repo'):
        shown = subprocess.run(['git', '-C', repository, *words], capture_output=True, text=True)
        if shown.returncode == 0:
            return shown.stdout
    return None


def entries(project, text):
    """Yields (release, date, number, title) of each entry that has a number, newest first."""
    release = date = None
    for line in text.splitlines():
        if head := re.match(r'## \[?([^\]\s]+)\]?(?:\(\S+\))?(?: \((\S+)\))?', line):
            if release is not None and release == FIRST.get(project):
                return
            release, date = head[1], head[2] or ''
        elif row := re.match(r'[-*] +(.+?) \[\\#(\d+)\]\(', line):
            yield release, date, row[2], row[1].strip().replace('\\', '')


def merged(folder, tag):
    """Yields (number, title) of each pull request that was merged after a release, without dependency updates."""
    log = git(folder, 'log', '--first-parent', '--format=%s%n%b%x00', f'{tag}..HEAD') or ''
    for commit in log.split('\0'):
        lines = commit.split('\n') if commit.strip() else []
        lines = [line.strip() for line in lines if line.strip()]
        if lines and (head := re.match(r'Merge pull request #(\d+) ', lines[0])) and len(lines) > 1:
            number, title = head[1], lines[1]
        elif lines and (head := re.match(r'(.*) \(#(\d+)\)$', lines[0])):
            number, title = head[2], head[1]
        else:
            continue
        if not DEPENDENCY.match(title):
            yield number, title


def all_entries(project, folder):
    """Yields (heading, number, title) of each entry of a project once."""
    newer = folder.with_name(f'{project}.CHANGELOG.md')
    logs = [newer.read_text(encoding='utf-8')] if newer.is_file() else []
    for branch in ('HEAD', PROJECTS[project]):
        logs.append(git(folder, 'show', f'{branch}:CHANGELOG.md') or '')
    if not any(logs):
        sys.exit(f'{folder}: no CHANGELOG.md')
    newest = re.search(r'^## \[?([^\]\s]+)', logs[0], re.M)[1]
    rows = [(f'merged after {newest}', number, title) for number, title in merged(folder, newest)]
    for log in logs:
        rows += [(f'{release} ({date})' if date else release, number, title)
                 for release, date, number, title in entries(project, log)]
    seen = set()
    for heading, number, title in rows:
        if number not in seen:
            seen.add(number)
            yield heading, number, title


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
        for heading, number, title in all_entries(project, root / project):
            if heading != last:
                body.append(f'\n### {heading}\n')
                body.append('| entry | title | verdict | reason or test |\n| --- | --- | --- | --- |')
                last = heading
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
    print('OpenVox Server and OpenVoxDB since Puppet 8.11, and for each pull request that was merged after')
    print('the newest release, without updates of dependencies. *has*: Bunraku already behaved in this way.')
    print('*added*: Bunraku was changed, and the last column names the test. *not ours*: the entry does not')
    print('concern Bunraku, for the reason in the last column.\n')
    print(f"{total} entries: {counts['has']} has, {counts['added']} added, {counts['not-ours']} not ours, "
          f"{counts['open']} open.")
    print('\n'.join(body))


main(sys.argv[1:])
