// SPDX-License-Identifier: Apache-2.0
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

/// A key split at its dots. Segments are strings, or integers if they look like one
/// (Puppet::Pops::Lookup::LookupKey, 8.11). Its views refer to the parsed text.
struct Key {
    std::string_view text;            ///< As given.
    std::string_view root;            ///< Up to the first dot.
    std::string_view module;          ///< Part of the root before the first "::".
    bool has_module = false;          ///< True if the root contains "::".
    std::span<const Value> segments;  ///< After the root.
    std::uint64_t hash = 0;           ///< hash_text of the root.
};

/// Returns the hash by which data files are indexed.
inline std::uint64_t hash_text(std::string_view text) {
    return std::hash<std::string_view>{}(text);
}

/// Splits a key. The result and a copy of `text` are in `arena`. Throws LookupError "Syntax error
/// in key: '..'" if the text is not a key.
Key parse_key(base::Arena& arena, std::string_view text);
/// Returns a key that has neither dots nor quotes; `text` must outlive it.
Key plain_key(std::string_view text);

/// Joins segments to "a.b.0", for explanations.
std::string join_segments(std::span<const Value> segments);

}  // namespace bunraku::hiera
