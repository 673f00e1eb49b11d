#!/usr/bin/env python3
"""What check_layers.py finds in lines of the rooms that compile, and what it lets pass."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_layers

REFUSED = [
    "#include <fstream>",
    "#include <filesystem>",
    "#include <sys/stat.h>",
    "#include <random>",
    "#include <unistd.h>",
    'const char* v = std::getenv("HOME");',
    'const char* v = getenv("HOME");',
    "for (char** e = environ; *e; ++e)",
    "const int fd = ::open(path, O_RDONLY);",
    "if (::stat(path.c_str(), &st) != 0)",
    "auto n = ::readlink(path.c_str(), buffer, size);",
    "DIR* dir = opendir(path.c_str());",
    'FILE* f = fopen("/etc/hosts", "r");',
    "std::ifstream in(path);",
    "if (std::filesystem::exists(path))",
    "std::random_device device;",
    "auto now = std::chrono::system_clock::now();",
    "const auto now = time(nullptr);",
    "const auto now = std::time(nullptr);",
    "localtime_r(&t, &local);",
    "int n = rand();",
    "RAND_bytes(buffer, 8);",
    "auto text = sys::make_real_file_system()->read(path);",
    "auto text = disk_files()->read(path);",
    "auto text = environment::read_file(path);",
    "id = base::random_uuid();",
]
ALLOWED = [
    "#include <cstdlib>",
    "#include <chrono>",
    "// getenv(\"HOME\") would be another way out",
    "auto env = environment::Environment::open(spec, log);",
    "auto stamp = environment.files().stat(path);",
    "auto text = in->hosts().inputs->read_file(path);",
    "auto paths = inputs.glob(pattern);",
    "Value time(const Call& call) {",
    "auto n = order_time(b, a);",
    "std::chrono::steady_clock::now() < *deadline",
    "mersenne.rand(max)",
    "const double d = strtod(text, &end);",
    "environment->variable(name)",
    "bool access(const Value& v);",
]


class DoorTest(unittest.TestCase):
    def test_ways_around_the_door(self):
        for line in REFUSED:
            self.assertTrue(check_layers.door_findings("hiera/x.cc", line), line)

    def test_what_is_no_way_out(self):
        for line in ALLOWED:
            self.assertEqual(check_layers.door_findings("hiera/x.cc", line), [], line)

    def test_a_tree(self):
        line = '#include "base/a.h"\nauto v = std::getenv("X");\n'
        found = {}
        for file in ("hiera/a.cc", "evaluator/a.cc", "environment/files.cc", "cli/a.cc"):
            with tempfile.TemporaryDirectory() as root:
                path = pathlib.Path(root, "src", file)
                path.parent.mkdir(parents=True)
                path.write_text(line)
                pathlib.Path(root, "src/base").mkdir()
                pathlib.Path(root, "tools").mkdir()
                folder = file.split("/")[0]
                pathlib.Path(root, "tools/layers.txt").write_text(f"base:\n{folder}:\n")
                script = pathlib.Path(__file__).with_name("check_layers.py")
                ran = subprocess.run([sys.executable, script, root], capture_output=True, text=True)
                found[file] = (ran.returncode, ran.stderr.strip())
        refused = f"std::getenv is not for this place; {check_layers.DOOR}".replace("std::", "")
        self.assertEqual(found, {
            "hiera/a.cc": (1, f"src/hiera/a.cc:2: {refused}"),
            "evaluator/a.cc": (1, f"src/evaluator/a.cc:2: {refused}"),
            "environment/files.cc": (0, ""),
            "cli/a.cc": (0, ""),
        })


if __name__ == "__main__":
    unittest.main()
