// Texts that are evaluated one after another, as somebody types them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compile/compiler/compile.h"

namespace bunraku::compiler {

/// All in one top scope: what one text sets the next one sees, whether one between them failed or
/// not. Classes and resources are declared; what waits for the end of a compile (defines,
/// collectors, overrides) waits for ever.
struct ReplSession {
    std::function<value::Value(const std::string& text)> evaluate;  ///< throws
    std::function<std::vector<std::string>()> resources;            ///< "File[/etc/motd]"
    std::function<std::vector<std::string>()> variables;            ///< of the top scope
};

/// As `visit`.
void converse(Request& request, bool with_manifest, const std::string& source_name,
              const std::function<void(ReplSession&)>& action);

}  // namespace bunraku::compiler
