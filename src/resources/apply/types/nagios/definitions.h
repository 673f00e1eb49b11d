// The language of Nagios' configuration files, as far as nagios_core 1.0.1 reads it: definitions;
// comments and includes are not kept.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::apply {

/// "define host { .. }".
struct NagiosDefinition {
    std::string kind;
    std::vector<std::pair<std::string, std::string>> directives;  ///< each once

    void set(std::string name, std::string value);
};

/// Throws base::PuppetError "line 3: syntax error at value 'x' : ..".
std::vector<NagiosDefinition> parse_nagios(std::string_view text);

}  // namespace bunraku::apply
