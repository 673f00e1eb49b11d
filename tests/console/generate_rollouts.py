#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes rollouts for tests and pictures of the console.

    tests/console/generate_rollouts.py http://127.0.0.1:8080 ENVIRONMENTPATH STORE.sqlite3

The environments `next` and `edge` get two versions each, as `bunraku deploy` makes them. `next` has a
rollout under way, in which some nodes have moved and some are bad. `edge` has one that went back after
its canaries had run, and one that waits for an approval. No agent runs, so the script writes into the store which nodes have
moved, and sends their reports.
"""
import argparse
import datetime
import json
import os
import sqlite3
import sys
import time
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from generate_fleet import Node  # noqa: E402

VERSIONS = [('0c2f7d1a90b3', '5d1c9e0b7a664f21'), ('4126bea0c1d2', '9f86d081884c7d65')]
GROUPS = [
    {'kind': 'changed', 'reference': 'File[/etc/ntp.conf]', 'parameter': 'content', 'file': 'modules/ntp/manifests/init.pp',
     'before': 'server ntp1', 'after': 'server ntp3', 'because': ['data/common.yaml#ntp::servers changed']},
    {'kind': 'changed', 'reference': 'Package[nginx]', 'parameter': 'ensure', 'file': 'modules/nginx/manifests/init.pp',
     'before': '1.26.2-4', 'after': '1.26.3-1', 'because': ['data/role/web.yaml#nginx::version changed']},
    {'kind': 'added', 'reference': 'File[/etc/ntp.keys]', 'parameter': '', 'file': 'modules/ntp/manifests/init.pp',
     'before': '', 'after': '', 'because': []}]


def request(method, url, body=None):
    asked = urllib.request.Request(url, method=method, data=body, headers={'Content-Type': 'application/json'})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.load(answer)


def deploy(top, environment, rules):
    """Writes both versions of an environment, and returns them as a plan names them."""
    out = []
    for commit, files in VERSIONS:
        version = f'{commit}-{files}'
        folder = f'{top}/.bunraku/{environment}/{version}'
        os.makedirs(folder + '/manifests')
        with open(folder + '/manifests/site.pp', 'w', encoding='utf-8') as out_file:
            out_file.write('node default { }\n')
        with open(folder + '/rollout.yaml', 'w', encoding='utf-8') as out_file:
            out_file.write(rules)
        with open(folder + '.json', 'w', encoding='utf-8') as out_file:
            json.dump({'commit': commit, 'files': files}, out_file)
        out.append({'version': version, 'commit': commit, 'files': files})
    os.symlink(f'.bunraku/{environment}/{out[0]["version"]}', f'{top}/{environment}')
    return out


def plan(environment, versions, rules, names):
    """Every tenth node is untouched; the others come in five waves."""
    shares = [0.01, 0.02, 0.1, 0.5, 1]
    nodes = []
    for i, name in enumerate(names):
        share = (i * 37 % len(names)) / len(names)
        wave = next(w for w, most in enumerate(shares) if share < most)
        touched = i % 10 != 9
        groups = [0, 2] + ([1] if name.startswith('web') else [])
        nodes.append({'name': name, 'verdict': 'changed' if touched else 'untouched', 'wave': wave if touched else 0,
                      'groups': groups if touched else [], 'identity': {}})
    return json.dumps({
        'plan_version': 1, 'program': 'test', 'environment': environment, 'from': versions[0], 'to': versions[1],
        'rules': rules, 'waves': ['canary', '1 %', '10 %', '50 %', '100 %'], 'groups': GROUPS, 'nodes': nodes,
        'excluded': [], 'unpredictable': [], 'uncovered': [], 'notes': []}).encode()


class Rollouts:
    def __init__(self, server):
        self.base = server + '/bunraku/v1/rollouts'

    def start(self, body, reason):
        return request('POST', f'{self.base}?{urllib.parse.urlencode({"reason": reason})}', body)['id']

    def act(self, rollout, command, reason=''):
        query = urllib.parse.urlencode({'reason': reason})
        return request('POST', f'{self.base}/{rollout}/{command}?{query}', b'')


def report(server, name, environment, ok):
    """Sends the report of a run that made the predicted changes, or failed."""
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='milliseconds')
    good = [('File', '/etc/ntp.keys', 'ensure'), ('File', '/etc/ntp.conf', 'content')]
    if name.startswith('web'):
        good.append(('Package', 'nginx', 'ensure'))
    resources = [Node.event(now, kind, title, of, 'success', 'absent', 'file', f'{of} changed', 'Ntp', False)
                 for kind, title, of in good]
    if not ok:
        resources[-1] = Node.event(now, *good[-1], 'failure', 'a', 'b',
                                   "Execution of '/usr/bin/apt-get -q -y install nginx=1.26.3-1' returned 100", 'Nginx', False)
    body = {'certname': name, 'puppet_version': '8.11.0', 'report_format': 12, 'configuration_version': 'b',
            'start_time': now, 'end_time': now, 'producer_timestamp': now, 'producer': None, 'environment': environment,
            'transaction_uuid': None, 'catalog_uuid': None, 'code_id': VERSIONS[1][0],
            'status': 'changed' if ok else 'failed', 'cached_catalog_status': 'not_used', 'noop': False,
            'noop_pending': False, 'corrective_change': False, 'metrics': [], 'logs': [], 'resources': resources}
    query = urllib.parse.urlencode({'command': 'store_report', 'version': 8, 'certname': name})
    request('POST', f'{server}/pdb/cmd/v1?{query}', json.dumps(body).encode())


def move(store, rollout, environment, versions, waves):
    """Writes that the nodes of these waves have moved, except a third of the last one, and returns their names."""
    with sqlite3.connect(store, timeout=60) as db:
        members = db.execute('SELECT certname, wave FROM rollout_members WHERE rollout_id = ? AND judged = 1 AND wave < ?'
                             ' ORDER BY certname', (rollout, waves)).fetchall()
        moved = [name for i, (name, wave) in enumerate(members) if wave < max(waves - 1, 1) or i % 3]
        for name in moved:
            db.execute('INSERT INTO node_versions VALUES (?, ?, ?, ?, ?, ?, 1, 0)',
                       (name, environment, versions[1]['version'], versions[0]['version'], int(time.time() * 1000), ''))
        db.execute('UPDATE rollouts SET wave = ?, moved = ? WHERE id = ?', (waves - 1, waves, rollout))
    db.close()
    return moved


def wait(what, done):
    deadline = time.time() + 120
    while not done():
        if time.time() > deadline:
            raise SystemExit(what)
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('server')
    parser.add_argument('environmentpath')
    parser.add_argument('store')
    options = parser.parse_args()
    names = sorted(n['certname'] for n in request('GET', options.server + '/pdb/query/v4/nodes'))
    rollouts = Rollouts(options.server)
    waits = 'approve: [0]\nobserve: true\n'
    edge = deploy(options.environmentpath, 'edge', waits)
    old = rollouts.start(plan('edge', edge, waits, names), 'new NTP servers')
    canaries = move(options.store, old, 'edge', edge, 1)
    for name in canaries:
        report(options.server, name, 'edge', False)
    rollouts.act(old, 'back', 'the change window was moved')
    with sqlite3.connect(options.store, timeout=60) as store:
        store.execute("UPDATE node_versions SET version = previous WHERE environment = 'edge'")
    store.close()
    # The server reads the rows again with each command.
    wait('The rollout did not go back', lambda: not request('GET', f'{rollouts.base}/{old}')['live'])
    wait('The server does not know what the canaries created',
         lambda: {one['command'] for one in request('GET', f'{rollouts.base}/{old}/leftovers')} == {"rm '/etc/ntp.keys'"})
    rollouts.start(plan('edge', edge, waits, names), 'new NTP servers, second attempt')
    rules = 'observe: true\nproofs: 1\n'
    following = deploy(options.environmentpath, 'next', rules)
    current = rollouts.start(plan('next', following, rules, names), 'new NTP servers')
    rollouts.act(current, 'pause', 'lunch')
    moved = move(options.store, current, 'next', following, 3)
    web = [name for name in moved if name.startswith('web')]
    for name in moved:
        report(options.server, name, 'next', name not in web[-2:])
    # The server reads the rows again with each command.
    rollouts.act(current, 'resume', 'back from lunch')
    wait('The nodes that moved are not judged',
         lambda: sum(w['proved'] + w['bad'] for w in request('GET', f'{rollouts.base}/{current}')['waves']) >= len(moved))


if __name__ == '__main__':
    main()
