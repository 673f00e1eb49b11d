"""Replaces a folder with a link to a victim folder while runs process it, and checks that the
victim is unchanged.

Recursive files and tidy never follow a link below their folder. Sources and backups follow the
links of root. For these the folder belongs to another user, and that user replaces it (only as
root).
"""
import os
import shutil
import signal
import subprocess
import sys

program, base, options = os.environ['BUNRAKU'], os.environ['SCRATCH'], sys.argv[1:]
tree, victim, copy = base + '/race', base + '/victim', base + '/copy'
home = tree + '/home'
count, secret, nobody = 100, 'of the victim', 65534


def fill(folder, text, owner):
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        path = f'{folder}/f{i}'
        with open(path, 'w') as f:
            f.write(text)
        os.chmod(path, 0o600)
        if os.getuid() == 0:
            os.chown(path, owner, owner)
    if os.getuid() == 0:
        os.chown(folder, owner, owner)


def swap(owner):
    """Replaces the folder in a child process, which runs until it is killed."""
    pid = os.fork()
    if pid:
        return pid
    if owner:
        os.setgroups([])
        os.setgid(owner)
        os.setuid(owner)
    while True:
        try:
            os.rename(home, home + '.real')
            os.symlink(victim, home)
            os.unlink(home)
            os.rename(home + '.real', home)
        except OSError:
            for back in (lambda: os.unlink(home), lambda: os.rename(home + '.real', home),
                         lambda: os.mkdir(home)):
                try:
                    back()
                except OSError:
                    pass


def damage(mode):
    found = []
    for i in range(count):
        path = f'{victim}/f{i}'
        if not os.path.exists(path):
            found.append(f'{path} is gone')
            continue
        status = os.stat(path)
        if status.st_mode & 0o777 != 0o600 or status.st_uid != mode:
            found.append(f'{path} has mode {status.st_mode & 0o777:o} and owner {status.st_uid}')
        with open(path) as f:
            if f.read() != secret:
                found.append(f'{path} has another content')
    if len(os.listdir(victim)) != count:
        found.append('the victim has other files')
    return found


def leaks():
    """Returns the copies of the victim's content in the target of a run."""
    found = []
    for top in (tree, copy, base + '/var/clientbucket'):
        for folder, _, names in os.walk(top):
            for name in names:
                with open(f'{folder}/{name}', errors='replace') as f:
                    if secret in f.read():
                        found.append(f'{folder}/{name} holds the content of the victim')
    return found


everybody = {
    'mode': "file { 'T': ensure => directory, recurse => true, mode => '0666' }",
    'content': "file { 'T/home/f1': content => 'other' } file { 'T': ensure => directory, "
               "recurse => true, mode => '0644' }",
    'purge': "file { 'T': ensure => directory, recurse => true, purge => true, force => true, "
             'backup => false }',
    'absent': "file { 'T/home': ensure => absent, force => true, backup => false }",
    'tidy': "tidy { 'T': recurse => true, age => '0', backup => false }",
    'rmdirs': "tidy { 'T': recurse => true, rmdirs => true, age => '0' }",
}
of_a_user = {
    'owner': "file { 'T': ensure => directory, recurse => true, owner => nobody }",
    'source': "file { 'C': ensure => directory, recurse => true, source => 'T' }",
    'backup': "file { 'T': ensure => directory, recurse => true, purge => true, force => true, "
              "backup => '.kept' }",
    'filebucket': "filebucket { 'b': path => 'B/var/clientbucket' } file { 'T/home': "
                  'ensure => absent, force => true, backup => b }',
    'write': "file { 'T/home/f1': content => 'other' } file { 'T/home/new': content => 'new' }",
}
# Attacks by another user need root. A link in a path that the catalog names is followed if it
# belongs to the user who runs the test.
cases = [(name, code, 0) for name, code in everybody.items() if name != 'content']
if os.getuid() == 0:
    cases += [(name, code, nobody) for name, code in (everybody | of_a_user).items()]
failed = False
for name, code, owner in cases:
    for folder in (tree, victim, copy):
        shutil.rmtree(folder, ignore_errors=True)
    fill(victim, secret, os.getuid())
    os.chmod(victim, 0o700)
    os.mkdir(tree)
    if os.getuid() == 0:
        os.chown(tree, owner, owner)
    fill(home, 'of the user', owner)
    pid = swap(owner)
    for word, path in (("'T", "'" + tree), ("'C'", f"'{copy}'"), ("'B", "'" + base)):
        code = code.replace(word, path)
    for _ in range(3):
        subprocess.run([program, 'apply', *options, '-e', code], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    for text in damage(os.getuid()) + leaks():
        print(f'FAILED: {name} as {owner}: {text}')
        failed = True
sys.exit(failed)
