// SPDX-License-Identifier: Apache-2.0
// Evaluation of texts one after another, as a user enters them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compile/compiler/compile.h"

namespace bunraku::compiler {

/// A session in which all texts share one top scope. A text sees the variables of earlier texts,
/// even if another one failed in between. Classes and resources are declared. Defines, collectors
/// and overrides, which need the end of a compile, are never evaluated.
struct ReplSession {
    std::function<value::Value(const std::string& text)> evaluate;  ///< throws
    std::function<std::vector<std::string>()> resources;            ///< "File[/etc/motd]"
    std::function<std::vector<std::string>()> variables;            ///< of the top scope
};

/// Like `visit`, with a ReplSession.
void converse(Request& request, bool with_manifest, const std::string& source_name,
              const std::function<void(ReplSession&)>& action);

}  // namespace bunraku::compiler
