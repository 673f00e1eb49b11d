// SPDX-License-Identifier: Apache-2.0
// Checks a catalog for problems that an agent would find before it changes anything: invalid
// resources, and dependency cycles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/site/session.h"
#include "core/config/settings.h"

namespace bunraku::agent {

/// The problems of a catalog.
struct CatalogProblems {
    /// error of a resource that no agent would accept; may be empty
    std::string refused;
    std::vector<std::string> cycles;  ///< "(File[/a] => File[/b] => File[/a])"
    bool fine() const { return refused.empty() && cycles.empty(); }
};

/// Checks a catalog. Changes nothing on this machine, and examines it only as far as needed to
/// create the resources. Ruby processes that have loaded the types of modules remain available for
/// the environment's next catalog.
CatalogProblems check_catalog(const config::Settings& settings, site::Session& session,
                              const catalog::Catalog& catalog);

/// Moves the Ruby processes of `before`, including those of compiles, to `now`. Requires that no
/// Ruby code has changed between the two environments.
void keep_ruby_children(const environment::Environment& before,
                        const environment::Environment& now);

}  // namespace bunraku::agent
