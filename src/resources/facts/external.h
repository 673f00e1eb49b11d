// SPDX-License-Identifier: Apache-2.0
// External facts, from files, output of programs, and the environment.
#pragma once

#include <string>
#include <vector>

#include "resources/facts/cache.h"

namespace bunraku::facts {

/// Facter's weights. A custom fact with a higher weight takes precedence over an external fact.
constexpr int kExternalWeight = 10'000, kEnvironmentWeight = 1'000'000;

struct ExternalFact {
    std::string name;
    Value value;
    std::string file;  ///< empty if the fact is from an environment variable
    int weight = kExternalWeight;
};

/// Returns all external facts. Among facts of the same name, the one that takes precedence is
/// first. Executable files are run.
std::vector<ExternalFact> load_external(Context& context, const Options& options, FactCache& cache,
                                        const std::vector<std::string>& blocked);

}  // namespace bunraku::facts
