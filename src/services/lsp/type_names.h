// SPDX-License-Identifier: Apache-2.0
// Reads types as written in manifests, with the aliases of the workspace.
#pragma once

#include <string_view>

#include "language/types/type.h"
#include "services/lsp/workspace.h"

namespace bunraku::lsp {

/// Finds type aliases in the index.
class WorkspaceTypes final : public types::Loader {
public:
    WorkspaceTypes(const Workspace& workspace, Group group)
        : workspace_(workspace), group_(group) {}

    const types::Type* find_type(std::string_view name) override;
    /// Returns the type; null if it is not valid or contains an unknown alias.
    const types::Type* parse(std::string_view text);
    types::Context& context() { return context_; }
    base::Arena& arena() { return arena_; }

private:
    const Workspace& workspace_;
    Group group_;
    base::Arena arena_;
    types::Context context_{arena_, this};
    int depth_ = 0;
    bool unknown_ = false;
};

}  // namespace bunraku::lsp
