"""Generates random catalogs: an initial state, a manifest, and changes between two runs. The seed
determines all of them. They only use paths that both sides of a comparison see: below /mnt, /etc
and /home."""
import random

import module_types

W = '/mnt/w'
S = '/mnt/src'
DIRS = ['a', 'b', 'c', 'a/x', 'a/y', 'b/x', 'a/x/deep']
NAMES = ['one', 'two', 'three.txt', '.hidden', 'four.conf', 'fünf']
TEXTS = ['', 'x\n', 'hello', 'hello\n', 'one\ntwo\nthree\n', 'grüß\n', 'a' * 600 + '\n', 'one\n2\nthree\n', 'tab\there\n']
MODES = ['0644', '0600', '0755', '0700', '0750', '0400', '2755', '1777', '4755', '0000']
SYMBOLIC = ['u=rwx,g=rx,o=r', 'a+x', 'go-rwx', 'u+s', 'ug=rw,o=', 'a=rX', '+t', 'u=rw,go=u-w', 'g=u']
LEVELS = ['debug', 'info', 'notice', 'warning', 'err', 'crit', 'alert', 'emerg', 'verbose']
USERS = ['root', 'nobody', 'daemon', '1', '65534', '12345', 'gen1', 'nosuch']
HASHES = {
    'sha256': '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
    'md5': 'b1946ac92492d2347c6235b8b2e12d3e',  # deliberately not the checksum of hello
    'sha1': 'f572d396fae9206628714fb2ce00f72e94f2258f',
}


def quoted(text):
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def shown(text):
    """Returns a text as a Puppet string, with escaped newlines."""
    body = text.replace('\\', '\\\\').replace('"', '\\"').replace('$', '\\$').replace('\n', '\\n').replace('\t', '\\t')
    return f'"{body}"'


def value(v):
    if isinstance(v, Raw):
        return str(v)
    if isinstance(v, bool):
        return 'true' if v else 'false'
    if isinstance(v, (int, float)):
        return str(v)
    if isinstance(v, list):
        return '[' + ', '.join(value(x) for x in v) + ']'
    if isinstance(v, dict):
        return '{' + ', '.join(f'{quoted(k)} => {value(x)}' for k, x in v.items()) + '}'
    return shown(v) if any(c in v for c in '\n\t') else quoted(v)


class Raw(str):
    """A verbatim piece of code."""


class Resource:
    def __init__(self, type_, title, attributes):
        self.type, self.title, self.attributes = type_, title, attributes
        self.sigil = ''
        self.place = None  # name of the class or define, or None at top scope

    def ref(self):
        return f"{self.type.capitalize()}[{quoted(self.title)}]"

    def code(self):
        lines = [f'{self.sigil}{self.type} {{ {value(self.title)}:']
        lines += [f'  {k} => {value(v)},' for k, v in self.attributes.items() if v is not None]
        return '\n'.join(lines + ['}'])


class Catalog:
    """`before` contains the scripts to run before the first and the second run; `options` contains
    options of apply."""

    def __init__(self, seed, focus=None):
        self.r = random.Random(seed)
        self.seed = seed
        self.resources = []
        self.statements = []
        self.before = [[], []]
        self.options = []
        self.focus = focus or self.r.choice(list(FOCUS))
        self.make()

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *choices):
        return self.r.choice(choices)

    def some(self, choices, most):
        return self.r.sample(choices, min(len(choices), self.r.randint(1, most)))

    # Initial state.
    def path(self, deep=True):
        r = self.r
        k = r.random()
        if k < 0.3 or not deep:
            return f'{W}/{r.choice(NAMES)}'
        if k < 0.4:
            return f'{W}/{r.choice(DIRS)}'
        if k < 0.45:
            return f'{W}/link{r.randint(1, 3)}'
        if k < 0.48:
            return f'{W}/missing/{r.choice(NAMES)}'
        return f'{W}/{r.choice(DIRS)}/{r.choice(NAMES)}'

    def world(self):
        r = self.r
        out = [f'mkdir -p {W} {S} /mnt/spool']
        for top in (W, S):
            for d in DIRS:
                if self.chance(0.5 if top == W else 0.8):
                    out.append(f'mkdir -p {top}/{d}; chmod {self.pick("755", "700", "775", "750")} {top}/{d}')
                    for n in NAMES:
                        if self.chance(0.3):
                            out += self.file_script(f'{top}/{d}/{n}')
            for n in NAMES:
                if self.chance(0.4):
                    out += self.file_script(f'{top}/{n}')
            if self.chance(0.5):
                out.append(f'ln -sfn {self.pick(top + "/one", "one", "a", "nowhere", top + "/a")} {top}/link1')
            if self.chance(0.3):
                out.append(f'ln -sfn {self.pick("two", "../src/one", "b/x")} {top}/link2')
            if self.chance(0.2):
                out.append(f'mkdir -p {top}/a/x; ln -sfn {self.pick("../one", "/nowhere", "../y", "deep")} {top}/a/x/link3')
            if self.chance(0.05):
                out.append(f'mkfifo {top}/fifo')
        return out

    def file_script(self, path):
        r = self.r
        text = r.choice(TEXTS).replace('%', '%%').replace('\n', '\\n').replace('\t', '\\t')
        out = [f"rm -rf '{path}'; printf '{text}' > '{path}'; chmod {self.pick('644', '600', '755', '444')} '{path}'"]
        if self.chance(0.2):
            out.append(f"chown {self.pick('nobody', 'daemon:daemon', '12345:54321', ':daemon')} '{path}'")
        if self.chance(0.5):
            out.append(f"touch -d '{self.pick('3 days ago', '2 hours ago', '40 days ago', '2020-01-01', '10 minutes ago')}' '{path}'")
        return out

    def drift(self):
        r = self.r
        out = []
        for _ in range(r.choice([0, 0, 1, 2, 3])):
            path = self.path()
            out.append(r.choice([
                f"rm -rf '{path}'",
                f"[ -f '{path}' ] && echo drift >> '{path}'",
                f"[ -e '{path}' ] && chmod 640 '{path}'",
                f"[ -e '{path}' ] && chown daemon '{path}'",
                f"rm -rf '{path}'; mkdir -p '{path}'",
                f"rm -rf '{path}'; ln -s /etc/hosts '{path}' || true",
                "sed -i '$d' /etc/hosts",
                "echo '10.9.9.9 drifted' >> /etc/hosts",
                "userdel gen1; true",
                "usermod -c drifted -s /bin/sh gen1; true",
                f"[ -e {S}/one ] && echo more >> {S}/one",
            ]))
        return out

    # Resource types.
    def file(self):
        r = self.r
        a = {}
        path = self.path()
        title = path
        if self.chance(0.1):
            title = self.pick('the file', 'x y', 'config', 'f-1') + str(r.randint(1, 3))
            a['path'] = path
        elif self.chance(0.04):
            title = path + '/'
        kind = r.choices(['text', 'source', 'dir', 'tree', 'absent', 'link', 'bare', 'odd'], [28, 15, 12, 14, 12, 8, 8, 3])[0]
        if kind == 'text':
            a['ensure'] = r.choice([None, None, 'file', 'present'])
            a['content'] = r.choice(TEXTS)
            k = r.random()
            if k < 0.05:
                a['content'] = Raw(f"Sensitive({shown(r.choice(TEXTS))})")
            elif k < 0.10:
                a['content'] = Raw(f"Deferred('sprintf', ['%s-%s', 'a', {shown(r.choice(TEXTS))}])")
            elif k < 0.13:
                algorithm = r.choice(list(HASHES))
                a['content'] = '{' + algorithm + '}' + HASHES[algorithm]
            elif k < 0.15:
                a['content'] = [r.choice(TEXTS), 'second']
            if self.chance(0.08):
                a['checksum_value'] = HASHES['sha256']
        elif kind == 'source':
            choices = [f'{S}/{n}' for n in NAMES] + [f'{S}/{d}/{n}' for d in DIRS for n in NAMES[:3]] + [f'file://{S}/one', 'puppet:///modules/m/text', 'puppet:///modules/m/missing', 'puppet:///modules/none/x']
            a['source'] = r.choice(choices) if self.chance(0.7) else r.sample(choices, 2)
            a['ensure'] = r.choice([None, None, 'file', 'present'])
            if self.chance(0.2):
                a['source_permissions'] = self.pick('use', 'use_when_creating', 'ignore')
            if self.chance(0.2):
                a['checksum'] = self.pick('md5', 'sha256', 'mtime', 'ctime', 'none', 'sha1', 'md5lite', 'sha256lite', 'sha512', 'sha384', 'sha224')
            if self.chance(0.1):
                a['links'] = self.pick('follow', 'manage')
        elif kind == 'dir':
            a['ensure'] = 'directory'
            if self.chance(0.25):
                a['recurse'] = self.pick(True, False, 'remote')
        elif kind == 'tree':
            path = f'{W}/{self.pick("", "a", "b", "a/x", "new")}'.rstrip('/')
            a.pop('path', None)
            title = path
            a['ensure'] = self.pick('directory', 'directory', 'directory', None, 'present')
            a['recurse'] = self.pick(True, True, True, 'remote', 'true', False)
            if self.chance(0.6):
                a['source'] = self.pick(S, f'{S}/a', f'{S}/b', 'puppet:///modules/m/tree', f'{S}/link1', [f'{S}/nosuch', f'{S}/a'], [f'{S}/a', f'{S}/b'])
                if isinstance(a['source'], list) and self.chance(0.7):
                    a['sourceselect'] = self.pick('all', 'first')
            if self.chance(0.35):
                a['recurselimit'] = self.pick(0, 1, 2, '1')
            if self.chance(0.45):
                a['purge'] = self.pick(True, True, False)
            if self.chance(0.3):
                a['ignore'] = self.pick('*.txt', ['.hidden', 'one'], 'x', ['*.conf', 't*'], 'a')
            if self.chance(0.2):
                a['links'] = self.pick('follow', 'manage')
            if self.chance(0.1):
                a['max_files'] = self.pick(2, 5, 100, 0, -1)
        elif kind == 'absent':
            a['ensure'] = 'absent'
        elif kind == 'link':
            if self.chance(0.5):
                a['ensure'] = 'link'
                a['target'] = self.pick(f'{W}/one', 'relative', '../a', '/nowhere', f'{W}/a')
            else:
                a['ensure'] = self.pick(f'{W}/two', '/etc/hosts', f'{W}/b', 'relative/target')
            if self.chance(0.1):
                a['links'] = self.pick('follow', 'manage')
        elif kind == 'odd':
            k = r.randint(0, 7)
            if k == 0:
                a['content'], a['source'] = 'x', f'{S}/one'
            elif k == 1:
                a['mode'] = self.pick('0999', 'rwx', 'u=q', '77777')
            elif k == 2:
                a['ensure'], a['target'] = self.pick('file', 'absent', 'directory'), '/x'
            elif k == 3:
                title = self.pick('relative/path', 'x', '/mnt/w//one', '/mnt/w/a/../one')
            elif k == 4:
                a['recurse'], a['source'] = 'remote', None
            elif k == 5:
                a[self.pick('contents', 'chmod', 'size')] = 'x'
            elif k == 6:
                a['checksum'], a['content'] = self.pick('mtime', 'none', 'bogus', 'ctime'), 'x\n'
            else:
                a['ensure'] = self.pick('', 'bogus', 'latest')
        elif self.chance(0.5):
            a['ensure'] = self.pick('present', 'file')
        if kind != 'odd' and kind != 'link':
            if self.chance(0.45):
                a['mode'] = r.choice(MODES) if self.chance(0.8) else r.choice(SYMBOLIC)
            if self.chance(0.2):
                a['owner'] = r.choice(USERS) if self.chance(0.8) else r.choice([0, 1, 12345])
            if self.chance(0.2):
                a['group'] = r.choice(['root', 'daemon', 'nogroup', '1', '54321', 'nosuch', 'geng1'])
        if self.chance(0.15):
            a['force'] = self.pick(True, True, False)
        if self.chance(0.3):
            a['backup'] = self.pick(False, '.bak', 'puppet', 'other', 'false', '.puppet-bak', True)
        if self.chance(0.08):
            a['replace'] = self.pick(True, False, 'no')
        if self.chance(0.08):
            a['show_diff'] = self.pick(True, False)
        if self.chance(0.06) and kind in ('text', 'source'):
            a['validate_cmd'] = self.pick('/bin/true', '/bin/false', '/usr/bin/test -s %', '/bin/grep -q hello %', "/bin/sh -c 'echo said; exit 3'")
            if self.chance(0.3):
                a['validate_replacement'], a['validate_cmd'] = '@@', '/usr/bin/test -s @@'
        if self.chance(0.04):
            a['checksum'] = self.pick('md5', 'sha1', 'sha512', 'md5lite')
        if self.chance(0.02):
            a['seltype'] = 'etc_t'
        return Resource('file', title, a)

    def exec(self):
        r = self.r
        n = r.randint(1, 9)
        marks = [f'/mnt/mark{i}' for i in range(1, 5)]
        command = r.choice([
            '/bin/true', '/bin/false', '/bin/echo hello', f'/bin/touch {r.choice(marks)}', f'/bin/rm -f {r.choice(marks)}',
            f'/bin/echo {n} >> /mnt/log', '/bin/sh -c "echo out; echo err >&2; exit 3"', "/bin/sh -c 'exit 2'", '/nonexistent/program',
            'true', 'echo unqualified', '/bin/pwd', '/usr/bin/env | /bin/grep ^GEN', '/bin/sh -c umask', '/usr/bin/id -un', '/bin/cat',
            "/usr/bin/printf 'a\\n\\nb'", '/mnt/w/one', '/bin/sleep 3', '/etc', "/bin/echo 'quo ted' \"dou ble\"", 'test -e /mnt/mark1',
            f'/bin/test -e {r.choice(marks)}', f'/bin/test -e {r.choice(marks)}', "/bin/sh -c 'kill -9 $$'"])
        a = {}
        title = command
        if command == '/bin/sleep 3':
            a['timeout'] = self.pick(1, '1', 0.5)
            if isinstance(a['timeout'], float):
                a['timeout'] = Raw('0.5')
        if self.chance(0.4):
            title = f'e{n}'
            a['command'] = command
            if self.chance(0.1):
                a['command'] = [w for w in command.replace('"', '').split(' ')]
        if not command.startswith('/') and self.chance(0.85) or self.chance(0.1):
            a['path'] = self.pick('/bin:/usr/bin', ['/bin', '/usr/bin'], '/usr/local/bin:/usr/bin:/bin')
        guards = [f'/usr/bin/test -e {r.choice(marks)}', '/bin/true', '/bin/false', '/bin/sh -c "echo guard; exit 1"', 'true', f'/usr/bin/test ! -e {r.choice(marks)}', '/nonexistent/guard', 'test -e /mnt/mark2']
        if self.chance(0.2):
            a['onlyif'] = r.choice(guards) if self.chance(0.7) else r.sample(guards, 2)
        if self.chance(0.2):
            a['unless'] = r.choice(guards) if self.chance(0.7) else r.sample(guards, 2)
        if self.chance(0.15):
            a['creates'] = r.choice(marks) if self.chance(0.8) else r.sample(marks, 2)
        if self.chance(0.25):
            a['refreshonly'] = self.pick(True, True, False, 'true')
        if self.chance(0.1):
            a['refresh'] = self.pick('/bin/echo refreshed', '/bin/false', '/bin/true', f'/bin/touch {r.choice(marks)}')
        if self.chance(0.15):
            a['returns'] = self.pick(0, 1, [0, 1], '3', ['0', '2', '3'], 2)
        if self.chance(0.06):
            a['tries'] = self.pick(2, '2', 3)
            if self.chance(0.4):
                a['try_sleep'] = self.pick(0, '0')
        if self.chance(0.1):
            a['cwd'] = self.pick('/mnt', '/', f'{W}/a', '/nonexistent')
        if self.chance(0.12):
            a['environment'] = self.pick('GEN=1', ['GEN_A=a', 'GEN_B=b c'], ['GEN=', 'GEN=2'], 'GEN_X=x=y')
        if self.chance(0.06):
            a['umask'] = self.pick('077', '0022', '27')
        if self.chance(0.06):
            a['user'] = self.pick('nobody', 'root', 'nosuch', 'daemon')
        if self.chance(0.03):
            a['group'] = self.pick('daemon', 'nosuch')
        if self.chance(0.3):
            a['logoutput'] = self.pick(True, False, 'on_failure')
        if self.chance(0.2):
            a['provider'] = self.pick('shell', 'shell', 'posix')
        if self.chance(0.02):
            a[self.pick('tries', 'umask', 'timeout', 'logoutput')] = 'bogus'
        return Resource('exec', title, a)

    def notify(self):
        a = {}
        if self.chance(0.5):
            a['message'] = self.pick('text', 'two\nlines', '', 12, Raw("Sensitive('secret')"), ['a', 'b'], Raw("{ 'a' => 1 }"), Raw("Deferred('join', [['p', 'q'], '-'])"), True, Raw('undef'))
        if self.chance(0.2):
            a['withpath'] = self.pick(True, False)
        return Resource('notify', f'n{self.r.randint(1, 9)}', a)

    def host(self):
        r = self.r
        a = {'ensure': r.choice([None, 'present', 'present', 'absent'])}
        title = self.pick('gen-a.example', 'gen-b', 'localhost', 'gen-c.example.org', 'drifted')
        if self.chance(0.8):
            a['ip'] = self.pick('10.0.0.1', '10.0.0.2', '::1', 'fe80::1', '127.0.0.1', '300.1.1.1' if self.chance(0.2) else '10.1.2.3')
        if self.chance(0.4):
            a['host_aliases'] = self.pick('al', ['al', 'bl'], [], ['bl', 'al'], 'sp ace' if self.chance(0.2) else 'cl')
        if self.chance(0.25):
            a['comment'] = self.pick('a comment', '', 'x#y')
        if self.chance(0.25):
            a['target'] = self.pick('/mnt/hosts', '/etc/hosts', f'{W}/one', '/mnt/no/such')
        return Resource('host', title, a)

    def cron(self):
        r = self.r
        a = {'ensure': r.choice([None, 'present', 'present', 'absent'])}
        if self.chance(0.9):
            a['command'] = self.pick('/bin/true', 'echo 50\\% done', 'date > /dev/null', '/bin/a', ' spaced ')
        for field, choices in (('minute', [0, '5', '*/5', [1, 31], '*', 'absent', '0-30']), ('hour', [3, ['2', '14'], '*', '0-6', 'absent', '03']),
                               ('monthday', [1, '31', '*', [1, 15]]), ('month', ['jan', 12, 'December', '*', ['feb', 'Mar']]),
                               ('weekday', ['mon', 0, 7, 'Sunday', ['Mon', 'fri'], '*'])):
            if self.chance(0.3):
                a[field] = r.choice(choices)
        if self.chance(0.02):
            a[self.pick('minute', 'hour', 'month')] = self.pick(61, '1,2', 'x', '*/x')
        if self.chance(0.15):
            a = {k: v for k, v in a.items() if k in ('ensure', 'command')} if self.chance(0.8) else a
            a['special'] = self.pick('daily', 'reboot', 'absent', 'hourly', 'weekly') if self.chance(0.95) else 'sometimes'
        if self.chance(0.2):
            a['environment'] = self.pick('A=b', ['A=b', 'MAILTO=x'], 'PATH=/bin:/usr/bin', 'Q=', 'bad' if self.chance(0.2) else 'R=s')
        if self.chance(0.4):
            a['user'] = self.pick('root', 'daemon', 'nosuch', 'gen1')
        if self.chance(0.1):
            a['target'] = self.pick('root', 'daemon')
        return Resource('cron', f'job {r.randint(1, 4)}', a)

    def user(self):
        r = self.r
        name = self.pick('gen1', 'gen2', 'gen3')
        a = {'ensure': r.choice([None, 'present', 'present', 'present', 'absent'])}
        options = {'uid': [4001, '4002', 4003, 1], 'gid': ['daemon', 1, 'geng1', '4101', 'nosuch'], 'groups': [['daemon'], 'bin', ['daemon', 'bin'], [], ['geng1'], ['nosuch'], ['sys,x'] if self.chance(0.1) else ['sys']],
                   'home': ['/home/gen1', '/home/other', '/home/gen2'], 'managehome': [True, True, False], 'comment': ['A user', '', 'Grüße', 'a:b'], 'shell': ['/bin/sh', '/bin/false', '/nonexistent/sh', 'relative' if self.chance(0.2) else '/bin/bash'],
                   'password': ['!', '$6$salt$hash', '*', Raw("Sensitive('$1$abc')"), 'pl:ain' if self.chance(0.2) else 'x'], 'password_min_age': [1, '2', 'x' if self.chance(0.1) else 0], 'password_max_age': [90, 99999, '-1'], 'password_warn_days': [7, 14],
                   'membership': ['inclusive', 'minimum'], 'expiry': ['2030-01-01', 'absent', 'soon' if self.chance(0.2) else '2031-12-31'], 'system': [True, False], 'allowdupe': [True, False], 'purge_ssh_keys': [True, False], 'forcelocal': [True]}
        chances = {'uid': .4, 'gid': .3, 'groups': .3, 'home': .35, 'managehome': .35, 'comment': .35, 'shell': .3, 'password': .2, 'membership': .15, 'allowdupe': .1, 'forcelocal': .02}
        for k, choices in options.items():
            if self.chance(chances.get(k, .08)):
                a[k] = r.choice(choices)
        return Resource('user', name, a)

    def group(self):
        r = self.r
        a = {'ensure': r.choice([None, 'present', 'present', 'absent'])}
        if self.chance(0.5):
            a['gid'] = self.pick(4101, '4102', 1, 'x' if self.chance(0.1) else 4103)
        if self.chance(0.1):
            a['allowdupe'] = self.pick(True, False)
        if self.chance(0.1):
            a['system'] = self.pick(True, False)
        if self.chance(0.05):
            a['members'] = self.pick(['gen1'], 'gen1,gen2')
        if self.chance(0.03):
            a['auth_membership'] = self.pick(True, False)
        return Resource('group', self.pick('geng1', 'geng2', 'geng3'), a)

    def augeas(self):
        path = self.pick('1', '2', '01', '*[ipaddr="10.1.1.1"]', '*[last()]', '/files/etc/hosts/2', '"3"', 'nothing', '2[' if self.chance(.2) else '$h')
        below = self.pick('canonical', 'alias[1]', 'alias[last()+1]', 'ipaddr', 'frob' if self.chance(.2) else 'canonical')
        word = self.pick('gen-a', 'gen-b', '"x y"', "'q'", '10.0.0.1', 'é' if self.chance(.2) else 'z', '')
        commands = [f'set {path}/{below} {word}', f'rm {path}/alias', f'remove {path}', f'clear {path}/{below}', f'touch {path}/{below}',
                    f'ins 01 {self.pick("before", "after", "beside")} {path}', f'insert alias after {path}/canonical', f'mv {path}/alias[1] 01/canonical',
                    f'setm *[canonical] {below} {word}', f'clearm * {below}', f'defvar h {path}', f'defnode h {path}/{below} {word}',
                    f'rename {path}/alias other', 'set 01/ipaddr 10.3.3.3', 'set 01/canonical new', '', '  # no comment', f'get {path} == {word}', 'frob x']
        changes = [self.r.choice(commands[:14] if self.chance(.85) else commands) for _ in range(self.r.randint(1, 4))]
        a = {'changes': changes if self.chance(.7) else '\n'.join(changes)}
        if self.chance(.8):
            a.update({'incl': '/etc/hosts', 'lens': 'Nope.lns' if self.chance(.05) else 'Hosts.lns'})
        else:
            a['context'] = self.pick('/files/etc/hosts', '/files/etc/hosts/', '/files', 'etc/hosts')
        if self.chance(.5):
            a['onlyif'] = self.pick(f'match {path} size {self.pick("==", "!=", ">", "<=", "=~")} {self.pick(0, 1, 2)}', f'get {path}/{below} {self.pick("==", "!=", "<", "=~")} {word}',
                                    f'values */canonical {self.pick("include", "not_include")} gen-b', "values *[1]/ipaddr == ['127.0.0.1']", f'match {path} include /files/etc/hosts/2',
                                    "match * != ['x', \"y\\n\"]", 'match * == [x', 'set a b', 'frob')
        if self.chance(.3):
            a['show_diff'] = self.pick(True, False)
        return Resource('augeas', self.pick('one', 'two', 'three', 'a b'), a)

    def tidy(self):
        r = self.r
        path = self.pick(W, f'{W}/a', f'{W}/b', f'{W}/one', f'{W}/nowhere', f'{W}/link1', S)
        a = {}
        if self.chance(0.75):
            a['age'] = self.pick('1d', '1h', '0', '2w', '30m', '100' if self.chance(0.3) else '3h', '5s', '1y' if self.chance(0.2) else '4d')
        if self.chance(0.3):
            a['size'] = self.pick('0', '1b', '1k', '500b', '1m', 'q' if self.chance(0.1) else '2k', 3)
        if self.chance(0.7):
            a['recurse'] = self.pick(True, True, 1, '2', False, 'inf', 0)
        if self.chance(0.4):
            a['matches'] = self.pick('*.txt', ['*.txt', 'one'], '[ot]*', '.*', 'f*')
        if self.chance(0.3):
            a['rmdirs'] = self.pick(True, False)
        if self.chance(0.3):
            a['type'] = self.pick('atime', 'mtime', 'mtime', 'ctime')
        if self.chance(0.2):
            a['backup'] = self.pick(False, '.bak', 'puppet')
        if self.chance(0.1):
            a['max_files'] = self.pick(1, 5, 0)
        return Resource('tidy', path if self.chance(0.7) else 'clean up', a if self.chance(0.7) else {**a, 'path': path})

    def schedule(self):
        r = self.r
        a = {}
        if self.chance(0.5):
            a['period'] = self.pick('hourly', 'daily', 'weekly', 'monthly', 'never')
            if self.chance(0.3):
                a['repeat'] = self.pick(1, 2, '3')
            if self.chance(0.3):
                a['periodmatch'] = self.pick('distance', 'number')
        if self.chance(0.4):
            a['range'] = self.pick('0:00 - 23:59', '2 - 4', ['1 - 2', '3 - 4'], '22 - 1', '0 - 24' if self.chance(0.2) else '0 - 23', '5' if self.chance(0.2) else '1:30 - 22:15')
        if self.chance(0.2):
            a['weekday'] = self.pick('Mon', ['Sat', 'Sun'], '3', 'never' if self.chance(0.2) else 'Friday', ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])
        return Resource('schedule', f's{r.randint(1, 3)}', a)

    def ssh_authorized_key(self):
        a = {'ensure': self.r.choice([None, 'present', 'present', 'absent'])}
        if self.chance(0.9):
            a['type'] = self.pick('ssh-rsa', 'rsa', 'ssh-ed25519', 'ed25519', 'bogus' if self.chance(0.1) else 'ssh-dss')
        if self.chance(0.9):
            a['key'] = self.pick('AAAAB3NzaC1yc2E', 'AAAAC3NzaC1lZDI1', 'with space' if self.chance(0.2) else 'AAAB')
        a['user'] = self.pick('gen1', 'root', 'nosuch', None)
        if self.chance(0.7):
            a['target'] = self.pick('/mnt/keys', f'{W}/a/keys', '/home/gen1/.ssh/authorized_keys')
        if a['user'] == 'root':
            a['target'] = '/mnt/keys'
        if self.chance(0.4):
            a['options'] = self.pick('no-pty', ['no-pty', 'command="/bin/x y"'], 'from="a,b"', [], 'bad option' if self.chance(0.2) else 'ok')
        if self.chance(0.1):
            a['drop_privileges'] = self.pick(True, False)
        return Resource('ssh_authorized_key', self.pick('me@there', 'key two', 'k3'), a)

    def sshkey(self):
        a = {'ensure': self.r.choice([None, 'present', 'present', 'absent']), 'type': self.pick('ssh-rsa', 'ed25519', 'rsa', None), 'target': '/mnt/known_hosts'}
        if self.chance(0.9):
            a['key'] = self.pick('AAAAB3NzaC1yc2E', 'AAAAC3NzaC1lZDI1')
        if self.chance(0.3):
            a['host_aliases'] = self.pick('al', ['al', '10.0.0.1'], 'a,b')
        return Resource('sshkey', self.pick('there', 'there.example', 'there@ssh-rsa'), a)

    def mailalias(self):
        a = {'ensure': self.r.choice([None, 'present', 'present', 'absent']), 'target': '/mnt/aliases'}
        if self.chance(0.85):
            a['recipient'] = self.pick('root', ['root', 'x@y'], '/dev/null', '"|prog a b"')
        elif self.chance(0.5):
            a['file'] = self.pick('/mnt/list', 'x')
        return Resource('mailalias', self.pick('postmaster', 'gen', 'list-x'), a)

    def mount(self):
        a = {'ensure': self.pick('defined', 'present', 'absent', 'defined'), 'target': '/mnt/fstab'}
        options = {'device': ['/dev/none', 'tmpfs', 'UUID=1234', 'server:/x'], 'fstype': ['ext4', 'tmpfs', 'nfs'], 'options': ['defaults', 'ro,noatime', 'a b' if self.chance(0.1) else 'rw', '' if self.chance(0.1) else 'nosuid'],
                   'dump': [0, 1, '1', 2 if self.chance(0.1) else 0], 'pass': [0, 2, '1'], 'atboot': [True, False, 'yes'], 'remounts': [True, False]}
        for k, choices in options.items():
            if self.chance(0.85 if k in ('device', 'fstype') else 0.3):
                a[k] = self.r.choice(choices)
        return Resource('mount', self.pick('/mnt/w/a', '/mnt/w/b/', '/mnt/sp ace', '/mnt/w'), a)

    def resources_(self):
        kind = self.pick('host', 'host', 'cron', 'cron', 'mailalias', 'mailalias', 'mount', 'sshkey', 'notify', 'nosuch')
        a = {'purge': self.pick(True, True, True, False)}
        return Resource('resources', kind, a)

    def filebucket(self):
        return Resource('filebucket', 'other', {'path': self.pick('/mnt/bucket', False, None)})

    # Adds metaparameters.
    def meta(self, res):
        a = res.attributes
        if self.chance(0.06):
            a['noop'] = self.pick(True, True, False)
        if self.chance(0.04):
            a['loglevel'] = self.r.choice(LEVELS)
        if self.chance(0.06):
            a['audit'] = self.pick('all', ['ensure'], 'mode' if res.type == 'file' else 'ensure', 'all', 'owner')
        if self.chance(0.12):
            a['tag'] = self.pick('red', ['red', 'blue'], 'blue', 'x::y')
        if self.chance(0.05):
            a['schedule'] = self.pick('s1', 's2', 'daily', 'never', 'puppet', 'nosuch')
        if self.chance(0.02):
            a['alias'] = self.pick('other name', 'al1')
        if self.chance(0.006):
            a[self.pick('bogus', 'requires')] = 'x'
        if res.type in ('notify', 'file') and self.chance(0.03):
            a['message' if res.type == 'notify' else 'content'] = self.deferred()

    def deferred(self):
        """Returns a value that is computed on the node."""
        return Raw(self.pick(
            "Deferred('inline_epp', ['<%= 1 + 1 %>'])", "Deferred('new', [Sensitive, 'x'])", f"Deferred('binary_file', ['{W}/one'])",
            "Deferred('fail', ['not here'])", "Deferred('sprintf', ['%s-%d', 'a', 3])", "[Deferred('upcase', ['a']), 'b']",
            "Deferred('inline_epp', ['<%= $s %>', { 's' => Deferred('new', [Sensitive, 'y']) }])", "Deferred('nosuch_function', [])", "Deferred('$facts', ['kernel'])"))

    def relations(self):
        r = self.r
        known = self.resources
        for i, res in enumerate(known):
            if len(known) > 1 and self.chance(self.density):
                j = r.randrange(len(known))
                if j == i:
                    continue
                other = known[j]
                forward = self.pick('before', 'notify') if i < j else self.pick('require', 'subscribe')
                if self.chance(0.02):
                    forward = self.pick('before', 'notify', 'require', 'subscribe')
                ref = Raw(other.ref())
                if self.chance(0.01):
                    ref = Raw("File['/not/there']")
                elif self.chance(0.15) and len(known) > 2:
                    k = r.randrange(len(known))
                    if (k > i) == (j > i) and k != i:
                        ref = [ref, Raw(known[k].ref())]
                res.attributes[forward] = ref
        for _ in range(r.choice([0, 0, 1, 2])):
            if len(known) > 2:
                i, j = sorted(r.sample(range(len(known)), 2))
                self.statements.append(f'{known[i].ref()} {self.pick("->", "~>")} {known[j].ref()}')

    def structure(self):
        """Classes, defines, stages, virtual resources, collectors, defaults."""
        r = self.r
        lines = []
        groups = {}
        if self.chance(0.4):
            for res in self.resources:
                k = r.random()
                if k < 0.25:
                    res.place = 'c1'
                elif k < 0.45:
                    res.place = 'c2'
                elif k < 0.6:
                    res.place = 'd1'
                if res.place:
                    groups.setdefault(res.place, []).append(res)
        if self.chance(0.15):
            for res in self.some(self.resources, 2):
                res.sigil = '@'
            lines.append(self.pick('File <| |>', 'Notify <| tag == red |>', f'realize({self.resources[0].ref()})', 'Exec <| title != x |>', 'File <| tag == blue or mode == 0644 |>'))
        if self.chance(0.12):
            lines.append(self.pick("File <| |> { mode => '0604' }", "Exec <| tag == 'red' |> { logoutput => true }", "Notify <| |> { withpath => true }", "File <| tag == 'red' |> { owner => 'daemon' }"))
        if self.chance(0.1):
            lines.append(self.pick("File <| |> -> Notify <| |>", "Notify <| |> -> Exec <| |>", "File <| |> ~> Exec <| |>"))
        if self.chance(0.2):
            lines.append(self.pick("File { mode => '0640' }", "File { backup => '.def' }", "Exec { path => '/bin:/usr/bin' }", "Exec { logoutput => true }", "Notify { withpath => true }", "File { owner => 'daemon', tag => 'blue' }", 'Resource { }' if False else "File { noop => true }"))
        for name in sorted(groups):
            word = 'define' if name.startswith('d') else 'class'
            body = '\n'.join('  ' + l for res in groups[name] for l in res.code().split('\n'))
            lines.append(f'{word} {name} {{\n{body}\n}}')
            attributes = {}
            if self.chance(0.2) and word == 'class':
                attributes['stage'] = self.pick('pre', 'main', 'post')
            if self.chance(0.1):
                attributes['noop'] = True
            if self.chance(0.1):
                attributes['tag'] = 'grouped'
            if self.chance(0.05):
                attributes['schedule'] = self.pick('daily', 'never')
            if word == 'define':
                lines.append(Resource(name, 'thing', attributes).code())
            elif attributes or self.chance(0.3):
                lines.append(Resource('class', name, attributes).code())
            else:
                lines.append(f'{self.pick("include", "contain", "require")} {name}')
            if 'stage' in attributes:
                lines.append("stage { 'pre': before => Stage['main'] }\nstage { 'post': require => Stage['main'] }")
        lines = list(dict.fromkeys(lines))
        stages = [l for l in lines if l.startswith('stage')]
        if stages:
            lines = [l for l in lines if not l.startswith('stage')] + stages[:1]
        if len(groups) > 1 and self.chance(0.4):
            names = ["Class['c1']" if n == 'c1' else "Class['c2']" if n == 'c2' else "D1['thing']" for n in sorted(groups)]
            lines.append(f' {self.pick("->", "~>")} '.join(names))
        return lines

    def choose_options(self):
        o = self.options
        for text, p in (('--detailed-exitcodes', .7), ('--verbose', .6), ('--show_diff', .4), ('--noop', .1), ('--evaltrace', .04), ('--graph', .1), ('--ignoreschedules', .03),
                        ('--write_catalog_summary', .12), ('--merge_dependency_warnings', .06), ('--no-exclude_unchanged_resources', .5), ('--digest_algorithm=md5', .05),
                        ('--preprocess_deferred', .1), ('--summarize', .05), ('--no-default_schedules', .05), ('--diff_args=-U1', .04), ('--debug', 0)):
            if self.chance(p):
                o.append(text)
        if self.chance(0.1):
            o.append('--tags=' + self.pick('red', 'file', 'exec,notify', 'c1', 'blue', 'nosuch', 'c1,red'))
        if self.chance(0.06):
            o.append('--skip_tags=' + self.pick('red', 'notify', 'c2', 'blue,exec'))

    def make(self):
        r = self.r
        self.before[0] = self.world()
        weights = FOCUS[self.focus]
        kinds = list(weights)
        self.density = self.pick(0.1, 0.3, 0.6)
        seen = set()
        for _ in range(r.choice([1, 2, 3, 5, 8, 12])):
            kind = r.choices(kinds, [weights[k] for k in kinds])[0]
            res = Resource(*module_types.KINDS[kind](self)) if kind in module_types.KINDS else getattr(self, kind)()
            key = (res.type, res.title.rstrip('/') if res.type == 'file' else res.title)
            path = res.attributes.get('path') if res.type in ('file', 'tidy') else None
            if not self.chance(0.01) and (key in seen or (res.type, path) in seen):
                continue
            seen.add(key)
            if path:
                seen.add((res.type, path))
            self.meta(res)
            self.resources.append(res)
        if any(res.attributes.get('backup') == 'other' for res in self.resources) and self.chance(0.9) and ('filebucket', 'other') not in seen:
            self.resources.append(self.filebucket())
        for name in ('s1', 's2'):
            if any(res.attributes.get('schedule') == name for res in self.resources) and ('schedule', name) not in seen:
                s = self.schedule()
                s.title = name
                self.resources.append(s)
        if any(k in self.focus for k in ('account', 'all')) and self.chance(0.5):
            self.before[0] += ['groupadd -g 4101 geng1', 'useradd -u 4001 -g geng1 -c start gen1']
        if self.chance(0.3):
            self.before[0].append("printf '10.0.0.5 gen-b bl # old\\n# a comment\\n\\n10.1.1.1 foreign\\n' >> /etc/hosts")
        if self.chance(0.2):
            self.before[0].append("printf '# Puppet Name: job 1\\n* * * * * /bin/old\\n5 4 * * 1 /bin/foreign\\nX=y\\n# Puppet Name: gone\\n@daily /bin/gone\\n' > /mnt/spool/root")
        if self.chance(0.2):
            self.before[0].append("printf '/dev/none /mnt/w/a ext4 defaults 0 0\\n# c\\ntmpfs /mnt/w tmpfs ro 1 2\\n' > /mnt/fstab")
        if self.chance(0.2):
            self.before[0].append("printf 'gen: root\\npostmaster: a, b\\n#x\\n' > /mnt/aliases")
        self.relations()
        self.choose_options()
        extra = self.structure()
        top = [res.code() for res in self.resources if not res.place]
        self.manifest = '\n'.join(top + extra + self.statements) + '\n'
        self.before[1] = self.drift()
        if self.focus in ('modules', 'archives'):
            self.before[0] += module_types.world(self)
            self.before[1] += module_types.drift(self)
        if self.focus in ('modules', 'repositories'):
            self.before[0] += module_types.git_world(self)
            self.before[1] += module_types.git_drift(self)

    def script(self, i):
        return '\n'.join(self.before[i]) + '\n'


FOCUS = {
    'files': {'file': 20, 'notify': 1, 'exec': 1},
    'trees': {'file': 20, 'tidy': 4},
    'execs': {'exec': 20, 'notify': 4, 'file': 2},
    'accounts': {'user': 8, 'group': 5, 'file': 3, 'exec': 1, 'notify': 1, 'ssh_authorized_key': 2},
    'texts': {'host': 5, 'cron': 5, 'mount': 3, 'mailalias': 3, 'sshkey': 2, 'ssh_authorized_key': 3, 'resources_': 2, 'notify': 1},
    'all': {'file': 10, 'exec': 8, 'notify': 5, 'host': 2, 'cron': 2, 'user': 1, 'group': 1, 'tidy': 2, 'schedule': 1, 'mount': 1, 'mailalias': 1, 'resources_': 1, 'filebucket': 1},
    'augeas': {'augeas': 8, 'host': 2, 'notify': 1},
    'modules': {**{kind: 4 for kind in module_types.KINDS}, 'file': 1, 'notify': 1},
    'archives': {'archive': 8, 'file': 1, 'notify': 1},
    'repositories': {'vcsrepo': 8, 'file': 1, 'notify': 1},
    'order': {'notify': 8, 'exec': 8, 'file': 3},
}
