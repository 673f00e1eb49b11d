"""Compares the results of two runs of a catalog."""
import difflib
import os
import re
import stat

import yaml

MNT = '/box'


def normal(text):
    text = re.sub(r'\x1b\[[0-9;]*m', '', text)
    text = re.sub(r'((#|//) HEADER:.*\n)+', '# HEADER\n', text)
    text = re.sub(r'in \d+\.\d+ seconds', 'in N seconds', text)
    # --summarize sorts by duration
    text = re.sub(r'^Time:\n(   .*\n)+', 'Time:\n', text, flags=re.M)
    text = re.sub(r'(Config|Last run): \d{9,}', r'\1: N', text)
    text = re.sub(r"version '\d{9,}'", "version 'N'", text)
    text = re.sub(r'(/tmp|/mnt/[^ \']*)/(puppet-file|puppet-diff|puppet\.bunraku)[0-9a-zA-Z.-]+', r'\1/puppet-file', text)
    text = re.sub(r'\d{8}-\d+-[0-9a-z]{4,7}(\.lock)?', 'TEMPORARY', text)
    text = re.sub(r'(?<=[0-9A-Za-z._-])1[0-9a-f]{15}\b', 'TEMPORARY', text)
    text = re.sub(r'\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( ?([+-]\d\d:?\d\d|UTC))?', 'TIME', text)
    text = re.sub(r'^(\t?)(---|\+\+\+) (\S+).*', r'\1\2 \3', text, flags=re.M)
    text = re.sub(r"(ctime)\}[^']*'", r"\1}TIME'", text)
    return text


def read(path):
    try:
        with open(path, encoding='utf-8', errors='backslashreplace') as f:
            return f.read()
    except FileNotFoundError:
        return None


def tree(job):
    """Reads all files that a run may have changed, except Puppet's own folders."""
    out = {}
    for top in ('box', 'etc', 'home'):
        for folder, dirs, files in os.walk(f'{job}/{top}'):
            if top == 'box' and folder == f'{job}/box':
                dirs[:] = [d for d in dirs if d not in ('var', 'conf', 'code', 'state1')]
            # for repositories, only data without timestamps
            if {'objects', 'refs'} <= {*dirs, *files}:
                dirs[:] = [d for d in dirs if d not in ('objects', 'logs', 'hooks')]
                files = [f for f in files if f != 'index']
            for name in dirs + files:
                path = os.path.join(folder, name)
                s = os.lstat(path)
                kind = stat.S_IFMT(s.st_mode)
                entry = f'{kind:o} {stat.S_IMODE(s.st_mode):04o} {s.st_uid}:{s.st_gid}'
                if kind == stat.S_IFCHR and s.st_rdev == 0:
                    entry = 'removed'
                elif kind == stat.S_IFLNK:
                    entry = f'link {os.readlink(path)}'
                elif kind == stat.S_IFREG:
                    old = s.st_mtime < START
                    entry += f' {"old" if old else "new"} {normal(read(path))!r}'
                elif kind == stat.S_IFDIR:
                    entry += ''
                out[path[len(job) + 1:]] = entry
    return out


START = 0  # files older than this were not written by a run


class Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
    """Reads a value with any tag as the value without the tag."""


def any_tag(loader, _, node):
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


Loader.add_multi_constructor('!', any_tag)
Loader.add_multi_constructor('tag:yaml.org,2002:timestamp', any_tag)


def load(path):
    text = read(path)
    if text is None:
        return None
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError) as e:
        return {'cannot be parsed': str(e)[:300]}


def report(path):
    data = load(path)
    if not isinstance(data, dict):
        return data
    for key in ('time', 'transaction_uuid', 'catalog_uuid', 'configuration_version', 'puppet_version'):
        if key in data:
            data[key] = type(data[key]).__name__
    metrics = data.get('metrics') or {}
    for m in metrics.values():
        m['values'] = {v[0]: v[1:] for v in m.get('values') or []}
    if 'time' in metrics:
        metrics['time']['values'] = {k: v[0] for k, v in metrics['time']['values'].items()}
    data['logs'] = ['{level} {source} {message} {tags} {file} {line}'.format(
        level=l.get('level'), source=l.get('source'), message=normal(str(l.get('message'))), tags=sorted(map(str, l.get('tags') or [])),
        file=l.get('file'), line=l.get('line')) for l in data.get('logs') or []]
    for status in (data.get('resource_statuses') or {}).values():
        for key in ('time', 'evaluation_time'):
            if key in status:
                status[key] = type(status[key]).__name__
        status['tags'] = sorted(map(str, status.get('tags') or []))
        for event in status.get('events') or []:
            event['time'] = type(event.get('time')).__name__
            for key in ('message', 'previous_value', 'desired_value', 'historical_value'):
                event[key] = normal(str(event.get(key)))
    return data


def summary(path):
    data = load(path)
    if isinstance(data, dict):
        data['version'] = {k: type(v).__name__ for k, v in (data.get('version') or {}).items()}
        if isinstance(data.get('time'), dict):
            data['time'] = {k: type(v).__name__ for k, v in data['time'].items()}
    return data


def state(path):
    """state.yaml: resources, keys and audited values. Of times only the type is compared."""
    data = load(path)
    if not isinstance(data, dict):
        return data
    out = {}
    for ref, entry in data.items():
        out[str(ref)] = {str(k): ('TIME' if str(k) in (':checked', 'checked', ':synced', 'synced') else normal(str(v))) for k, v in entry.items()} if isinstance(entry, dict) else entry
        out[str(ref)].pop(':configuration', None) if isinstance(entry, dict) else None
    # settings that are folders are not part of the comparison
    return {k: v for k, v in out.items() if not re.match(r'File\[/mnt/(conf|code|var)', k)}


def bucket(job):
    """Returns contents and their original paths. Checksums are not compared, because file headers
    contain times."""
    out = []
    for folder, _, files in os.walk(f'{job}/box/var/clientbucket'):
        if 'contents' in files:
            out.append(f'{normal(read(folder + "/contents"))!r:.300} of {sorted(set((read(folder + "/paths") or "").split()))}')
    return sorted(out)


def walk(a, b, where, out):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in list(a) + [k for k in b if k not in a]:
            if key not in b or key not in a:
                side, v = ('puppet', a[key]) if key in a else ('bunraku', b[key])
                out.append(f'{where}.{key}: only {side}: {v!r:.200}')
            else:
                walk(a[key], b[key], f'{where}.{key}', out)
    elif isinstance(a, list) and isinstance(b, list) and all(isinstance(x, str) for x in a + b):
        out += [f'{where} {l}' for l in difflib.unified_diff(a, b, 'puppet', 'bunraku', n=0, lineterm='') if not l.startswith(('---', '+++', '@@'))]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            walk(x, y, f'{where}[{i}]', out)
    elif a != b or type(a) is not type(b):
        out.append(f'{where}: puppet {a!r:.300} bunraku {b!r:.300}')


def lines(a, b, where):
    a, b = normal(a or '').splitlines(), normal(b or '').splitlines()
    return [f'{where} {l}' for l in difflib.unified_diff(a, b, 'puppet', 'bunraku', n=0, lineterm='') if not l.startswith(('---', '+++', '@@'))]


def kind(line):
    """Returns the subject of a difference, without details of one catalog."""
    line = re.sub(r'^run \d ', '', line)
    line = re.sub(r'\{\w+\}[0-9a-f]{20,}', 'SUM', line)
    line = re.sub(r"\[('[^']*'(, )?)*\] (\S+) (\S+)$", 'TAGS', line)
    line = re.sub(r'/mnt/[^\s\]\':,]*', 'PATH', line)
    line = re.sub(r'(report.logs [-+]\w+) \S*', r'\1 SOURCE', line)
    line = re.sub(r'/Stage\[.*?: ', 'SOURCE: ', line)
    line = re.sub(r'(\w)\[[^\]]*\]', r'\1[]', line)
    line = re.sub(r'events\[\]', 'events', line)
    return re.sub(r'\d+', 'N', line)[:200]


def compare(peer, own):
    """Returns lines that describe how two finished jobs differ. Empty if they are equal."""
    out = []
    for i in (1, 2):
        a, b = read(f'{peer}/run{i}.exit'), read(f'{own}/run{i}.exit')
        if a != b:
            out.append(f'run {i} exit: puppet {a!r} bunraku {b!r}')
        for stream in ('out', 'err'):
            out += lines(read(f'{peer}/run{i}.{stream}'), read(f'{own}/run{i}.{stream}'), f'run {i} {stream}')
        top = 'box/state1' if i == 1 else 'box/var/state'
        public = 'box/state1/public' if i == 1 else 'box/var/public'
        walk(report(f'{peer}/{top}/last_run_report.yaml'), report(f'{own}/{top}/last_run_report.yaml'), f'run {i} report', out)
        walk(summary(f'{peer}/{public}/last_run_summary.yaml'), summary(f'{own}/{public}/last_run_summary.yaml'), f'run {i} summary', out)
        walk(state(f'{peer}/{top}/state.yaml'), state(f'{own}/{top}/state.yaml'), f'run {i} state', out)
        for name in ('classes.txt', 'resources.txt', 'graphs/resources.dot', 'graphs/relationships.dot', 'graphs/expanded_relationships.dot'):
            out += lines(read(f'{peer}/{top}/{name}'), read(f'{own}/{top}/{name}'), f'run {i} {name}')
    walk(tree(peer), tree(own), 'tree', out)
    walk(bucket(peer), bucket(own), 'bucket', out)
    return out
