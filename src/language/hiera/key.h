// Lookup keys: "profile::ntp::servers.0.'dotted name'".
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/value/value.h"

namespace bunraku::hiera {

using value::Value;

/// A key split at its dots. Segments are strings or, where they look like one, integers
/// (Puppet::Pops::Lookup::LookupKey, 8.11). It owns nothing: views point into what it was made of.
struct Key {
    std::string_view text;            ///< as given
    std::string_view root;            ///< up to the first dot
    std::string_view module;          ///< what stands before the first "::" of the root
    bool has_module = false;          ///< there is a "::"
    std::span<const Value> segments;  ///< behind the root
    std::uint64_t hash = 0;           ///< of the root: hash_text
};

/// The hash by which data files are indexed.
inline std::uint64_t hash_text(std::string_view text) {
    return std::hash<std::string_view>{}(text);
}

/// Splits; what is made lives in `arena`, `text` itself is copied there. Throws LookupError "Syntax
/// error in key: '..'" where the text is no key.
Key parse_key(base::Arena& arena, std::string_view text);
/// A key known to have neither dots nor quotes; `text` must outlive it.
Key plain_key(std::string_view text);

/// "a.b.0" from segments, for explanations.
std::string join_segments(std::span<const Value> segments);

}  // namespace bunraku::hiera
