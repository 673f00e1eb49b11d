// PN text in its other forms.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::syntax {

/// PN of one line as JSON: calls are {"^": [..]}, maps {"#": [key, value, ..]}.
std::string pn_to_json(std::string_view pn);
/// The same over several lines, as Ruby's JSON.pretty_generate has it.
std::string pn_to_pretty_json(std::string_view pn);
/// PN of one line over several, each level indented by two spaces.
std::string pn_indented(std::string_view pn);

}  // namespace bunraku::syntax
