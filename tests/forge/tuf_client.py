#!/usr/bin/env python3
"""Runs the client of The Update Framework (python-tuf 2) on a repository that `bunraku forge`
publishes.

    tuf_client.py ROOT.json REPOSITORY_URL PATH...

Refreshes from REPOSITORY_URL/metadata/ and fetches each PATH of the tree; stops at the first error.
Exits with 77 if python-tuf is not installed.
"""
import shutil
import sys
import tempfile

try:
    from tuf.ngclient import Updater, UpdaterConfig
except ImportError:
    sys.exit(77)
root, url, paths = sys.argv[1], sys.argv[2].rstrip("/"), sys.argv[3:]
seen = tempfile.mkdtemp(prefix="tuf-client")
try:
    shutil.copy(root, seen + "/root.json")
    config = UpdaterConfig()
    # Bunraku does not store its files under names with digest prefixes.
    config.prefix_targets_with_hash = False
    for path in paths:
        client = Updater(seen, url + "/metadata/", seen, url + "/", config=config)
        client.refresh()
        found = client.get_targetinfo(path)
        if found is None:
            sys.exit("arbitrary software: %s is in no targets" % path)
        client.download_target(found, seen + "/target")
        print("%s: %d bytes" % (path, found.length))
finally:
    shutil.rmtree(seen, ignore_errors=True)
