// SPDX-License-Identifier: Apache-2.0
// PostgreSQL's to_char() of numbers for the embedded store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::query {

/// Implements to_char(number, format) of PostgreSQL 15.
std::string number_to_char(double number, std::string_view format);

/// Returns the English suffix of an ordinal number: st, nd, rd or th.
std::string ordinal_suffix(std::int64_t n, bool capitals);

}  // namespace bunraku::query
