// SPDX-License-Identifier: Apache-2.0
// The parameter type of functions that return a view of a text.
#pragma once

#include <string>
#include <string_view>

#include "core/base/lifetime.h"

namespace bunraku::base {

/// A string_view whose origin in a std::string clang can follow. With a plain string_view
/// parameter, clang 19 does not see the temporary in `view_of(temporary())` and does not warn.
class TextView : public std::string_view {
public:
    TextView(std::string_view text BUNRAKU_LIFETIMEBOUND) : std::string_view(text) {}
    TextView(const std::string& text BUNRAKU_LIFETIMEBOUND) : std::string_view(text) {}
    TextView(const char* text BUNRAKU_LIFETIMEBOUND) : std::string_view(text) {}
};

}  // namespace bunraku::base
