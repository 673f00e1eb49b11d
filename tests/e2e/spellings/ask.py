#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a server for each path of a recorded file, as web1 and as web2.

    ask.py PORT FOLDER RECORDED             compares the answers with the recorded ones
    ask.py PORT FOLDER RECORDED --record    prints the paths with the answers

FOLDER has the certificates and keys of web1 and web2. A path without a query gets
`?environment=production`.
"""
import collections
import http.client
import ssl
import sys

CLIENTS = ('web1', 'web2')
port, folder, recorded = sys.argv[1:4]
connections = {}
contexts = {}
for name in CLIENTS:
    contexts[name] = ssl._create_unverified_context()
    contexts[name].load_cert_chain(f'{folder}/{name}.pem', f'{folder}/{name}.key')


def ask(who, path):
    """Returns the status of the answer to a GET request. A closed connection is opened once more."""
    for _ in range(2):
        connection = connections.setdefault(
            who, http.client.HTTPSConnection('127.0.0.1', int(port), context=contexts[who], timeout=30))
        try:
            connection.putrequest('GET', path, skip_accept_encoding=True)
            connection.putheader('Accept', 'application/octet-stream, application/json')
            connection.endheaders()
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (http.client.HTTPException, OSError):
            connections.pop(who).close()
    return None


def lines():
    for line in open(recorded, encoding='ascii'):
        path, *statuses = line.split()
        sent = path if '?' in path else path + '?environment=production'
        yield path, sent, [int(status) for status in statuses]


if '--record' in sys.argv:
    for path, sent, _ in lines():
        print(path, *(ask(who, sent) for who in CLIENTS))
    sys.exit()
bad = served = 0
pairs = collections.Counter()
for path, sent, statuses in lines():
    for who, theirs in zip(CLIENTS, statuses):
        ours = ask(who, sent)
        served += ours == 200
        pairs[theirs, ours] += 1
        # Other spellings may be rejected. A served spelling must be one that puppetserver serves.
        plain = not any(odd in path for odd in ('%', '//', ';', '+'))
        if ours == theirs == 200 or ours in (400, 403, 404, 500) and not (plain and theirs == 200):
            continue
        print(f'FAILED: {who} {path}: got {ours}, expected {theirs}')
        bad += 1
for (theirs, ours), count in sorted(pairs.items(), key=str):
    print(f'recorded {theirs}, here {ours}: {count}')
print(f'{served} answers were 200')
sys.exit(bad > 0 or served < 300)
