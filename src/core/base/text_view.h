// The parameter of a function that gives back a view of a text.
#pragma once

#include <string>
#include <string_view>

#include "core/base/lifetime.h"

namespace bunraku::base {

/// A string_view whose way from a std::string clang can follow: in `view_of(temporary())` clang 19
/// loses sight of the temporary where the parameter is a plain string_view, and warns of nothing.
class TextView : public std::string_view {
public:
    TextView(std::string_view text BUNRAKU_LIFETIMEBOUND) : std::string_view(text) {}
    TextView(const std::string& text BUNRAKU_LIFETIMEBOUND) : std::string_view(text) {}
    TextView(const char* text BUNRAKU_LIFETIMEBOUND) : std::string_view(text) {}
};

}  // namespace bunraku::base
