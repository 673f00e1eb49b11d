// SPDX-License-Identifier: Apache-2.0
// Helpers for the values of queries that the conditions*.cc files share.
#pragma once

#include <string>
#include <string_view>

#include "store/query/ast.h"

namespace bunraku::query::conditions {

/// More terms than any query contains, and few enough to be harmless.
inline constexpr int kMaxTerms = 20'000;

[[noreturn]] void bad(std::string message);
/// Reports whether `op` is one of > < >= <=.
bool is_order(std::string_view op);
/// Returns the JSON in the form that the store uses.
std::string canonical(const Ast& value);
/// Returns the text with which a text column is compared.
std::string as_text(const Ast& value);
/// Returns a path such as ["os", "name"] in the form of fact_paths.path.
std::string encode_path(const Ast& path);
bool all_digits(std::string_view s);
/// Returns a pattern that matches the JSON text of a string including its quotes (see
/// compare_parameter()).
std::string quoted_pattern(const std::string& pattern);

}  // namespace bunraku::query::conditions
