// SPDX-License-Identifier: Apache-2.0
// The texts that replace secrets (docs/design/0315).
#pragma once

#include <string>
#include <string_view>

namespace bunraku::base {

/// Replaces a secret in messages and reports.
inline constexpr std::string_view kRedacted = "[redacted]";
/// The text of a Sensitive value, and what Ruby's inspect returns for it.
inline constexpr std::string_view kSensitiveText = "Sensitive [value redacted]";
inline constexpr std::string_view kSensitiveInspected = "#<Sensitive [value redacted]>";

/// Returns "[output redacted]" for "output".
inline std::string redacted(std::string_view what) {
    return "[" + std::string(what) + " redacted]";
}

/// Returns `text`, or the text that replaces it if it is sensitive. `what` may be empty.
inline std::string redacted_if(bool sensitive, std::string text, std::string_view what = {}) {
    if (!sensitive) return text;
    return what.empty() ? std::string(kRedacted) : redacted(what);
}

}  // namespace bunraku::base
