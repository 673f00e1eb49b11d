// SPDX-License-Identifier: Apache-2.0
// Reads types as written in manifests, with the aliases of the workspace.
#pragma once

#include <string>
#include <string_view>

#include "compile/checks/named_types.h"
#include "services/lsp/workspace.h"

namespace bunraku::lsp {

/// Finds type aliases in the index.
class WorkspaceTypes final : public checks::NamedTypes {
public:
    WorkspaceTypes(const Workspace& workspace, Group group)
        : workspace_(workspace), group_(group) {}

private:
    std::string definition_of(std::string_view name) override;

    const Workspace& workspace_;
    Group group_;
};

}  // namespace bunraku::lsp
