// What the store's columns hold of a value to find it by: one text or number for equal values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::query {

/// How a value is looked for: its canonical JSON, or the hash of it where it is long.
std::string match_of(std::string_view canonical);
/// parameter_values.value_hash of a scalar in canonical JSON; equal numbers have equal hashes.
std::int64_t parameter_hash(std::string_view name, std::string_view canonical);
/// parameter_values.type_hash.
std::int64_t type_hash(std::string_view type);
/// Only scalars are in the index.
bool is_scalar_json(std::string_view canonical);

}  // namespace bunraku::query
