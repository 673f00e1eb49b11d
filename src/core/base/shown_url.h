// SPDX-License-Identifier: Apache-2.0
// Formats URLs for logs and messages, without their secrets.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::base {

/// Returns the URL with its password hidden. If there is no password, hides the user, which may be
/// a token.
std::string shown_url(std::string_view url);
/// Returns the text with the secrets of every URL hidden, as above.
std::string shown_text(std::string_view text);

}  // namespace bunraku::base
