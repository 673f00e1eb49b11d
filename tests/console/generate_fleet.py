#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills a server's store with an invented fleet, for tests and figures of the console.

    tests/console/generate_fleet.py http://127.0.0.1:8080 --nodes 1000 --runs 20

Most runs change nothing. Some nodes fail, drift, are held in noop, stopped reporting, or never ran.
The same seed makes the same fleet, except for times, which are relative to now.
"""
import argparse
import concurrent.futures
import datetime
import http.client
import json
import random
import urllib.parse
import uuid

ROLES = [('web', 39), ('app', 18), ('compute', 12), ('db', 9), ('cache', 7), ('queue', 5),
         ('storage', 4), ('build', 3), ('monitor', 2), ('dns', 1)]
CODE = ['4f2a91c07be1d3ff0a6c2b9e8d7f1a2b3c4d5e6f', 'b81e07d2c4a6908f1e3d5c7b9a8f6e4d2c1b0a9f']
NOW = datetime.datetime.now(datetime.timezone.utc)
DIFF = '''
--- /etc/ssh/sshd_config\t2026-01-01
+++ /tmp/puppet-file\t2026-01-01
@@ -41,4 +41,4 @@
 UsePAM yes
-PermitRootLogin yes
+PermitRootLogin no
 X11Forwarding no
'''


def stamp(age_s):
    return (NOW - datetime.timedelta(seconds=age_s)).isoformat(timespec='milliseconds')


class Node:
    hub = None  # every node collects what this one exports

    def __init__(self, number, dice):
        self.dice = dice
        self.role = dice.choices([r for r, _ in ROLES], [w for _, w in ROLES])[0]
        self.name = f'{self.role}{number}.example.org'
        self.environment = 'production' if dice.random() < 0.93 else 'staging'
        kind = dice.random()
        self.kind = ('failed' if kind < 0.004 else 'silent' if kind < 0.006 else
                     'noop' if kind < 0.012 else 'never' if kind < 0.013 else
                     'drift' if kind < 0.03 else 'changed' if kind < 0.04 else 'good')
        self.release = dice.choice(['12.5', '12.15', '13.2'])
        self.catalog_uuid = str(uuid.UUID(int=number))
        self.address = f'10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}'

    def facts(self):
        major = self.release.split('.')[0]
        return {'certname': self.name, 'environment': self.environment, 'producer': 'puppet.example.org',
                'producer_timestamp': stamp(60), 'values': {
                    'os': {'family': 'Debian', 'name': 'Debian',
                           'release': {'full': self.release, 'major': major}},
                    'networking': {'fqdn': self.name, 'ip': self.address,
                                   'interfaces': {'eth0': {'ip': self.address, 'mtu': 1500}}},
                    'processors': {'count': self.dice.choice([2, 4, 8, 16, 32])},
                    'memory': {'system': {'total': self.dice.choice(['15.6 GiB', '62.8 GiB'])}},
                    'kernel': 'Linux', 'kernelrelease': f'6.{major}.0-41-amd64', 'virtual': 'kvm',
                    'role': self.role, 'datacenter': self.dice.choice(['north-1', 'north-2', 'south-1']),
                    'system_uptime': {'uptime': '16 days'}}}

    def catalog(self, mode='0644'):
        classes = ['Settings', 'Main', f'Role::{self.role.capitalize()}', 'Profile::Base', 'Ntp',
                   'Ssh::Server', 'Nginx' if self.role == 'web' else 'Logrotate']
        resources, edges = [], []

        def add(kind, title, container, parameters, line=1, exported=False, file='/code/site.pp',
                tags=()):
            resources.append({'type': kind, 'title': title, 'exported': exported, 'tags': list(tags), 'file': file,
                              'line': line, 'parameters': parameters})
            if container:
                relate(container, (kind, title), 'contains')

        def relate(source, target, relationship):
            edges.append({'source': {'type': source[0], 'title': source[1]},
                          'target': {'type': target[0], 'title': target[1]}, 'relationship': relationship})

        add('Stage', 'main', None, {})
        for name in classes:
            parent = ('Class', 'Main') if name not in ('Settings', 'Main') else ('Stage', 'main')
            add('Class', name, parent, {})
        for n in range(20):
            content = f'# Written by Puppet\nworkers = {n}\n'
            add('File', f'/etc/app/{n}.conf', ('Class', classes[-1]),
                {'ensure': 'file', 'mode': mode, 'content': content}, 10 + n,
                file='/code/modules/app/manifests/init.pp', tags=['app'])
        if self.role == 'web':
            add('Package', 'nginx', ('Class', 'Nginx'), {'ensure': '1.26.3-1'}, 7,
                file='/code/modules/nginx/manifests/init.pp')
        add('Service', 'app', ('Class', 'Profile::Base'), {'ensure': 'running', 'enable': True}, 40)
        relate(('Class', classes[-1]), ('Service', 'app'), 'notifies')
        relate(('File', '/etc/app/0.conf'), ('File', '/etc/app/1.conf'), 'before')
        add('Sshkey', self.name, ('Class', 'Ssh::Server'), {'key': self.name, 'type': 'rsa'}, 5, exported=True)
        if Node.hub and Node.hub != self.name:
            add('Sshkey', Node.hub, ('Class', 'Ssh::Server'), {'key': Node.hub, 'type': 'rsa'}, 9)
        add('Nagios_host', self.name, ('Class', 'Profile::Base'), {'address': self.address}, 3, exported=True,
            file='/code/modules/nagios/manifests/host.pp', tags=['nagios'])
        return {'certname': self.name, 'version': CODE[0], 'environment': self.environment,
                'transaction_uuid': None, 'catalog_uuid': self.catalog_uuid, 'code_id': CODE[0], 'producer': None,
                'producer_timestamp': stamp(60), 'edges': edges, 'resources': resources}

    def report(self, age_s, latest):
        kind = self.kind if latest else 'good'
        if not latest and self.dice.random() < 0.03:
            kind = self.dice.choice(['drift', 'changed'])
        status, events, logs, corrective = 'unchanged', [], [], False
        time = stamp(age_s)
        if kind == 'failed':
            status = 'failed'
            events, logs = self.failure(time)
        elif kind in ('drift', 'changed'):
            status, corrective = 'changed', kind == 'drift'
            events = [self.event(time, 'File', '/etc/ssh/sshd_config', 'content', 'success',
                                 '{sha256}aa', '{sha256}bb', 'content changed', 'Ssh::Server', corrective)]
            logs = [self.log(time, 'notice', '/Stage[main]/Ssh::Server/File[/etc/ssh/sshd_config]/content', DIFF)]
        elif kind == 'noop':
            events = [self.event(time, 'Package', 'nginx', 'ensure', 'noop', '1.26.2-4', '1.26.3-1',
                                 'current_value 1.26.2-4, should be 1.26.3-1 (noop)', 'Nginx', False)]
        if latest:
            logs += [self.log(time, 'info', f'/Stage[main]/App/File[/etc/app/{n}.conf]',
                              f'Evaluated in {2 / (n + 1):.2f} seconds') for n in range(8)]
        seconds = 5 + self.dice.random() * 3
        return {'certname': self.name, 'puppet_version': '8.11.0', 'report_format': 12,
                'configuration_version': CODE[0], 'start_time': stamp(age_s + seconds), 'end_time': time,
                'producer_timestamp': time, 'producer': 'puppet.example.org', 'environment': self.environment,
                'transaction_uuid': None, 'catalog_uuid': self.catalog_uuid if latest else None,
                'code_id': CODE[0] if self.dice.random() < 0.95 else CODE[1], 'status': status,
                'cached_catalog_status': 'not_used', 'noop': kind == 'noop', 'noop_pending': kind == 'noop',
                'corrective_change': corrective,
                'metrics': [{'category': 'time', 'name': n, 'value': round(v, 3)} for n, v in
                            [('total', seconds), ('config_retrieval', 0.6), ('package', seconds * .6),
                             ('file', seconds * .2), ('exec', seconds * .1)]],
                'logs': logs + [self.log(time, 'notice', 'Puppet', f'Applied catalog in {seconds:.2f} seconds')],
                'resources': events}

    def failure(self, time):
        if self.role == 'db':
            code = self.dice.choice([1, 2])
            message = f'Systemd start for postgresql failed: exit code {code}'
            what, title, of = 'Service', 'postgresql', 'Postgresql::Server'
        elif self.dice.random() < 0.2:
            message = f"Could not find a suitable file '/srv/www/site{self.dice.randrange(9)}' on {self.name}"
            what, title, of = 'File', '/srv/www', 'Nginx'
        else:
            message = "Version '1.26.3-1' is not available for this architecture; the candidate is 1.26.2-4"
            what, title, of = 'Package', 'nginx', 'Nginx'
        return ([self.event(time, what, title, 'ensure', 'failure', 'absent', 'present', message, of, False),
                 self.event(time, 'Service', 'nginx', None, 'skipped', None, None, None, of, False)],
                [self.log(time, 'err', f'/Stage[main]/{of}/{what}[{title}]/ensure', message),
                 self.log(time, 'notice', '/Stage[main]/Nginx/Service[nginx]',
                          f'Dependency {what}[{title}] has failures: true'),
                 self.log(time, 'warning', '/Stage[main]/Nginx/Service[nginx]',
                          'Skipping because of failed dependencies')])

    @staticmethod
    def event(time, kind, title, name, status, old, new, message, of, corrective):
        return {'timestamp': time, 'resource_type': kind, 'resource_title': title, 'skipped': status == 'skipped',
                'file': f'/code/modules/{of.split("::")[0].lower()}/manifests/init.pp', 'line': 12,
                'containment_path': ['Stage[main]', of, f'{kind}[{title}]'], 'corrective_change': corrective,
                'events': [{'status': status, 'timestamp': time, 'property': name, 'name': name, 'new_value': new,
                            'old_value': old, 'message': message, 'corrective_change': corrective}]}

    @staticmethod
    def log(time, level, source, message):
        return {'level': level, 'message': message, 'source': source, 'tags': [level], 'time': time,
                'file': None, 'line': None}


def commands(node, runs):
    yield 'replace_facts', 5, node.facts()
    yield 'replace_catalog', 9, node.catalog('0600') | {'job_id': None, 'producer_timestamp': stamp(90_000)}
    yield 'replace_catalog', 9, node.catalog() | {'job_id': None}
    if node.kind == 'never':
        return
    first = 3 * 3600 if node.kind == 'silent' else node.dice.randrange(1700)
    for run in reversed(range(runs)):
        yield 'store_report', 8, node.report(first + run * 1800, run == 0)


def send_all(server, nodes, runs):
    url = urllib.parse.urlsplit(server)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=300)
    for node in nodes:
        for command, version, body in commands(node, runs):
            query = urllib.parse.urlencode({'command': command, 'version': version, 'certname': node.name})
            connection.request('POST', f'/pdb/cmd/v1?{query}', json.dumps(body),
                               {'Content-Type': 'application/json'})
            answer = connection.getresponse()
            text = answer.read().decode()
            if answer.status != 200:
                raise SystemExit(f'{command} of {node.name}: {answer.status} {text}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('server')
    parser.add_argument('--nodes', type=int, default=1000)
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    nodes = [Node(n, random.Random(options.seed * 1_000_003 + n)) for n in range(1, options.nodes + 1)]
    Node.hub = nodes[0].name
    parts = 4
    with concurrent.futures.ThreadPoolExecutor(parts) as pool:
        for done in [pool.submit(send_all, options.server, nodes[p::parts], options.runs) for p in range(parts)]:
            done.result()


if __name__ == '__main__':
    main()
