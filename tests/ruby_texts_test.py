#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The error messages of Ruby 3.1 and 3.3 for the same mistakes."""
import unittest
from unittest import mock

import ruby_texts

SAME = [
    ("undefined method `x' for nil:NilClass", "undefined method `x' for nil"),
    ("undefined method `x' for false:FalseClass at a.rb:1", "undefined method `x' for false at a.rb:1"),
    ("undefined method `x' for 1:Integer (file: a.pp)", "undefined method `x' for an instance of Integer (file: a.pp)"),
    ("undefined method `x' for \"a: B\":String", "undefined method `x' for an instance of String"),
    ("undefined method `x' for A::B:Class", "undefined method `x' for class A::B"),
    ("undefined method `x' for Puppet:Module", "undefined method `x' for module Puppet"),
    ("undefined method `x' for T[a](provider=b):A::B", "undefined method `x' for an instance of A::B"),
    ("undefined method `x' for T[a](provider=b):A::B", "undefined method `x' for an instance of #<Class:0x0af>"),
    ("undefined method `x' for #<Class:0x0af>", "undefined method `x' for class #<Class:0x0be>"),
    ("undefined method `x' for #<#<Class:0xA>:0xB @c=1>", "undefined method `x' for an instance of site::a"),
    ("undefined local variable or method `y' for main:Object", "undefined local variable or method `y' for main"),
    ("undefined local variable or method `y' for #<A::B:0x0af @z=1>",
     "undefined local variable or method `y' for an instance of A::B"),
    ("private method `select' called for nil:NilClass", "private method `select' called for nil"),
    ("undefined method `x' for nil:NilClass\n\n  a.x\n   ^^ (file: a.pp)", "undefined method `x' for nil (file: a.pp)"),
    ("a.rb:4: syntax error, unexpected end-of-input, expecting `end'",
     "a.rb:4: syntax error, unexpected end-of-input, expecting `end' or dummy end"),
]
DIFFERENT = [
    ("undefined method `x' for nil:NilClass", "undefined method `y' for nil"),
    ("undefined method `x' for nil:NilClass", "undefined method `x' for true"),
    ("undefined method `x' for \"a\":String", "undefined method `x' for an instance of Integer"),
    ("uninitialized constant A::B", "uninitialized constant A"),
    ("undefined method `x' for nil", "undefined method `x' for nil:NilClass"),
]


class RubyTexts(unittest.TestCase):
    def same(self, version, want, have):
        with mock.patch.object(ruby_texts, "version", lambda: version):
            return ruby_texts.same(f"Error: {want}\nnext", f"Error: {have}\nnext")

    def test_newer_ruby(self):
        for older, newer in SAME:
            with self.subTest(newer):
                self.assertTrue(self.same((3, 3), older, newer))
                self.assertTrue(self.same((3, 3), older, older))  # Bunraku's own text

    def test_older_ruby(self):
        for older, newer in SAME:
            for version in ((), (3, 1)):
                self.assertFalse(self.same(version, older, newer))
                self.assertTrue(self.same(version, older, older))

    def test_differences(self):
        for want, have in DIFFERENT:
            self.assertFalse(self.same((3, 3), want, have))


if __name__ == "__main__":
    unittest.main()
