// URLs in logs and messages, without the secrets in them.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::base {

/// Returns a URL whose password is hidden, or the user if it has no password (a token).
std::string shown_url(std::string_view url);
/// Returns a text with every URL in it as above.
std::string shown_text(std::string_view text);

}  // namespace bunraku::base
