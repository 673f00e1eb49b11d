// SPDX-License-Identifier: Apache-2.0
// The command `module upgrade`.
#include <algorithm>
#include <fmt/format.h>

#include "modules/module/tool_action.h"

namespace bunraku::module {

using base::Level;
using base::LogSink;
using base::Result;

namespace {

/// A module that is upgraded.
struct Upgrade {
    ToolAction& action;
    const ToolOptions& options;
    std::string name;
    Candidate& there;
    std::string change;  ///< "v1.0.0 -> latest"

    std::string title() const {
        return fmt::format("Could not upgrade module '{}' ({})", name, change);
    }
};

/// Reports whether the forge has a release that was requested.
Result<bool> available(const Upgrade& upgrade) {
    const auto releases = BUNRAKU_TRY(upgrade.action.forge_source()(upgrade.name));
    if (upgrade.options.version.empty()) return !releases.empty();
    auto wanted = base::SemVerRange::parse(upgrade.options.version);
    return wanted && std::ranges::any_of(
                         releases, [&](const Candidate& c) { return wanted->includes(c.version); });
}

/// Reports why the installed release was chosen again.
ToolResult unchanged(const Upgrade& upgrade, const Graph& graph) {
    const auto newer = std::ranges::count_if(
        graph.candidates(), [&](const Candidate* c) { return c->version > upgrade.there.version; });
    std::vector<std::string> lines{upgrade.title()};
    if (newer == 0) {
        lines.push_back(fmt::format(
            "  The installed version is already the latest version matching {}", upgrade.change));
    } else {
        lines.push_back(fmt::format("  There are {} newer versions", newer));
        lines.emplace_back(
            "    No combination of dependency upgrades would satisfy all dependencies");
        std::vector<std::string> culprits;
        for (const std::string& f : upgrade.action.fetched()) {
            if (f != upgrade.name) culprits.push_back("    - " + f);
        }
        if (!culprits.empty()) {
            lines.emplace_back(
                "    Dependencies will not be automatically upgraded across major versions");
            lines.emplace_back(
                "    Upgrading one or more of these modules may permit the upgrade to succeed:");
            lines.insert(lines.end(), culprits.begin(), culprits.end());
        }
    }
    lines.emplace_back("    Use `puppet module upgrade --force` to upgrade only this module");
    return {newer == 0 ? ToolResult::Kind::Noop : ToolResult::Kind::Failure,
            joined_lines(lines),
            {},
            {},
            {}};
}

/// Resolves the graph and replaces the releases that it changes.
Result<ToolResult> resolve_and_place(const Upgrade& upgrade, LogSink& log) {
    const auto& [action, options, name, there, change] = upgrade;
    Graph graph(name, options.version.empty() ? ">= 0.0.0" : options.version);
    const std::vector<Source> sources{action.installed_source(), action.forge_source()};
    auto queried = options.alone() ? graph.query_single(sources) : graph.query(sources);
    if (!queried) return failed({queried.error().message});
    action.constrain(graph, name);
    log.log(Level::Info, "Resolving dependencies ...");
    const Graph::Resolution solved = graph.resolve();
    if (solved.releases.empty()) {
        return with_reasons(
            failed({upgrade.title(), "  The requested version cannot satisfy all dependencies",
                    fmt::format("  Use `puppet module upgrade '{}' --ignore-dependencies` to "
                                "upgrade only this module",
                                name)}),
            graph, options);
    }
    if (auto bad = action.conflict(solved.releases, name)) return *bad;
    const Candidate* chosen = nullptr;
    for (const Candidate* r : solved.releases) {
        if (r->name == name) chosen = r;
    }
    if (!options.force) {
        if (chosen->version == there.version) return unchanged(upgrade, graph);
        if (chosen->version < there.version) {
            return failed({upgrade.title(), "  Downgrading is not allowed."});
        }
    }
    log.log(Level::Info, "Preparing to upgrade ...");
    const std::string& folder = there.installed->modulepath;
    auto placed = action.place(solved.releases, folder, {});
    if (!placed) return failed({placed.error().message});
    return action.success(solved.releases, folder);
}

}  // namespace

Result<ToolResult> upgrade_module(const std::string& given, const ToolOptions& options,
                                  LogSink& log) {
    const std::string name = dashed(given);
    log.log(Level::Notice, fmt::format("Preparing to upgrade '{}' ...", name));
    ToolAction action(options, log, ToolAction::Kind::Upgrade);
    BUNRAKU_TRY_VOID(check_range(options.version));
    BUNRAKU_TRY_VOID(action.load());

    std::vector<const InstalledModule*> matching;
    for (const InstalledModule* m : action.modules().all()) {
        if (!m->forge_name.empty() && m->full_name() == name) matching.push_back(m);
    }
    if (matching.empty()) {
        // Puppet has no action here, so its message has a gap.
        return failed({fmt::format("Could not upgrade module '{}'", name),
                       fmt::format("  Module '{}' is not installed", name),
                       "    Use `puppet module install` to install this module"});
    }
    if (matching.size() > 1) return ambiguous("upgrade", name, matching);

    Candidate& there = *action.installed(name);
    there.priority = 0;  // the installed release is to be replaced, so it is not preferred
    const InstalledModule& mod = *there.installed;
    log.log(Level::Notice, fmt::format("Found '{}' ({}) in {} ...", name,
                                       colored(options.color, "cyan",
                                               mod.version.empty() ? "???" : "v" + mod.version),
                                       mod.modulepath));
    const Upgrade upgrade{action, options, name, there,
                          shown_version(there.version.to_string()) + " -> " +
                              shown_version(options.version.empty() ? "latest" : options.version)};
    if (!options.force && !options.ignore_changes && changed_locally(mod)) {
        return failed(
            {upgrade.title(), "  Installed module has had changes made locally",
             "    Use `puppet module upgrade --ignore-changes` to upgrade this module anyway"});
    }
    const auto any = available(upgrade);
    if (!any) return failed({any.error().message});
    if (!*any) {
        return no_releases(fmt::format("Could not upgrade '{}' ({})", name, upgrade.change), name,
                           options, action.client());
    }
    log.log(Level::Notice, fmt::format("Downloading from {} ...", action.client().url()));
    return resolve_and_place(upgrade, log);
}

}  // namespace bunraku::module
