// SPDX-License-Identifier: Apache-2.0
// Renders a template without a compile, for tests and tools.
#pragma once

#include <optional>
#include <string>

#include "core/base/arena.h"
#include "core/value/value.h"

namespace bunraku::erb {

struct Probe {
    std::optional<std::string> text;
    std::string reason;  ///< Reason for a fallback to Ruby.
    std::string detail;  ///< Ruby's error text, if known.
    bool parsed = false;
};

/// Renders `source`. `variables` is a hash with the values of @name, scope['name'] and lookupvar.
/// The functions warning and versioncmp are available.
Probe probe(const std::string& source, const value::Value& variables, base::Arena& arena);

}  // namespace bunraku::erb
