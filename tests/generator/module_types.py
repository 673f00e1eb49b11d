"""Resources of built-in types that originate from modules. Each function returns type, title and
attributes. `c` is the catalog, whose seed decides."""
import hashlib

M = '/mnt/w/mod'
FILES = [f'{M}/a.conf', f'{M}/b.ini', f'{M}/c', f'{M}/link', f'{M}/new', f'{M}/none/x']
LINES = ['x = 1', 'one', 'two words', '  indented', 'grüß', '', 'x=2', '# comment', '[top]', 'y : 3']
INI = ['x = 1', 'x=2', ' y = a b ', '#x = 5', '; y = old', '[top]', '[ top ]', '[other]', '[a]b]', '', '', '# note', 'flag', 'z = "q w e"', 'opts = -Xmx1 -Da=b -v', 'l = a,b,c', 'x = 3',
       '\tt = 1', 'e =', 'k: v', '[last]']


def text(c):
    """A file with random lines."""
    lines = [c.r.choice(INI if c.chance(.8) else LINES) for _ in range(c.r.choice([0, 1, 3, 6, 10, 14]))]
    out = '\n'.join(lines) + ('' if c.chance(.2) else '\n')
    return out.replace('\n', '\r\n') if c.chance(.05) else out


def world(c):
    out = [f'mkdir -p {M}']
    for path in FILES[:3]:
        if c.chance(.85):
            body = text(c).replace('\\', '\\\\').replace('%', '%%').replace("'", "'\\''").replace('\n', '\\n').replace('\r', '\\r')
            if c.chance(.03):
                body += '\\377\\n'
            out.append(f"printf '{body}' > {path}; chmod {c.pick('644', '600', '444', '640')} {path}")
            if c.chance(.1):
                out.append(f'chown daemon {path}')
    out.append(f'ln -sfn {c.pick("c", "a.conf", "nowhere", "/mnt/w/mod/b.ini")} {M}/link')
    out += [f'mkdir -p {M}/in/sub {M}/out', f'echo one >{M}/in/one; echo two >{M}/in/sub/two', f'printf payload >{M}/plain']
    pack = f'tar -C {M} --sort=name --mtime=@0 --owner=0 --group=0'
    out += [f'{pack} -cf {M}/p.tar in', f'{pack} -czf {M}/p.tgz in', f'{pack} -cJf {M}/p.txz in', f'gzip -nk {M}/plain', f'echo broken >{M}/bad.tgz']
    return out


def drift(c):
    path = c.r.choice(FILES[:3])
    return [c.pick(f"printf '[new]\\nx = 9\\n' >> {path}", f'rm -f {path}', f"sed -i 's/x/y/' {path}", f"sed -i 1d {path}", f"printf 'one\\n\\n' > {path}", 'true')]


def file_line(c):
    a = {'ensure': c.pick(None, 'present', 'present', 'absent'), 'path': c.pick(*FILES, 'relative' if c.chance(.2) else FILES[0], None if c.chance(.1) else FILES[1])}
    if c.chance(.92):
        a['line'] = c.pick(*LINES, 'two\nlines' if c.chance(.2) else 'new', c.pick(5, True, ['a', 'b']) if c.chance(.1) else 'x = 4')
    for key, p in (('match', .5), ('after', .25)):
        if c.chance(p):
            a[key] = c.pick('^x', 'x', '^$', '^\\s*#', 'zz', '(?i)ONE', 'w.*s', 'ü', '^\\[', 'x = [0-9]+$', '[' if c.chance(.2) else '.', '')
    for key in ('multiple', 'replace', 'append_on_no_match', 'match_for_absence', 'replace_all_matches_not_matching_line'):
        if c.chance(.3):
            a[key] = c.pick(True, False, 'true', 'false', 'maybe' if c.chance(.05) else True)
    if c.chance(.05):
        a['encoding'] = c.pick('utf-8', 'iso-8859-1', 'UTF-8', 'nope')
    if c.chance(.03):
        a['provider'] = c.pick('ruby', 'other')
    return 'file_line', c.pick('l1', 'l2', 'l3', 'a line'), a


def ini(c):
    a = {'ensure': c.pick(None, 'present', 'present', 'absent'), 'path': c.pick(*FILES, 'relative' if c.chance(.2) else FILES[0])}
    if c.chance(.85):
        a['section'] = c.pick('top', 'other', '', 'a]b', 'new one', 'last', ' top ')
    if c.chance(.3):
        a['key_val_separator'] = c.pick('=', ' = ', ': ', ' ', '\t', '=>', '  ')
    if c.chance(.2):
        a['show_diff'] = c.pick(True, False, 'md5', 'yes' if c.chance(.1) else 'true')
    return a


def ini_setting(c):
    a = ini(c)
    if c.chance(.95):
        a['setting'] = c.pick('x', 'y', 'z', 'flag', 'new', 'opts', 'k', 'two words', 'e', ' sp' if c.chance(.1) else 't')
    if c.chance(.9):
        a['value'] = c.pick('1', '2', 'a b', '', ' padded ', 3, True, 2.5 if c.chance(.3) else 'q', '"quoted"', 'ünï', '#hash', ['l'] if c.chance(.1) else 'v')
    if c.chance(.15):
        a['force_new_section_creation'] = c.pick(True, False, 'no', 'maybe' if c.chance(.1) else False)
    if c.chance(.12):
        a['section_prefix'] = c.pick('[', '-', '', '<<')
        a['section_suffix'] = c.pick(']', '-', '', '>>')
    if c.chance(.2):
        a['indent_char'] = c.pick(' ', '\t', '..')
    if c.chance(.25):
        a['indent_width'] = c.pick(0, 2, '4', 'x' if c.chance(.1) else 1)
    if c.chance(.12):
        a['refreshonly'] = c.pick(True, False, 'yes')
    return 'ini_setting', c.pick('s1', 's2', 's3', 'a setting'), a


def ini_subsetting(c):
    a = ini(c)
    a['setting'] = c.pick('z', 'opts', 'l', 'new', 'x')
    a['subsetting'] = c.pick('-Xmx', '-D', 'a', 'b', 'q', '-v', 'new')
    if c.chance(.8):
        a['value'] = c.pick('1', '512m', '', 'b', '=c', 5 if c.chance(.05) else 'z')
    for key, p, words in (('subsetting_separator', .3, [' ', ',', ', ', ';', '|', '']), ('subsetting_key_val_separator', .2, ['', '=', ':']), ('quote_char', .2, ['', '"', "'", 'x']),
                          ('use_exact_match', .25, [True, False, 'true']), ('insert_type', .4, ['start', 'end', 'before', 'after', 'index', 'middle']),
                          ('delete_if_empty', .2, [True, False])):
        if c.chance(p):
            a[key] = c.r.choice(words)
    if 'insert_type' in a and c.chance(.9):
        a['insert_value'] = c.pick('a', 'b', '-v', 0, 1, '1', 9)
    return 'ini_subsetting', c.pick('u1', 'u2', 'u3'), a


def concat_file(c):
    a = {'ensure': c.pick(None, 'present', 'present', 'absent'), 'path': c.pick(f'{M}/c', f'{M}/cat', f'{M}/none/cat' if c.chance(.2) else f'{M}/cat2')}
    for key, p, words in (('tag', .3, ['t1', 't2']), ('mode', .3, ['0600', '0644', 'u=rw,g=r', 640 if c.chance(.2) else '640']), ('owner', .2, ['daemon', 'root', '0']), ('group', .15, ['daemon']),
                          ('order', .3, ['alpha', 'numeric', 'odd' if c.chance(.1) else 'alpha']), ('backup', .3, [False, '.bak', 'puppet', 5 if c.chance(.1) else True]),
                          ('replace', .15, [True, False, 'no']), ('ensure_newline', .4, [True, False, 'yes', 'maybe' if c.chance(.1) else True]), ('show_diff', .2, [True, False]),
                          ('validate_cmd', .15, ['/bin/true %', '/bin/grep -q one %']), ('force', .1, [True]), ('format', .12, ['plain', 'json', 'yaml'])):
        if c.chance(p):
            a[key] = c.r.choice(words)
    return 'concat_file', c.pick('cat1', 'cat2'), a


def concat_fragment(c):
    a = {'target': c.pick('cat1', 'cat1', 'cat2', f'{M}/cat', f'{M}/c', 'nowhere', None)}
    if c.chance(.8):
        a['content'] = c.pick('one\n', 'two', '', 'grüß\n', 'a\n\nb', '{"k": 1}', '{"l": [1]}', ['x'] if c.chance(.1) else 'three\n')
    if 'content' not in a or c.chance(.05):
        a['source'] = c.pick(f'{M}/a.conf', '/etc/hostname', ['/nope', f'{M}/b.ini'], f'file://{M}/c', '/nope')
    if c.chance(.7):
        a['order'] = c.pick('01', '10', '2', 3, '02', 'a', '1b', '5:1' if c.chance(.1) else '007', '10')
    if c.chance(.25):
        a['tag'] = c.pick('t1', 't2', 't3')
    return 'concat_fragment', c.pick('f1', 'f2', '10', 'f 4', 'f5', 'F6'), a


PAYLOAD = {k: hashlib.new(k, b'payload').hexdigest() for k in ('md5', 'sha1', 'sha256', 'sha384', 'sha512')}


def archive(c):
    name = c.pick('a.tgz', 'b.tar', 'c.tar.gz', 'd.txz', 'got', 'got', 'e.gz', 'f.tar.bz2', 'odd name' if c.chance(.1) else 'got')
    path = f'{M}/{c.pick("dl", "out", "none/x", ".")}/{name}'
    packed = {'tgz': 'p.tgz', 'tar': 'p.tar', 'tar.gz': 'p.tgz', 'txz': 'p.txz', 'gz': 'plain.gz'}.get(name.partition('.')[2], 'plain')
    a = {'ensure': c.pick(None, None, 'present', 'absent' if c.chance(.5) else None),
         'source': c.pick(f'{M}/{packed}', f'{M}/{packed}', f'file://{M}/{packed}', f'{M}/bad.tgz', f'{M}/nosuch', 'puppet:///modules/m/text',
                          'http://127.0.0.1:9/x' if c.chance(.3) else f'{M}/{packed}', None if c.chance(.2) else f'{M}/{packed}')}
    if c.chance(.5):
        kind = c.pick(*PAYLOAD, 'none', 'sha2' if c.chance(.1) else 'sha256')
        a['checksum_type'] = kind
        a['checksum'] = c.pick(PAYLOAD.get(kind, PAYLOAD['sha256']), PAYLOAD.get(kind, PAYLOAD['md5']), PAYLOAD['md5'], None, 'nohex' if c.chance(.1) else None)
    if c.chance(.6):
        a['extract'] = c.pick(True, True, 'true', False, 'maybe' if c.chance(.05) else True)
    if c.chance(.6):
        a['extract_path'] = c.pick(f'{M}/out', f'{M}/out', f'{M}/missing', 'relative' if c.chance(.1) else M)
    for key, p, words in (('creates', .5, [f'{M}/out/in/one', f'{M}/out/in/none', f'{M}/plain', f'{M}/in/one']), ('cleanup', .5, [True, False, 'false']), ('checksum_verify', .2, [True, False]),
                          ('extract_flags', .15, ['xf', '-xzf', '--nonsense']), ('extract_command', .15, ['tar xzf %s', 'cat', 'false %s', 'cp %s copied', 'tar xf %s %s' if c.chance(.1) else 'true']),
                          ('user', .1, ['daemon', 'nosuchuser']), ('group', .07, ['daemon']), ('temp_dir', .15, [f'{M}/out', f'{M}/missing', '/tmp']), ('allow_insecure', .1, [True, False]),
                          ('cookie', .05, ['k=v']), ('download_options', .05, ['-k', ['-k', '-v']]), ('provider', .06, ['curl', 'ruby', 'other'])):
        if c.chance(p):
            a[key] = c.r.choice(words)
    if c.chance(.05):
        a['url'] = f'file://{M}/{packed}'
    # An archive that cannot be extracted would abort Puppet's complete run.
    if '.' not in name and a.get('extract') in (True, 'true'):
        a['extract_command'] = 'cat %s'
    return 'archive', path, a


R = '/mnt/w/git'
UP = f'{R}/up'


def stream(*commits):
    """Returns input for git fast-import from tuples (branch, from, file, text). The commit IDs are
    reproducible."""
    out = []
    for i, (branch, start, file, text) in enumerate(commits):
        said = f'{branch} {file} {text}'
        out.append(f'commit refs/heads/{branch}\ncommitter A <a@example.com> {1000000000 + i} +0000\ndata {len(said)}\n{said}')
        if start:
            out.append(f'from {start}')
        out.append(f'M 100644 inline {file}\ndata {len(text) + 1}\n{text}\n')
    return '\n'.join(out) + '\n'


def imported(folder, text):
    return f"git -C {folder} fast-import --quiet --force <<'END'\n{text}END"


def git_world(c):
    tags = ''.join(f'tag {name}\nfrom refs/heads/{branch}\ntagger A <a@example.com> 1000000100 +0000\ndata 1\nt\n' for name, branch in (('v1', 'main'), ('v2', 'dev')))
    out = ["printf '[user]\\n\\tname = A\\n\\temail = a@example.com\\n[init]\\n\\tdefaultBranch = main\\n[gc]\\n\\tauto = 0\\n' >/etc/gitconfig", f'mkdir -p {R}; git init -q --bare {UP}', imported(UP, stream(
        ('main', None, 'f', 'one'), ('main', None, 'g', 'g'), ('dev', 'refs/heads/main', 'f', 'two'), ('rel.1', 'refs/heads/main', 'h', 'h')) + tags + 'reset refs/tags/light\nfrom refs/heads/main\n'),
        f'git init -q --bare {R}/other', imported(f'{R}/other', stream(('main', None, 'o', 'o'), ('dev', 'refs/heads/main', 'o', 'p')))]
    for name in 'abcd':
        at = f'{R}/{name}'
        state = c.pick(None, None, 'mkdir -p {0}', 'mkdir -p {0}; echo x >{0}/x', 'git clone -q {1} {0}', 'git clone -q {1} {0}', 'git clone -q -b dev {1} {0}', 'git clone -q -b v1 {1} {0} 2>/dev/null',
                       'git clone -q {2} {0}', 'git clone -q --bare {1} {0}', 'git clone -q --mirror {1} {0}', 'git init -q {0}', 'git init -q --bare {0}', 'echo x >{0}', 'git clone -q -o up {1} {0}',
                       'git clone -q {1} {0}; echo changed >{0}/f', 'git clone -q {1} {0}; git -C {0} remote add other {2}', 'git clone -q --depth 1 file://{1} {0}')
        if state:
            out.append(state.format(at, UP, f'{R}/other'))
    return out


def git_drift(c):
    out = []
    if c.chance(.5):
        out.append(imported(UP, stream((c.pick('main', 'dev'), 'refs/heads/main^0', 'n', 'new'))))
    if c.chance(.2):
        out.append(c.pick(f'git -C {UP} branch -q -D dev', f'git -C {UP} tag -f v1 dev >/dev/null', f'git -C {UP} branch -q -m rel.1 rel.2'))
    for name in 'abcd':
        if c.chance(.2):
            at = f'{R}/{name}'
            out.append(c.pick('rm -rf {0}', 'echo changed >{0}/f', 'git -C {0} checkout -q -b own', 'git -C {0} checkout -q dev', 'git -C {0} remote set-url origin {1}', 'rm -rf {0}/.git/HEAD',
                              'echo more >>{0}/g; GIT_AUTHOR_DATE="1000000200 +0000" GIT_COMMITTER_DATE="1000000200 +0000" git -C {0} commit -q -a -m own').format(at, f'{R}/other') + ' 2>/dev/null')
    return out


def vcsrepo(c):
    a = {'ensure': c.pick('present', 'present', 'present', 'latest', 'latest', 'bare', 'mirror', 'absent', None if c.chance(.1) else 'present'),
         'provider': 'git' if not c.chance(.03) else c.pick(None, 'dummy'),
         'source': c.pick(UP, UP, UP, UP + '/', f'file://{UP}', f'{R}/other', f'{R}/none', None, {'origin': UP}, {'origin': UP, 'other': f'{R}/other'}, {'up': UP})}
    if c.chance(.5):
        a['revision'] = c.pick('main', 'dev', 'dev', 'v1', 'v2', 'light', 'rel.1', 'none', 'HEAD', c.pick('c0ffee', 'a b') if c.chance(.2) else 'main')
    for key, p, words in (('force', .25, [True, 'yes', False]), ('owner', .1, ['daemon', '1', 'nosuchuser', 'root']), ('group', .1, ['daemon', 'nosuchgroup']), ('user', .06, ['root', 'daemon', 'nosuchuser']),
                          ('depth', .1, [1, '1', 0]), ('branch', .1, ['dev', 'none']), ('remote', .12, ['up', 'origin', 'other']), ('submodules', .15, [True, False, 'false']),
                          ('trust_server_cert', .1, [True, False]), ('keep_local_changes', .15, [True, False]), ('skip_hooks', .15, [True, False]), ('umask', .1, ['0027', '77', '8']),
                          ('safe_directory', .1, [True, False]), ('identity', .05, ['/root/.ssh/id']), ('http_proxy', .04, ['http://127.0.0.1:9']), ('excludes', .06, [['x', 'y']])):
        if c.chance(p):
            a[key] = c.r.choice(words)
    if c.chance(.05):
        a['noop'] = True
    if c.chance(.03):
        a['audit'] = 'all'
    return 'vcsrepo', c.pick(*(f'{R}/{name}' for name in 'abcd'), f'{R}/e', f'{R}/none/e' if c.chance(.3) else f'{R}/e'), a


KINDS = {f.__name__: f for f in (file_line, ini_setting, ini_subsetting, concat_file, concat_fragment, archive, vcsrepo)}
