// Values as YAML documents.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"

namespace bunraku::value {

/// Returns plain data as Ruby's Psych writes it; `heading` stands in place of the "---" at the
/// start, so that it may name a tag.
std::string yaml_document(const Value& data, std::string_view heading);

}  // namespace bunraku::value
