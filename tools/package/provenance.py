#!/usr/bin/env python3
"""Prints an in-toto statement (SLSA provenance 1) about files: from which commit and how they were built.

    provenance.py --version VERSION --commit COMMIT --repository URL FILE...

SOURCE_DATE_EPOCH is the time of the commit, which the build uses as the time of all files.
"""

import argparse
import hashlib
import json
import os
import pathlib


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--repository", required=True)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    subjects = [{"name": file.name, "digest": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}}
                for file in sorted(arguments.files, key=lambda file: file.name)]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://bunraku.example.org/build/script-release/v1",
                "externalParameters": {"version": arguments.version, "commit": arguments.commit},
                "internalParameters": {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "0")},
                "resolvedDependencies": [{"uri": f"git+{arguments.repository}@{arguments.commit}",
                                          "digest": {"gitCommit": arguments.commit}}],
            },
            "runDetails": {"builder": {"id": "https://bunraku.example.org/build/script-release"}},
        },
    }
    print(json.dumps(statement, indent=1))


if __name__ == "__main__":
    main()
