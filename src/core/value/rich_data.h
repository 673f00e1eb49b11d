// SPDX-License-Identifier: Apache-2.0
// Converts Puppet's rich data (ToDataConverter with type_by_reference) to and from plain data and
// JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::value {

struct RichDataOptions {
    bool rich_data =
        /// if false, all values become JSON data, as strings if necessary (by Puppet's rules)
        true;
    bool references_as_strings =
        true;  ///< "File[/x]" for resource and class references, as in catalogs
    bool unwrap_sensitive = false;  ///< writes the bare value instead of {"__ptype":"Sensitive",..}
};

/// Converts any value to plain data (undef, booleans, numbers, strings, arrays, hashes with string
/// keys).
Value to_rich_data(base::Arena& arena, const Value& v, const RichDataOptions& options = {});

/// Converts rich data to values. `make_typed` makes types and objects from their hash
/// (types::from_rich_data). Without it, they remain hashes.
using TypedFactory = std::function<Value(std::string_view ptype, const Value& hash)>;
Value from_rich_data(base::Arena& arena, const Value& data, const TypedFactory& make_typed = {});

/// Writes plain data as compact JSON, with floats in the form of Ruby's JSON. Other kinds are
/// written as their to_text string.
void write_json(std::string& out, const Value& data);
std::string to_json(const Value& data);
/// Indents by two blanks, like Ruby's JSON.pretty_generate.
std::string to_pretty_json(const Value& data);
/// Parses JSON into values. The error contains the line and column. Depth and size are limited.
base::Result<Value> parse_json(base::Arena& arena, std::string_view text);

}  // namespace bunraku::value
