#!/usr/bin/env python3
"""The Update Framework's own client (python-tuf 2) over what `bunraku forge` publishes.

    tuf_client.py ROOT.json REPOSITORY_URL PATH...

Refreshes from REPOSITORY_URL/metadata/ and fetches each PATH of the tree; the first error ends it. Exit 77: it is not installed.
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
    # Bunraku's own files are not in folders by their digest.
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
