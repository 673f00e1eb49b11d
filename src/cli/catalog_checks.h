// What an agent would find in a catalog before it changes anything: resources that are refused,
// relations in a circle.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "compile/site/session.h"

namespace bunraku::cli {

struct CatalogProblems {
    std::string refused;              ///< a resource that no agent would take; empty: none
    std::vector<std::string> cycles;  ///< "(File[/a] => File[/b] => File[/a])"
    bool fine() const { return refused.empty() && cycles.empty(); }
};

/// Nothing of this machine is changed, or looked at more than making the resources needs. Ruby
/// children that have the types of modules wait for the environment's next catalog.
CatalogProblems check_catalog(Invocation& invocation, site::Session& session,
                              const catalog::Catalog& catalog);

/// `now` follows on `before`, and no code in Ruby has changed: it has its children, those of
/// compiles too.
void keep_ruby_children(const environment::Environment& before,
                        const environment::Environment& now);

}  // namespace bunraku::cli
