// SPDX-License-Identifier: Apache-2.0
// Completion in Puppetfiles: modules, versions and options.
#pragma once

#include <string>

#include "services/lsp/state.h"

namespace bunraku::lsp {

/// Returns the items at the place in a Puppetfile. Modules and versions are those of the workspace
/// and of the forge.
std::string puppetfile_completion(State& state, const DocumentPlace& place);

}  // namespace bunraku::lsp
