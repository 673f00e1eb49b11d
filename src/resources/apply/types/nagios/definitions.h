// SPDX-License-Identifier: Apache-2.0
// Parses Nagios configuration files to the extent that nagios_core 1.0.1 does: definitions.
// Comments and includes are not preserved.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::apply {

/// "define host { .. }".
struct NagiosDefinition {
    std::string kind;
    std::vector<std::pair<std::string, std::string>> directives;  ///< each name occurs once

    void set(std::string name, std::string value);
};

/// Throws base::PuppetError "line 3: syntax error at value 'x' : ..".
std::vector<NagiosDefinition> parse_nagios(std::string_view text);

}  // namespace bunraku::apply
