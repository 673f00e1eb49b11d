// r10k.yaml: where environments come from and what becomes of what nobody manages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"

namespace bunraku::module {

/// A control repository whose branches become environments, or a definition of environments.
struct DeploySource {
    std::string name, basedir;
    std::string type = "git";    ///< git, svn, yaml, yamldir, exec
    std::string remote;          ///< of git and svn
    std::string config;          ///< of yaml the file, of yamldir the folder
    std::string command;         ///< of exec: prints the definitions
    std::string user, password;  ///< of svn
    /// Whether its environments are branches of one repository.
    bool has_branches() const { return type == "git" || type == "svn"; }
    std::string prefix;           ///< "" or "NAME": what stands before "_" of the environments
    bool prefix_by_name = false;  ///< prefix: true
    std::string strip_component;  ///< a beginning, or /a regular expression/
    std::string invalid_branches = "correct_and_warn";
    std::vector<std::string> ignore_branch_prefixes;
    std::string filter_command;  ///< a command of the shell; false leaves a branch out
    std::string puppetfile = "Puppetfile";
};

struct DeployConfig {
    std::string path;      ///< of the file
    std::string cachedir;  ///< empty: not said
    std::vector<DeploySource> sources;
    std::vector<std::string> postrun;
    int pool_size = 0;  ///< 0: not said
    std::string proxy;
    std::string forge_url, forge_token;
    bool forge_override = false;  ///< a Puppetfile may name its forge
    bool purge_deployment = true, purge_environment = false, purge_puppetfile = true;
    std::vector<std::string> purge_allowlist;
    bool exclude_spec = false;
    std::string write_lock;  ///< why nothing may be deployed; empty: it may
    std::vector<std::string> warnings;
};

/// Reads the text of an r10k.yaml; keys may be symbols. The error says what is wrong with it.
base::Result<DeployConfig> read_deploy_config(std::string_view text, const std::string& path);

/// What a branch becomes.
struct BranchName {
    std::string name;     ///< stripped
    std::string dirname;  ///< the environment; empty: it is none
    bool corrected = false, refused = false;
};
/// By r10k's rules (R10K::Environment::Name). What is no name of a folder is refused in any case.
BranchName environment_of_branch(const DeploySource& source, const std::string& branch);

}  // namespace bunraku::module
