// External facts: what stands in files, what programs print, what the environment says.
#pragma once

#include <string>
#include <vector>

#include "resources/facts/cache.h"

namespace bunraku::facts {

/// Facter's weights: a custom fact that is heavier goes before an external one.
constexpr int kExternalWeight = 10'000, kEnvironmentWeight = 1'000'000;

struct ExternalFact {
    std::string name;
    Value value;
    std::string file;  ///< empty: a variable of the environment
    int weight = kExternalWeight;
};

/// All of them, those of the same name with the one that counts first; executable files are run.
std::vector<ExternalFact> load_external(Context& context, const Options& options, FactCache& cache,
                                        const std::vector<std::string>& blocked);

}  // namespace bunraku::facts
