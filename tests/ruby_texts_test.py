#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The error texts of Ruby 3.1 and 3.3 for the same mistakes."""
import unittest
from unittest import mock

import ruby_texts

TEXTS = [
    ("undefined method `x' for nil:NilClass", "undefined method `x' for nil"),
    ("undefined method `x' for false:FalseClass at a.rb:1", "undefined method `x' for false at a.rb:1"),
    ("undefined method `x' for 1:Integer (file: a.pp)", "undefined method `x' for an instance of Integer (file: a.pp)"),
    ("undefined method `x' for \"a: B\":String", "undefined method `x' for an instance of String"),
    ("undefined method `x' for A::B:Class", "undefined method `x' for class A::B"),
    ("undefined method `x' for Puppet:Module", "undefined method `x' for module Puppet"),
    ("undefined method `x' for T[a](provider=b):A::B", "undefined method `x' for an instance of A::B"),
    ("undefined method `x' for #<Class:0x0af>", "undefined method `x' for class #<Class:0x0af>"),
    ("undefined local variable or method `y' for main:Object", "undefined local variable or method `y' for main"),
    ("undefined local variable or method `y' for #<A::B:0x0af @z=1>",
     "undefined local variable or method `y' for an instance of A::B"),
    ("private method `select' called for nil:NilClass", "private method `select' called for nil"),
    ("uninitialized constant A::B", "uninitialized constant A::B"),
]


class RubyTexts(unittest.TestCase):
    def test_conversion(self):
        for older, newer in TEXTS:
            self.assertEqual(ruby_texts.as_ruby_3_3(f"Error: {older}\nnext line"), f"Error: {newer}\nnext line")

    def test_comparison(self):
        older, newer = TEXTS[0]
        for version, accepts_newer in (((), False), ((3, 1), False), ((3, 3), True)):
            with mock.patch.object(ruby_texts, "version", lambda version=version: version):
                self.assertTrue(ruby_texts.same(older, older))
                self.assertEqual(ruby_texts.same(older, newer), accepts_newer)
                self.assertFalse(ruby_texts.same(newer, older))
                self.assertFalse(ruby_texts.same(f"{older}\n", older))


if __name__ == "__main__":
    unittest.main()
