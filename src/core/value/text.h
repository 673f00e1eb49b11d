// SPDX-License-Identifier: Apache-2.0
// Small conversions between values and text that several layers share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value/value.h"

namespace bunraku::value {

/// Splits a dotted text such as "a.'b.c'.0" into segments. A segment is a string, or an integer if
/// it looks like one and is not quoted. A text without a dot or quote is one unchanged segment.
/// Returns false on a syntax error (SubLookup#split_key of Puppet 8.11). New strings are made in
/// `arena`.
bool split_dotted(base::Arena& arena, std::string_view text, std::vector<Value>& out);

/// Implements Ruby's Array#flatten for all levels.
void flatten_into(std::vector<Value>& out, std::span<const Value> items);

/// Writes Ruby's `inspect`: nil, "quoted", [1, 2], {"a"=>1}.
void print_inspect(std::string& out, const Value& v);
/// Writes Ruby's `to_s`, as gsub and interpolation in Ruby code use it. nil is "", text is not
/// quoted, and arrays and hashes are inspected.
void print_ruby_to_s(std::string& out, const Value& v);

}  // namespace bunraku::value
