// Puppet's rich data (ToDataConverter with type_by_reference) to and from plain data and JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::value {

struct RichDataOptions {
    bool rich_data =
        true;  ///< false: everything becomes JSON data, strings where needed (with Puppet's rules)
    bool references_as_strings =
        true;  ///< "File[/x]" for resource and class references, as catalogs have them
    bool unwrap_sensitive = false;  ///< the bare value in place of {"__ptype":"Sensitive",..}
};

/// Plain data (undef, booleans, numbers, strings, arrays, hashes with string keys) for any value.
Value to_rich_data(base::Arena& arena, const Value& v, const RichDataOptions& options = {});

/// The reverse. `make_typed` builds types and objects from their hash (types::from_rich_data);
/// without it they stay hashes.
using TypedFactory = std::function<Value(std::string_view ptype, const Value& hash)>;
Value from_rich_data(base::Arena& arena, const Value& data, const TypedFactory& make_typed = {});

/// Compact JSON of plain data; floats as Ruby's JSON writes them. Other kinds are written as their
/// to_text string.
void write_json(std::string& out, const Value& data);
std::string to_json(const Value& data);
/// Indented by two blanks, as Ruby's JSON.pretty_generate.
std::string to_pretty_json(const Value& data);
/// Parses JSON into values; the error names line and column. Depth and size are bounded.
base::Result<Value> parse_json(base::Arena& arena, std::string_view text);

}  // namespace bunraku::value
