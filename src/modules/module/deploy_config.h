// SPDX-License-Identifier: Apache-2.0
// The configuration r10k.yaml: sources of environments, and purging of unmanaged files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"

namespace bunraku::module {

/// A source of environments: a control repository whose branches become environments, or a
/// definition of environments.
struct DeploySource {
    std::string name, basedir;
    std::string type = "git";    ///< git, svn, yaml, yamldir or exec
    std::string remote;          ///< address of a git or svn repository
    std::string config;          ///< the file of a yaml source or the folder of a yamldir source
    std::string command;         ///< command of an exec source, which prints the definitions
    std::string user, password;  ///< for svn
    /// Reports whether its environments are branches of one repository.
    bool has_branches() const { return type == "git" || type == "svn"; }
    /// "" or "NAME": the text before "_" in the names of the environments
    std::string prefix;
    bool prefix_by_name = false;  ///< prefix: true
    std::string strip_component;  ///< a prefix, or /a regular expression/
    std::string invalid_branches = "correct_and_warn";
    std::vector<std::string> ignore_branch_prefixes;
    std::string filter_command;  ///< a shell command; a branch is omitted if it fails
    std::string puppetfile = "Puppetfile";
};

struct DeployConfig {
    std::string path;      ///< path of the configuration file
    std::string cachedir;  ///< empty if not configured
    std::vector<DeploySource> sources;
    std::vector<std::string> postrun;
    int pool_size = 0;  ///< 0 if not configured
    std::string proxy;
    std::string forge_url, forge_token;
    bool forge_override = false;  ///< true if a Puppetfile may select its forge
    bool purge_deployment = true, purge_environment = false, purge_puppetfile = true;
    std::vector<std::string> purge_allowlist;
    bool exclude_spec = false;
    std::string write_lock;  ///< reason for which deploys are forbidden; empty if they are allowed
    std::vector<std::string> warnings;
};

/// Parses the text of an r10k.yaml; keys may be symbols. The error describes the problem.
base::Result<DeployConfig> read_deploy_config(std::string_view text, const std::string& path);

/// The environment name derived from a branch.
struct BranchName {
    std::string name;     ///< branch name after removal of the configured component
    std::string dirname;  ///< name of the environment; empty if the branch is not an environment
    bool corrected = false, refused = false;
};
/// Applies r10k's rules (R10K::Environment::Name). Always refuses a name that is not valid as a
/// folder name.
BranchName environment_of_branch(const DeploySource& source, const std::string& branch);

}  // namespace bunraku::module
