// Renders a template without a compile: for tests and tools.
#pragma once

#include <optional>
#include <string>

#include "core/base/arena.h"
#include "core/value/value.h"

namespace bunraku::erb {

struct Probe {
    std::optional<std::string> text;
    std::string reason;  ///< why it would be left to Ruby
    std::string detail;  ///< Ruby's error text, where known
    bool parsed = false;
};

/// `variables` is a hash: what @name, scope['name'] and lookupvar give. The functions warning and
/// versioncmp are known.
Probe probe(const std::string& source, const value::Value& variables, base::Arena& arena);

}  // namespace bunraku::erb
