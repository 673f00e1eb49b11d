#!/usr/bin/env python3
"""Tests which files unity_batches.py puts into one unity file."""
import pathlib
import tempfile
import unittest

import unity_batches


def names(text):
    return unity_batches.Names(text)


def inside(text):
    return "namespace p::a {\n" + text + "\n}\n"


def local(text):
    return inside("namespace {\n" + text + "\n}")


class Declarations(unittest.TestCase):
    def test_local_names(self):
        for text, name in [
            ("std::string trim(std::string_view s) { return f(s); }", "trim"),
            ("bool is_word(char c);", "is_word"),
            ("template <class T, int N = (1 < 2)> std::vector<T> all(T (&x)[N]) { return {}; }", "all"),
            ("constexpr std::string_view kNames[] = {\"a\", \"b\"};", "kNames"),
            ("const auto kText = fmt::format(\"{}\", 1);", "kText"),
            ("struct Line { int begin, end; };", "Line"),
            ("class Reader final : public Base { void read() {} };", "Reader"),
            ("enum class Kind : int { A, B };", "Kind"),
            ("using Args = std::span<const Value>;", "Args"),
            ("auto made = [](int a) { return a; };", "made"),
            ("const char* text = R\"x(struct Not { )x\";", "text"),
        ]:
            self.assertEqual(names(local(text)).local, {("p::a", name)}, text)

    def test_members_and_uses_define_nothing(self):
        for text in [
            "void Reader::read(int a) { int b = a; }",
            "Reader::Reader() : a_(1), b_{2} {}",
            "bool Reader::operator==(const Reader& o) const { return true; }",
            "static_assert(sizeof(int) == 4);",
            "// struct Comment {};",
        ]:
            own = names(inside(text))
            self.assertEqual((own.local, own.shared), (set(), set()), text)

    def test_local_and_shared(self):
        own = names(inside("static int a() { return 1; }\nint b() { return 2; }\nconstexpr int c = 3;"))
        self.assertEqual(own.local, {("p::a", "a"), ("p::a", "c")})
        self.assertEqual(own.shared, {("p::a", "b")})

    def test_macros(self):
        own = names("#define KEPT(x) \\\n    struct Not { int x; };\n#define GONE 1\n#undef GONE\n")
        self.assertEqual(own.local, {("", "KEPT")})


class Clashes(unittest.TestCase):
    def test_clashes(self):
        one = local("int f() { return 1; }")
        for other, clashes in [
            (local("int f() { return 2; }"), True),
            (inside("int f(int a) { return a; }"), True),
            (local("int g() { return 1; }"), False),
            ("namespace p::b { namespace { int f() { return 2; } } }", False),
            (inside("using q::f;"), True),
        ]:
            self.assertEqual(bool(unity_batches.clash(names(one), names(other))), clashes, other)
        same = inside("using q::f;")
        self.assertFalse(unity_batches.clash(names(same), names(same)))


class Batches(unittest.TestCase):
    def batches(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            sources = sorted(n[:-3] for n in files if n.endswith(".cc"))
            return unity_batches.batches(unity_batches.read(root, sources))

    def test_clashing_files_are_apart(self):
        f, g = local("int f() { return 1; }"), local("int g() { return 1; }")
        files = {"m/a/1.cc": f, "m/a/2.cc": f, "m/a/3.cc": g, "m/b/1.cc": g}
        self.assertEqual(self.batches(files), [["m/a/1", "m/a/3"], ["m/a/2"], ["m/b/1"]])

    def test_names_of_headers(self):
        files = {
            "m/a/f.h": "#pragma once\n" + inside("int f();"),
            "m/a/1.cc": '#include "m/a/g.h"\n' + inside("void used() {}"),
            "m/a/2.cc": local("int f() { return 1; }"),
            "m/a/g.h": '#include "m/a/f.h"\n',
        }
        self.assertEqual(self.batches(files), [["m/a/1"], ["m/a/2"]])

    def test_size(self):
        files = {f"m/a/{i}.cc": local(f"int f{i}() {{ return 1; }}") for i in range(9)}
        self.assertEqual([len(b) for b in self.batches(files)], [8, 1])

    def test_tables_are_renamed(self):
        files = {f"m/a/{i}.cc": local("constexpr int kFunctions[] = {1};") for i in range(2)}
        self.assertEqual(self.batches(files), [["m/a/0", "m/a/1"]])


if __name__ == "__main__":
    unittest.main()
