// `module install`, `upgrade` and `uninstall`: Puppet's rules, texts and trees.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "modules/module/forge_client.h"
#include "modules/module/installed.h"
#include "modules/module/resolve.h"

namespace bunraku::module {

struct ToolOptions {
    ForgeClientOptions forge;
    std::vector<std::string> modulepath;  ///< target_dir first where one is given
    std::string target_dir;               ///< the first folder of the modulepath
    std::string version;                  ///< empty: not asked for
    bool force = false, ignore_dependencies = false, ignore_changes = false;
    bool color = false;
    bool explain = false;  ///< below Puppet's text, why no releases fit together
    int parallel = 16;
};

/// What an action did.
struct ToolResult {
    enum class Kind { Success, Noop, Failure } kind = Kind::Failure;
    std::string text;     ///< Success: what goes to stdout; else the message
    std::string details;  ///< members of a JSON object beside these: `,"install_dir":"/x"`
    /// Why no releases fit together, and what would do; a sentence each.
    std::vector<std::string> wants, remedies;
};

/// Nodes of a tree, and its drawing ("└─┬ a (v1.0.0)").
struct TreeNode {
    std::string name, text;
    std::vector<TreeNode> children;
    std::string version, previous, path;  ///< of a module that was installed
};
std::string draw_tree(const std::vector<TreeNode>& nodes, int level = 0);

/// Colours the text where `on`: "cyan", "red" or "bg_red".
std::string colored(bool on, std::string_view color, std::string_view text);

/// Installs what a name or a release archive says; logs its progress. An error is one that Puppet
/// reports without a rendering of its own.
base::Result<ToolResult> install_module(const std::string& name, const ToolOptions& options,
                                        base::LogSink& log);
base::Result<ToolResult> upgrade_module(const std::string& name, const ToolOptions& options,
                                        base::LogSink& log);
base::Result<ToolResult> uninstall_module(const std::string& name, const ToolOptions& options,
                                          base::LogSink& log);
/// The text of `module list`; warnings are logged.
base::Result<std::string> list_modules(const ToolOptions& options, bool tree, base::LogSink& log);

/// The same as Puppet's --render-as json has it, without colours or warnings of dependencies.
base::Result<std::string> list_modules_as_json(const ToolOptions& options,
                                               const std::string& environment, base::LogSink& log);

/// Puts what `fill` makes of a folder (made by it) at `target` by renames: there is never half a
/// tree, and what stood there stays where `fill` fails. Owned by the owner of the folder above.
base::Result<void> place_tree(
    const std::string& target,
    const std::function<base::Result<void>(const std::string& folder)>& fill);
/// Removes what a process that was killed in place_tree left beside `target`.
void remove_leftovers(const std::string& target);
/// The same as place_tree with the content of an archive.
base::Result<void> place_module(std::string_view archive, const std::string& target);

}  // namespace bunraku::module
