// SPDX-License-Identifier: Apache-2.0
// The modules of all environments, as a job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "services/console/code_states.h"
#include "services/console/jobs.h"

namespace bunraku::console {

/// A module in the folders of an environment.
struct DeployedModule {
    std::string environment;
    std::string version;  ///< empty if metadata.json names none
    std::string folder;   ///< relative to the environment, or absolute
};
/// The deployed modules by "author-name", or by the name of the folder without metadata.
using DeployedModules = std::map<std::string, std::vector<DeployedModule>, std::less<>>;

class ModuleJob final : public Job {
public:
    ModuleJob(const CodeStates& states, std::vector<std::string> environments)
        : states_(states), environments_(std::move(environments)) {}
    /// Returns the result of a job in the state Done.
    const DeployedModules& modules() const { return modules_; }

protected:
    base::Result<void> run(const std::stop_token& stop) override;

private:
    const CodeStates& states_;
    const std::vector<std::string> environments_;
    DeployedModules modules_;
};

}  // namespace bunraku::console
