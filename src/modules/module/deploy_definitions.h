// Environments that a file or a command defines, one by one (r10k's sources yaml, yamldir, exec).
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
    /// Where its files come from. Local: it has none of its own (types `plain` and `bare`).
    PuppetfileModule content;
    std::vector<PuppetfileModule> modules;  ///< beside those of its Puppetfile
    std::string puppetfile = "Puppetfile";
    /// What becomes of a module that the Puppetfile names, too: "override_and_warn", "override",
    /// "error".
    std::string conflicts = "override_and_warn";
    std::vector<std::string> warnings;
};

/// Reads a mapping of names to definitions. The error names the environment.
base::Result<std::vector<EnvironmentDefinition>> read_definitions(const codec::YamlNode& document);

/// Reads the source's file or folder, or runs its command.
base::Result<std::vector<EnvironmentDefinition>> definitions_of(const DeploySource& source,
                                                                sys::System& system);

}  // namespace bunraku::module
