#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the pages of the console: time to the first byte, and the size of the transfer.

    bench/console/measure.py http://127.0.0.1:8080 TOKEN --times 40

Each page is requested repeatedly on one connection, as a browser does, with gzip. The first request
of each page is reported separately, because it fills caches.
"""
import argparse
import gzip
import http.client
import re
import time
import urllib.parse

NOOP = urllib.parse.quote("nodes[certname] { latest_report_noop_pending = true }")
PAGES = [
    ('Fleet', '/'),
    ('Fleet, by role', '/?by=role'),
    ('Nodes', '/nodes'),
    ('Nodes, failed', '/nodes?state=failed'),
    ('Node', '@node'),
    ('Facts of a node', '@node/facts'),
    ('Catalogs of a node', '@node/catalogs'),
    ('Run', '@run'),
    ('Failures', '/failures'),
    ('Change', '/change?from=production&to=feature'),
    ('Classes and keys', '/code'),
    ('Class', '/code/class?name=nginx'),
    ('Exports', '/exports'),
    ('Exported type', '/exports/Nagios_host'),
    ('Packages', '/packages'),
    ('Modules', '/modules'),
    ('Module', '/modules/acme-nginx'),
    ('Query', '/query?q=' + NOOP),
    ('Search', '/search?q=web12'),
    ('Server', '/server'),
]


class Client:
    def __init__(self, server, token):
        url = urllib.parse.urlsplit(server)
        self.connection = http.client.HTTPConnection(url.hostname, url.port, timeout=300)
        self.headers = {'Authorization': f'Bearer {token}', 'Accept': 'text/html', 'Accept-Encoding': 'gzip'}

    def get(self, path):
        """Returns the status, the text, the time to the first byte and the size of the body."""
        begin = time.perf_counter()
        self.connection.request('GET', '/console' + path, headers=self.headers)
        answer = self.connection.getresponse()
        first = time.perf_counter() - begin
        body = answer.read()
        zipped = answer.headers.get('Content-Encoding') == 'gzip'
        return answer.status, (gzip.decompress(body) if zipped else body).decode(), first, len(body)


def places(client):
    """Returns the addresses of a node, and of a run of a failed one."""
    _, text, _, _ = client.get('/nodes?state=failed')
    node = re.search(r'href="/console(/nodes/[^"?/]+)"', text)
    run = re.search(r'href="/console(/runs/[^"?]+)"', text)
    if not node or not run:
        raise SystemExit('No node has failed: fill the server with generate_fleet.py')
    return {'@node': node[1], '@run': run[1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('server')
    parser.add_argument('token')
    parser.add_argument('--times', type=int, default=40)
    options = parser.parse_args()
    client = Client(options.server, options.token)
    known = places(client)
    print('| page | first | median | p95 | transfer |\n|---|---|---|---|---|')
    for name, path in PAGES:
        for word, place in known.items():
            path = path.replace(word, place)
        status, text, cold, _ = client.get(path)
        while status == 200 and 'data-poll' in text:
            time.sleep(0.5)
            status, text, _, _ = client.get(path)
        if status != 200:
            print(f'| {name} | status {status} | | | |')
            continue
        times = []
        for _ in range(options.times):
            _, _, first, size = client.get(path)
            times.append(first)
        times.sort()
        p95 = times[max(0, int(len(times) * 0.95) - 1)]
        print(f'| {name} | {cold * 1e3:.1f} ms | {times[len(times) // 2] * 1e3:.1f} ms | {p95 * 1e3:.1f} ms '
              f'| {size / 1000:.1f} kB |', flush=True)


if __name__ == '__main__':
    main()
