// SPDX-License-Identifier: Apache-2.0
// Environments that a file or a command defines one by one (the r10k sources yaml, yamldir and
// exec).
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/codec/yaml.h"
#include "core/sys/system.h"
#include "modules/module/deploy_config.h"
#include "modules/module/puppetfile.h"

namespace bunraku::module {

struct EnvironmentDefinition {
    std::string name;
    /// Source of the environment's files. Local if it has no files (types `plain` and `bare`).
    PuppetfileModule content;
    std::vector<PuppetfileModule> modules;  ///< in addition to those of its Puppetfile
    std::string puppetfile = "Puppetfile";
    /// How to treat a module that is in the Puppetfile too: "override_and_warn", "override" or
    /// "error".
    std::string conflicts = "override_and_warn";
    std::vector<std::string> warnings;
};

/// Parses a mapping of names to definitions. The error contains the name of the environment.
base::Result<std::vector<EnvironmentDefinition>> read_definitions(const codec::YamlNode& document);

/// Reads the file or folder of the source, or runs its command.
base::Result<std::vector<EnvironmentDefinition>> definitions_of(const DeploySource& source,
                                                                sys::System& system);

}  // namespace bunraku::module
