#!/usr/bin/env python3
"""Tests which lines check_layers.py reports in folders of the compiler."""
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
    "// getenv(\"HOME\") in a comment",
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


class InterfaceTest(unittest.TestCase):
    def test_reports_other_reads(self):
        for line in REFUSED:
            self.assertTrue(check_layers.io_findings("language/hiera/x.cc", line), line)

    def test_accepts_other_code(self):
        for line in ALLOWED:
            self.assertEqual(check_layers.io_findings("language/hiera/x.cc", line), [], line)

    def check(self, file, text, table="core: base\nlanguage: environment hiera | core\ncli: | core\n"):
        """Returns the exit code and the findings for a tree with one file and a header of core/base."""
        with tempfile.TemporaryDirectory() as root:
            for name, content in {"core/base/a.h": "", file: text}.items():
                path = pathlib.Path(root, "src", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            pathlib.Path(root, "tools").mkdir()
            pathlib.Path(root, "tools/layers.txt").write_text(table.replace("base\n", "base |\n", 1))
            script = pathlib.Path(__file__).with_name("check_layers.py")
            ran = subprocess.run([sys.executable, script, root], capture_output=True, text=True)
            findings = ran.stderr.replace(f"{pathlib.Path(root).resolve()}/", "").splitlines()
            return ran.returncode, [f for f in findings if "does not use" not in f]

    def test_only_compiler_folders_are_restricted(self):
        line = '#include "core/base/a.h"\nauto v = std::getenv("X");\n'
        refused = f"src/language/hiera/a.cc:2: getenv is not allowed here; {check_layers.IO_INTERFACE}"
        self.assertEqual(self.check("language/hiera/a.cc", line)[1], [refused])
        self.assertEqual(self.check("language/environment/files.cc", line)[1], [])
        self.assertEqual(self.check("cli/a.cc", line)[1], [])

    def test_order_of_folders_and_modules(self):
        text = '#include "language/hiera/b.h"\n'
        self.assertEqual(self.check("language/hiera/a.cc", text)[1], [])
        self.assertEqual(
            self.check("language/environment/a.cc", text)[1],
            ["src/language/environment/a.cc:1: language/environment may not include language/hiera"],
        )
        self.assertEqual(
            self.check("cli/a.cc", text)[1], ["src/cli/a.cc:1: cli may not include language/hiera"])
        self.assertEqual(
            self.check("cli/b/a.cc", '#include "a.h"\n')[1],
            ['src/cli/b/a.cc:1: "a.h" is not written from src/'])
        self.assertEqual(
            self.check("other/a.cc", "")[1], ["src/other/a.cc: its folder is missing in tools/layers.txt"])

    def test_reports_unused_permissions(self):
        self.assertEqual(self.check("cli/a.cc", "")[0], 1)


if __name__ == "__main__":
    unittest.main()
