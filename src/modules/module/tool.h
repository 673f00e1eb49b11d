// SPDX-License-Identifier: Apache-2.0
// The commands `module install`, `upgrade` and `uninstall`, with Puppet's rules, messages and
// trees.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/compatibility.h"
#include "modules/module/forge_client.h"
#include "modules/module/installed.h"
#include "modules/module/resolve.h"

namespace bunraku::module {

struct ToolOptions {
    ForgeClientOptions forge;
    std::vector<std::string> modulepath;  ///< target_dir is first if it is given
    std::string target_dir;               ///< the first folder of the modulepath
    std::string version;                  ///< empty if not requested
    bool force = false, ignore_dependencies = false, ignore_changes = false;
    bool color = false;
    bool explain = false;  ///< true to explain after Puppet's message why no releases fit together
    int parallel = 16;
    config::Compatibility level = config::kDefaultLevel;  ///< which modules must support

    /// Reports whether dependencies are neither resolved nor installed.
    bool alone() const { return force || ignore_dependencies; }
};

/// The result of an action.
struct ToolResult {
    enum class Kind { Success, Noop, Failure } kind = Kind::Failure;
    std::string text;     ///< on success the output for stdout, otherwise the message
    std::string details;  ///< further members of the JSON result: `,"install_dir":"/x"`
    /// Explanation of a failed resolution and possible remedies; one sentence each.
    std::vector<std::string> wants, remedies;
};

/// A node of a tree, and a function that draws the tree ("└─┬ a (v1.0.0)").
struct TreeNode {
    std::string name, text;
    std::vector<TreeNode> children;
    std::string version, previous, path;  ///< of the previously installed module
};
std::string draw_tree(const std::vector<TreeNode>& nodes, int level = 0);

/// Colours the text if `on` is true: "cyan", "red" or "bg_red".
std::string colored(bool on, std::string_view color, std::string_view text);

/// Installs a module given by name or release archive, and logs the progress. Returns an error for
/// problems that Puppet reports without special formatting.
base::Result<ToolResult> install_module(const std::string& name, const ToolOptions& options,
                                        base::LogSink& log);
base::Result<ToolResult> upgrade_module(const std::string& name, const ToolOptions& options,
                                        base::LogSink& log);
base::Result<ToolResult> uninstall_module(const std::string& name, const ToolOptions& options,
                                          base::LogSink& log);
/// Returns the output of `module list`; warnings are logged.
base::Result<std::string> list_modules(const ToolOptions& options, bool tree, base::LogSink& log);

/// Returns the same in the format of Puppet's --render-as json, without colours and dependency
/// warnings.
base::Result<std::string> list_modules_as_json(const ToolOptions& options,
                                               const std::string& environment, base::LogSink& log);

/// Calls `fill` with a new folder, then moves the result to `target` with renames, so that a
/// partial tree is never visible. If `fill` fails, `target` remains unchanged. The files get the
/// owner of the parent folder.
base::Result<void> place_tree(
    const std::string& target,
    const std::function<base::Result<void>(const std::string& folder)>& fill);
/// Removes what a killed place_tree left next to `target`.
void remove_leftovers(const std::string& target);
/// Calls place_tree with the content of an archive.
base::Result<void> place_module(std::string_view archive, const std::string& target);

}  // namespace bunraku::module
