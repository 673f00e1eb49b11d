"""Runs a good and a bad rollout on two servers with one PostgreSQL, and kills servers meanwhile.

Each version of the environment writes its number in a file with content, in a file with a source,
in a folder, and in a plugin. The version of a run is never a mixture of these.

The agents are those of this program and, if it is installed, one of Puppet. SERVERS=1 runs one server
with SQLite, which is not killed. ROOTS are root directories of tests/peer/make_root, separated by
spaces; NODES agents (default 10) are then those of the roots and of this program by turns.
"""
import collections
import glob
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

PROGRAM, BASE = os.environ['BUNRAKU'], os.environ['SCRATCH']
CONTROL, MADE = BASE + '/control', BASE + '/made'
IN_ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../peer/in_root')
problems = []


def agents():
    """Returns the beginning of the command of each agent by the name of its node."""
    roots = os.environ.get('ROOTS', '').split()
    if roots:
        kinds = [[IN_ROOT, root, 'puppet'] for root in roots] + [[PROGRAM]]
        return {'n%02d.example' % i: kinds[i % len(kinds)] for i in range(int(os.environ.get('NODES', '10')))}
    out = {name + '.example': [PROGRAM] for name in 'abcd'}
    if shutil.which('puppet'):
        out['p.example'] = ['puppet']
    return out


def problem(text):
    problems.append(text)
    print('FAILED: ' + text, flush=True)


def sh(*words, status=0, **more):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900, check=False, **more)
    if status is not None and done.returncode != status:
        problem('%s: exit %d, expected %d\n%s%s' % (' '.join(words), done.returncode, status, done.stdout, done.stderr))
    return done


def until(what, ready, seconds=60):
    end = time.time() + seconds
    while time.time() < end:
        if ready():
            return True
        time.sleep(0.1)
    problem('waited in vain: ' + what)
    return False


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Postgres:
    """A private server, run by an unprivileged user."""

    def __init__(self):
        folders = [os.path.dirname(shutil.which('initdb') or '/none/x')] + sorted(glob.glob('/usr/lib/postgresql/*/bin'))
        found = [f for f in folders if all(os.path.exists(f + '/' + p) for p in ('postgres', 'initdb', 'createdb'))]
        if not found:
            print('skipped: PostgreSQL is not installed')
            sys.exit(0)
        self.bin, self.data, self.who = found[-1], BASE + '/pg', {}
        os.mkdir(self.data)
        if os.geteuid() == 0:
            user = pwd.getpwnam('postgres' if any(u.pw_name == 'postgres' for u in pwd.getpwall()) else 'nobody')
            self.who = {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}
            os.chown(self.data, user.pw_uid, user.pw_gid)
        self.port = free_port()
        sh(self.bin + '/initdb', '-D', self.data + '/d', '-A', 'trust', '-U', 'bunraku', '--no-sync', cwd='/', **self.who)
        with open(self.data + '/d/postgresql.conf', 'a', encoding='utf-8') as f:
            f.write("listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = '%s'\nfsync = off\n" % (self.port, self.data))
        with open(BASE + '/pg.log', 'wb') as log:
            self.process = subprocess.Popen([self.bin + '/postgres', '-D', self.data + '/d'], stdout=log, stderr=log, cwd='/', **self.who)
        until('PostgreSQL', lambda: subprocess.run(
            [self.bin + '/createdb', '-h', '127.0.0.1', '-p', str(self.port), '-U', 'bunraku', 'store'],
            capture_output=True, check=False).returncode == 0)

    url = property(lambda self: 'postgresql://bunraku@127.0.0.1:%d/store' % self.port)


class Server:
    def __init__(self, number, database):
        self.name, self.root, self.database = 'server%d.example' % number, BASE + '/server%d' % number, database
        self.envs, self.process, self.out = self.root + '/envs', None, None
        self.port, self.http = free_port(), free_port()
        self.url = 'http://127.0.0.1:%d' % self.http
        os.makedirs(self.root + '/etc')
        first = BASE + '/server1'
        with open(self.root + '/etc/puppet.conf', 'w', encoding='utf-8') as f:
            f.write('[main]\ncertname = %s\ndns_alt_names = localhost\nssldir = %s/ssl\n[server]\ncadir = %s/ca\n'
                    'autosign = true\nallow_subject_alt_names = true\nenvironmentpath = %s\nbasemodulepath = %s/none\n' %
                    (self.name, first, first, self.envs, BASE))
        with open(self.root + '/r10k.yaml', 'w', encoding='utf-8') as f:
            f.write('cachedir: %s/cache\nsources:\n  s: {remote: "file://%s", basedir: %s}\n' % (self.root, CONTROL, self.envs))

    def options(self):
        return ['--confdir', self.root + '/etc', '--ssldir', BASE + '/server1/ssl', '--vardir', self.root + '/var',
                '--statedir', self.root + '/state', '--rundir', self.root + '/run', '--logdir', self.root + '/log',
                '--publicdir', self.root + '/public']

    def start(self):
        roles = 'ca,compiler,store' if self.name.startswith('server1') else 'compiler,store'
        self.out = open(self.root + '/out', 'ab')  # pylint: disable=consider-using-with
        begin = self.out.tell()
        self.process = subprocess.Popen(
            [PROGRAM, 'server', '--roles', roles, '--https', '127.0.0.1:%d' % self.port, '--http', '127.0.0.1:%d' % self.http,
             '--database', self.database] + self.options(), stdout=self.out, stderr=self.out)

        def ready():
            with open(self.root + '/out', 'rb') as f:
                f.seek(begin)
                return b'is ready' in f.read()
        if not until(self.name, ready):
            with open(self.root + '/out', encoding='utf-8') as f:
                print(f.read())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def deploy(self):
        return sh(PROGRAM, 'deploy', 'environment', '--r10k', self.root + '/r10k.yaml', *self.options()).stdout

    def rollout(self, *words, status=0):
        return sh(PROGRAM, 'rollout', *words, '--url', self.url, '--environmentpath', self.envs, *self.options(), status=status)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return json.loads(answer.read())

    def state(self):
        try:
            return self.get('/bunraku/v1/rollouts')[0]['state']
        except (urllib.error.URLError, OSError, IndexError):
            return 'unknown'


class Balancer:
    """Passes connections to the servers by turns. A server that refuses one is left out. A quiet
    connection ends, so that the next request of the same run goes to the other server."""

    def __init__(self, servers):
        self.servers, self.turn, self.used = servers, 0, {s.name: 0 for s in servers}
        self.socket = socket.create_server(('127.0.0.1', 0), backlog=200)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.socket.accept()[0]
            self.turn += 1
            threading.Thread(target=self.serve, args=(client, self.turn), daemon=True).start()

    def serve(self, client, turn):
        for i in range(len(self.servers)):
            server = self.servers[(turn + i) % len(self.servers)]
            try:
                there = socket.create_connection(('127.0.0.1', server.port), timeout=5)
            except OSError:
                continue
            there.settimeout(None)
            self.used[server.name] += 1
            threading.Thread(target=self.copy, args=(client, there), daemon=True).start()
            self.copy(there, client)
            return
        client.close()

    @staticmethod
    def copy(source, target):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                target.sendall(data)
        except OSError:
            pass
        for s, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
            try:
                s.shutdown(how)
            except OSError:
                pass


class Fleet:
    def __init__(self, servers, balancer):
        self.servers, self.balancer, self.runs, self.mixtures = servers, balancer, 0, 0
        self.may_fail, self.got = False, collections.defaultdict(set)
        self.agents = agents()
        self.nodes = list(self.agents)
        self.kinds = len({' '.join(command) for command in self.agents.values()})

    def run(self, node):
        """Runs the agent of a node once. Returns its exit code."""
        home = BASE + '/' + node
        os.makedirs(home + '/etc', exist_ok=True)
        # Half of the nodes name a server, which differs from run to run.
        self.runs += 1
        server = self.servers[self.runs // 2 % len(self.servers)]
        away = server.process.poll() is not None
        port = self.balancer.port if self.runs % 2 or away else server.port
        if not os.path.exists(home + '/ssl/certs/%s.pem' % node):
            port = self.servers[0].port  # which has the authority
        options = ['--server', 'localhost', '--serverport', str(port), '--certname', node, '--confdir', home + '/etc',
                   '--ssldir', home + '/ssl', '--vardir', home + '/var', '--statedir', home + '/state',
                   '--rundir', home + '/run', '--logdir', home + '/log', '--publicdir', home + '/public']
        done = sh(*self.agents[node], 'agent', '--test', '--color', 'false', '--waitforcert', '0', *options,
                  status=None, cwd=BASE, env=os.environ | {'BIND': BASE})
        with open(home + '/out', 'a', encoding='utf-8') as f:
            f.write('--- exit %d\n%s%s\n' % (done.returncode, done.stdout, done.stderr))
        for version in self.versions(node).values():
            self.got[version].add(node)
        if done.returncode in (0, 2):
            self.check(node, done.stdout + done.stderr)
        elif not self.may_fail:
            problem('%s: exit %d\n%s%s' % (node, done.returncode, done.stdout, done.stderr[-2000:]))
        return done.returncode

    def versions(self, node):
        """Returns the versions of the node's files by kind."""
        out = {}
        for kind in ('content', 'source', 'folder/x'):
            try:
                with open('%s/%s/%s' % (MADE, node, kind), encoding='utf-8') as f:
                    out[kind] = f.read().strip()
            except OSError:
                out[kind] = 'none'
        found = glob.glob(BASE + '/' + node + '/var/**/number.rb', recursive=True)
        for path in found:
            with open(path, encoding='utf-8') as f:
                out['plugin'] = re.search(r"'(\w+)'", f.read()).group(1)
        return out

    def check(self, node, text):
        found = self.versions(node)
        if len(set(found.values())) != 1 or len(found) != 4:
            self.mixtures += 1
            problem('%s has a mixture: %s\n%s' % (node, found, text))

    def round(self):
        """Runs all agents at once. Returns the exit codes."""
        codes = {}

        def one(node):
            codes[node] = self.run(node)
        threads = [threading.Thread(target=one, args=(node,)) for node in self.nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return codes

    def have(self, version, nodes=None):
        for node in nodes or self.nodes:
            found = self.versions(node)
            if set(found.values()) != {version}:
                problem('%s has %s, not %s' % (node, found, version))


def commit(version, more=''):
    """Commits a version that writes its number in four ways."""
    module = CONTROL + '/modules/m'
    os.makedirs(CONTROL + '/manifests', exist_ok=True)
    for folder in ('files/folder', 'lib/facter'):
        os.makedirs(module + '/' + folder, exist_ok=True)
    for path, text in (('files/source', version + '\n'), ('files/folder/x', version + '\n'),
                       ('lib/facter/number.rb', "Facter.add(:number) { setcode { '%s' } }\n" % version)):
        with open(module + '/' + path, 'w', encoding='utf-8') as f:
            f.write(text)
    with open(CONTROL + '/manifests/site.pp', 'w', encoding='utf-8') as f:
        f.write('''$made = "%s/${trusted['certname']}"
file { [$made]: ensure => directory }
-> file { "$made/content": content => "%s\\n" }
-> exec { '/bin/sleep 0.3': }
-> file { "$made/source": source => 'puppet:///modules/m/source' }
-> file { "$made/folder": ensure => directory, recurse => true, purge => true, source => 'puppet:///modules/m/folder' }
%s
''' % (MADE, version, more))
    sh('git', '-C', CONTROL, 'add', '-A')
    sh('git', '-C', CONTROL, 'commit', '-qm', version)
    return sh('git', '-C', CONTROL, 'rev-parse', 'HEAD').stdout.strip()


def stored(server, fleet, before):
    """Waits until the reports of a round are in the store."""
    until('reports', lambda: reports(server) >= before + len(fleet.nodes))


def reports(server):
    return server.get('/pdb/query/v4?query=' + urllib.request.quote('reports[count()]{}'))[0]['count']


def begin_rollout(server, target):
    plan = BASE + '/plan.json'
    server.rollout('plan', '--to', target, '--out', plan, '--facts-from', server.database)
    with open(plan, encoding='utf-8') as f:
        canaries = [n['name'] for n in json.load(f)['nodes'] if n['wave'] == 0]
    server.rollout('start', plan)
    return canaries


def main():
    with open(BASE + '/gitconfig', 'w', encoding='utf-8') as f:
        f.write('[user]\n\temail = a@example.org\n\tname = A\n[init]\n\tdefaultBranch = production\n')
    os.environ['GIT_CONFIG_GLOBAL'] = BASE + '/gitconfig'
    os.makedirs(MADE)
    alone = os.environ.get('SERVERS') == '1'
    postgres = None if alone else Postgres()
    servers = [Server(i + 1, postgres.url if postgres else 'sqlite:%s/store.sqlite3' % BASE) for i in range(1 if alone else 2)]
    first, second = servers[0], servers[-1]
    try:
        sh('git', 'init', '-q', CONTROL)
        commit('v1')
        for server in servers:
            server.deploy()
        first.start()
        if not alone:
            sh(PROGRAM, 'ca', 'generate', '--certname', second.name, '--subject-alt-names', 'localhost', *first.options())
            second.start()
        scenario(servers, Fleet(servers, Balancer(servers)))
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.process.terminate()
                if server.process.wait() != 0:
                    problem(server.name + ' did not end well')
        if postgres:
            postgres.process.send_signal(signal.SIGINT)
            postgres.process.wait()
    return 1 if problems else 0


def switch(servers, fleet):
    """A good change reaches all nodes. The second server is killed and starts again in the canary wave."""
    first, second = servers[0], servers[-1]
    good = commit('v2')
    for server in servers:
        if not server.deploy().startswith('0 deployed, 1 prepared'):
            problem('the environment was switched')
    begin_rollout(first, good)
    until('moving', lambda: second.state() == 'moving')
    fleet.round()
    if first is not second:
        second.kill()
        fleet.round()
        if first.state() == 'done':
            problem('the rollout did not wait for the other server')
        second.start()
    for _ in range(12):
        if first.state() == 'done':
            break
        fleet.round()
    until('done', lambda: all(server.state() == 'done' for server in servers))
    fleet.round()
    fleet.have('v2')
    links = {os.path.basename(os.readlink(s.envs + '/production')) for s in servers}
    if len(links) != 1 or good[:12] not in links.pop():
        problem('the servers have different versions: %s' % links)


def go_back(servers, fleet):
    """A bad change stops with the canaries. The first server is killed while agents run and nodes go back."""
    first, second = servers[0], servers[-1]
    bad = commit('v3', "file { \"$made/extra\": content => 'x' }\n-> exec { '/bin/false': }\n")
    for server in servers:
        server.deploy()
    fleet.round()
    canaries = begin_rollout(second, bad)
    until('moving', lambda: first.state() == 'moving')
    fleet.may_fail = True
    # A node moves when both servers know the wave, so this may take a second round.
    for _ in range(6):
        fleet.round()
        if len(fleet.got['v3']) >= len(canaries):
            break
    fleet.may_fail = False
    until('returning', lambda: second.state() in ('returning', 'returned'))
    if sorted(fleet.got['v3']) != sorted(canaries):
        problem('%s got the bad version, not %s' % (fleet.got['v3'], canaries))
    # Connections to the server break, and canaries fail until all servers know that they go back.
    fleet.may_fail = True
    if first is not second:
        killer = threading.Timer(0.4, first.kill)
        killer.start()
        fleet.round()
        killer.join()
        first.start()
    for _ in range(6):
        if second.state() == 'returned':
            break
        fleet.round()
    until('returned', lambda: all(server.state() == 'returned' for server in servers))
    fleet.may_fail = False
    fleet.round()
    fleet.have('v2')
    if sorted(fleet.got['v3']) != sorted(canaries):
        problem('%s got the bad version in the end, not %s' % (fleet.got['v3'], canaries))
    clean_up(servers, fleet, canaries)


def clean_up(servers, fleet, canaries):
    """Agents of this program remove the file that the bad version created. For the others, the server has the command."""
    files = {node: '%s/%s/extra' % (MADE, node) for node in canaries}
    ours = [node for node in canaries if fleet.agents[node] == [PROGRAM]]
    for _ in range(3):
        if not any(os.path.exists(files[node]) for node in ours):
            break
        fleet.round()
    rollout = servers[0].get('/bunraku/v1/rollouts')[0]['id']

    def commands():
        left = servers[-1].get('/bunraku/v1/rollouts/%d/leftovers' % rollout)
        return {one['node']: one['command'] for one in left if one['resource'].startswith('File[')}
    expected = {node: "rm '%s'" % files[node] for node in canaries if node not in ours}
    if not until('leftovers', lambda: commands() == expected):
        problem('the leftovers are %s, not %s' % (commands(), expected))
    for node, path in files.items():
        if os.path.exists(path) == (node in ours):
            problem('%s %s the file of the bad version' % (node, 'still has' if node in ours else 'lost'))
    for command in expected.values():
        sh('sh', '-c', command)
    for path in files.values():
        if os.path.exists(path):
            problem('%s is still there' % path)


def scenario(servers, fleet):
    fleet.round()
    stored(servers[0], fleet, 0)
    fleet.round()
    fleet.have('v1')
    with open(CONTROL + '/rollout.yaml', 'w', encoding='utf-8') as f:
        # Each release of the agent has a canary, and all of them run with the bad version.
        f.write('soak: 0s\nproofs: 1\nproved: 100%%\nwaves: [50%%, 100%%]\nrollback: remove\ncanary_limit: %d\n'
                'thresholds: {canary: %d}\n' % (fleet.kinds, fleet.kinds))
    switch(servers, fleet)
    go_back(servers, fleet)
    used = fleet.balancer.used
    print('%d runs, %d mixtures, connections %s, the bad version on %s' %
          (fleet.runs, fleet.mixtures, used, sorted(fleet.got['v3'])))
    if min(used.values()) < 5:
        problem('the balancer used one server only: %s' % used)


sys.exit(main())
