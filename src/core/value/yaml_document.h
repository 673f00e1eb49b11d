// SPDX-License-Identifier: Apache-2.0
// Writes values as YAML documents.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"

namespace bunraku::value {

/// Returns plain data in the YAML of Ruby's Psych. `heading` replaces the "---" at the start, so
/// that it may contain a tag.
std::string yaml_document(const Value& data, std::string_view heading);

}  // namespace bunraku::value
