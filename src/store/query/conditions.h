// What the files of conditions share about the values of queries.
#pragma once

#include <string>
#include <string_view>

#include "store/query/ast.h"

namespace bunraku::query::conditions {

/// More conditions than anyone writes, fewer than hurt.
inline constexpr int kMaxTerms = 20'000;

[[noreturn]] void bad(std::string message);
/// One of > < >= <=.
bool is_order(std::string_view op);
/// JSON as the store keeps it.
std::string canonical(const Ast& value);
/// What a text column is compared with.
std::string as_text(const Ast& value);
/// ["os", "name"] as fact_paths.path has it.
std::string encode_path(const Ast& path);
bool all_digits(std::string_view s);
/// A pattern that meets the JSON text of a string, quotes and all (see compare_parameter).
std::string quoted_pattern(const std::string& pattern);

}  // namespace bunraku::query::conditions
