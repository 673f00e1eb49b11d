// SPDX-License-Identifier: Apache-2.0
// What `module install`, `upgrade` and `uninstall` share. Internal to this folder.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "modules/module/tool.h"

namespace bunraku::module {

/// Returns AUTHOR-NAME for AUTHOR/NAME.
std::string dashed(std::string_view name);
/// Implements Puppet's v(): returns "v1.0.0" for a version, and other texts unchanged.
std::string shown_version(const std::string& version);
/// Returns a failure with these lines as its message.
ToolResult failed(const std::vector<std::string>& lines);
std::string joined_lines(const std::vector<std::string>& lines);
/// Returns `result` with the explanation of a failed resolution.
ToolResult with_reasons(ToolResult result, Graph& graph, const ToolOptions& options);
base::Result<void> check_range(const std::string& version);
/// Reports that the forge has no release that was requested. `first` is the first line.
ToolResult no_releases(std::string first, const std::string& name, const ToolOptions& options,
                       ForgeClient& client);
/// Reports that several installed modules have the name. `action` is "upgrade" or "uninstall".
ToolResult ambiguous(std::string_view action, const std::string& name,
                     const std::vector<const InstalledModule*>& found);
/// Reports whether the module has changes made locally, which `action` would lose.
bool changed_locally(const InstalledModule& module);

/// The common part of install and upgrade.
class ToolAction {
public:
    enum class Kind { Install, Upgrade };

    ToolAction(const ToolOptions& options, base::LogSink& log, Kind kind)
        : options_(options), log_(log), upgrading_(kind == Kind::Upgrade), client_(options.forge) {}

    /// Reads the installed modules, and logs a warning for each invalid version.
    base::Result<void> load();

    /// Returns the installed release, or null.
    const Candidate* installed(const std::string& name) const;
    Candidate* installed(const std::string& name);
    const InstalledModules& modules() const { return installed_; }
    ForgeClient& client() { return client_; }

    /// Sources of a graph. They refer to this object.
    Source installed_source();
    Source forge_source();
    static void add_dependencies(Candidate& c, const std::vector<Dependency>& dependencies);

    /// Restricts an installed module to its major version and to its own requirements.
    void constrain(Graph& graph, const std::string& name);

    /// Reports whether a release would overwrite a module of another author.
    std::optional<ToolResult> conflict(const std::vector<const Candidate*>& releases,
                                       const std::string& name) const;

    /// Downloads the missing releases in parallel, then installs each module at its path.
    base::Result<void> place(const std::vector<const Candidate*>& releases,
                             const std::string& folder, const std::string& local_archive);
    /// Returns the result after place(), with the tree of the releases.
    ToolResult success(const std::vector<const Candidate*>& releases, const std::string& folder);
    /// Returns the names of the installed modules that the graph has requested.
    const std::vector<std::string>& fetched() const { return fetched_; }

private:
    /// A module's releases in a forge.
    struct Listing {
        std::vector<RemoteModule> releases;
        std::vector<std::string> warnings;
    };

    /// Calls `work` with each number from 0 to count - 1, in parallel. Each thread has its own
    /// connection.
    void side_by_side(std::size_t count,
                      const std::function<void(ForgeClient&, std::size_t)>& work) const;
    /// Fetches the listings of all dependencies, recursively and in parallel, before the graph
    /// needs them. Failures are ignored, because the graph then requests the listing again.
    void look_ahead(const Listing& of);
    /// Returns the folder for a release: that of the installed older release, otherwise `folder`.
    std::string path_of(const Candidate& r, const std::string& folder) const;

    TreeNode tree(const Candidate& r, const std::vector<const Candidate*>& chosen,
                  std::vector<const Candidate*>& drawn, const std::string& folder) const;

    const ToolOptions& options_;
    base::LogSink& log_;
    bool upgrading_;
    ForgeClient client_;
    InstalledModules installed_;
    std::map<std::string, Candidate> releases_;
    std::map<std::string, std::vector<RemoteModule>> remotes_;
    std::map<std::string, Listing> ahead_;  ///< fetched but not yet used
    std::vector<std::string> fetched_;
    std::map<const Candidate*, std::string> places_;
};

}  // namespace bunraku::module
