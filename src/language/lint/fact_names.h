// SPDX-License-Identifier: Apache-2.0
// Names of legacy facts and the structured facts that replace them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bunraku::lint {

/// Reports whether `name` is a legacy fact.
bool is_legacy_fact(std::string_view name);
/// Returns the replacement of a legacy fact, such as "facts['os']['family']". Returns nullopt if
/// there is none.
std::optional<std::string> structured_fact(std::string_view name);
/// Reports whether `name` begins with a legacy fact that has one fixed replacement.
bool begins_with_legacy_fact(std::string_view name);

}  // namespace bunraku::lint
