// Facts as Facter 4 prints them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "resources/facts/facts.h"

namespace bunraku::facts {

enum class Format : std::uint8_t { Facter, Json, Yaml, Hocon };

/// What `facter` prints for these queries (none: all facts), without the newline at the end.
std::string format_facts(base::Arena& arena, std::span<const Resolved> facts,
                         const std::vector<std::string>& queries, Format format,
                         const Options& options);

/// The value that a query finds: "os.release.major", "processors.models.0"; undef for none.
value::Value query_value(const value::Value& facts, std::string_view query);

}  // namespace bunraku::facts
