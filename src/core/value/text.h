// Small readings and writings of values that several floors share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value/value.h"

namespace bunraku::value {

/// The segments of a dotted text, "a.'b.c'.0": strings, and integers where a segment that is not
/// quoted looks like one; a text without a dot or quote is one segment as it is. False where the
/// syntax is wrong (SubLookup#split_key of Puppet 8.11). New strings are made in `arena`.
bool split_dotted(base::Arena& arena, std::string_view text, std::vector<Value>& out);

/// Ruby's Array#flatten over all levels.
void flatten_into(std::vector<Value>& out, std::span<const Value> items);

/// Ruby's `inspect`: nil, "quoted", [1, 2], {"a"=>1}.
void print_inspect(std::string& out, const Value& v);
/// Ruby's `to_s`, as gsub and interpolation in Ruby code take it: nil is "", text is bare, arrays
/// and hashes are inspected.
void print_ruby_to_s(std::string& out, const Value& v);

}  // namespace bunraku::value
