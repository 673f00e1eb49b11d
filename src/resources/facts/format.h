// SPDX-License-Identifier: Apache-2.0
// Prints facts in the formats of Facter 4.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "resources/facts/facts.h"

namespace bunraku::facts {

enum class Format : std::uint8_t { Facter, Json, Yaml, Hocon };

/// Returns the output of `facter` for these queries, without the final newline. Without queries it
/// returns all facts.
std::string format_facts(base::Arena& arena, std::span<const Resolved> facts,
                         const std::vector<std::string>& queries, Format format,
                         const Options& options);

/// Returns the value that a query finds ("os.release.major", "processors.models.0"), or undef.
value::Value query_value(const value::Value& facts, std::string_view query);

}  // namespace bunraku::facts
