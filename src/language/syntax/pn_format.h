// SPDX-License-Identifier: Apache-2.0
// Converts PN text to other forms.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::syntax {

/// Converts single-line PN to JSON. Calls become {"^": [..]}, maps become {"#": [key, value, ..]}.
std::string pn_to_json(std::string_view pn);
/// Like pn_to_json, but over several lines, formatted like Ruby's JSON.pretty_generate.
std::string pn_to_pretty_json(std::string_view pn);
/// Breaks single-line PN into several lines, with two spaces of indentation per level.
std::string pn_indented(std::string_view pn);

}  // namespace bunraku::syntax
