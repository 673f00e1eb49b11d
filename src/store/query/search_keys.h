// SPDX-License-Identifier: Apache-2.0
// Search keys in the store's columns: equal values have the same text or number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::query {

/// Returns the text by which a value is searched: its canonical JSON, or a hash if the JSON is
/// long.
std::string match_of(std::string_view canonical);
/// Returns parameter_values.value_hash of a scalar in canonical JSON. Equal numbers have equal
/// hashes.
std::int64_t parameter_hash(std::string_view name, std::string_view canonical);
/// Returns parameter_values.type_hash.
std::int64_t type_hash(std::string_view type);
/// Reports whether the JSON is a scalar; the index contains only scalars.
bool is_scalar_json(std::string_view canonical);

}  // namespace bunraku::query
