// What an agent would find in a catalog before it changes anything: resources that are refused,
// relations in a circle.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "site/session.h"

namespace bunraku::cli {

struct CatalogProblems {
    std::string refused;              ///< a resource that no agent would take; empty: none
    std::vector<std::string> cycles;  ///< "(File[/a] => File[/b] => File[/a])"
    bool fine() const { return refused.empty() && cycles.empty(); }
};

/// Nothing of this machine is changed, or looked at more than making the resources needs.
CatalogProblems check_catalog(Invocation& invocation, site::Session& session,
                              const catalog::Catalog& catalog);

}  // namespace bunraku::cli
