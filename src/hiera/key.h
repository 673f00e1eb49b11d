// Lookup keys: "profile::ntp::servers.0.'dotted name'".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "value/build.h"
#include "value/value.h"

namespace bunraku::hiera {

using value::Value;

/// A key split at its dots. Segments are strings or, where they look like one, integers
/// (Puppet::Pops::Lookup::LookupKey, 8.11).
struct Key {
    std::string text;             ///< as given
    std::string root;             ///< up to the first dot
    std::string module;           ///< what stands before the first "::" of the root; empty: none
    std::vector<Value> segments;  ///< behind the root
};

/// Splits; throws base::PuppetError "Syntax error in key: '..'" where the text is no key. `what`
/// and `shown` word it.
Key parse_key(base::Arena& arena, std::string_view text);
/// The segments of a dotted text; false where its syntax is wrong.
bool split_dotted(base::Arena& arena, std::string_view text, std::vector<Value>& out);

/// "a.b.0" from segments, for explanations.
std::string join_segments(std::span<const Value> segments);

}  // namespace bunraku::hiera
