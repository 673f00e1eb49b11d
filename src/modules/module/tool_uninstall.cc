// SPDX-License-Identifier: Apache-2.0
// The command `module uninstall`.
#include <fmt/format.h>
#include <optional>

#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "modules/module/tool_action.h"

namespace bunraku::module {

using base::Level;
using base::LogSink;
using base::Result;

namespace {

/// The installed modules that a name and a version refer to.
struct Matches {
    std::vector<const InstalledModule*> found;
    std::vector<const InstalledModule*> of_any_version;
    std::vector<std::string> similar;  ///< names of other modules that contain the name
};

Matches find_modules(const InstalledModules& all, const std::string& name,
                     const std::string& version) {
    const auto range = base::SemVerRange::parse(version.empty() ? ">= 0.0.0" : version);
    Matches out;
    for (const InstalledModule* m : all.all()) {
        const std::string full = m->full_name();
        if (full != name) {
            if (full.find(name) != std::string::npos) out.similar.push_back(full);
            continue;
        }
        out.of_any_version.push_back(m);
        if (!version.empty() && !m->version.empty()) {
            const auto there = base::SemVer::parse(m->version);
            if (!there || !range->includes(*there)) continue;
        }
        out.found.push_back(m);
    }
    return out;
}

ToolResult not_installed(const std::string& name, const std::string& version,
                         const Matches& matches) {
    if (matches.of_any_version.empty()) {
        std::vector<std::string> lines{fmt::format("Could not uninstall module '{}'", name),
                                       fmt::format("  Module '{}' is not installed", name)};
        for (const std::string& s : matches.similar) {
            lines.push_back(fmt::format("    You may have meant `puppet module uninstall {}`", s));
        }
        return failed(lines);
    }
    const std::string shown = shown_version(version);
    std::vector<std::string> lines{
        fmt::format("Could not uninstall module '{}' ({})", name, shown),
        fmt::format("  No installed version of '{}' matches ({})", name, shown)};
    for (const InstalledModule* m : matches.of_any_version) {
        lines.push_back(fmt::format("    '{}' ({}) is installed in {}", name,
                                    shown_version(m->version), m->modulepath));
    }
    return failed(lines);
}

/// Reports that other modules depend on the module. Returns nullopt if none does.
std::optional<ToolResult> still_required(const InstalledModules& all, const InstalledModule& mod,
                                         const std::string& name, const ToolOptions& options) {
    const auto needed = all.required_by(mod.forge_name);
    if (needed.empty()) return std::nullopt;
    std::vector<std::string> lines{
        options.version.empty()
            ? fmt::format("Could not uninstall module '{}'", name)
            : fmt::format("Could not uninstall module '{}' (v{})", name, options.version),
        fmt::format("  Other installed modules have dependencies on '{}' ({})", name,
                    shown_version(mod.version))};
    for (const auto& r : needed) {
        lines.push_back(fmt::format("    '{}' ({}) requires '{}' ({})", r.name,
                                    shown_version(r.version), name, shown_version(r.requirement)));
    }
    lines.emplace_back("    Use `puppet module uninstall --force` to uninstall this module anyway");
    return failed(lines);
}

}  // namespace

Result<ToolResult> uninstall_module(const std::string& given, const ToolOptions& options,
                                    LogSink& log) {
    const std::string name = dashed(given);
    log.log(Level::Notice,
            options.version.empty()
                ? fmt::format("Preparing to uninstall '{}' ...", name)
                : fmt::format("Preparing to uninstall '{}' ({}) ...", name,
                              colored(options.color, "cyan", shown_version(options.version))));
    BUNRAKU_TRY_VOID(check_range(options.version));
    const InstalledModules all = BUNRAKU_TRY(InstalledModules::load(options.modulepath));
    const Matches matches = find_modules(all, name, options.version);
    if (matches.found.size() > 1) return ambiguous("uninstall", name, matches.found);
    if (matches.found.empty()) return not_installed(name, options.version, matches);
    const InstalledModule& mod = *matches.found[0];
    if (!options.force && !options.ignore_changes && changed_locally(mod)) {
        return failed(
            {fmt::format("Could not uninstall module '{}' ({})", name, shown_version(mod.version)),
             "  Installed module has had changes made locally",
             "    Use `puppet module uninstall --ignore-changes` to uninstall this "
             "module anyway"});
    }
    if (!options.force) {
        if (auto refusal = still_required(all, mod, name, options)) return *refusal;
    }
    auto gone = sys::disk().remove_all(mod.path);
    if (!gone) return failed({gone.error().message});
    return ToolResult{
        ToolResult::Kind::Success,
        mod.version.empty()
            ? fmt::format("Removed '{}' from {}\n", name, mod.modulepath)
            : fmt::format("Removed '{}' ({}) from {}\n", name,
                          colored(options.color, "cyan", shown_version(mod.version)),
                          mod.modulepath),
        fmt::format(R"(,"affected_modules":[{}])",
                    codec::json_string(fmt::format("Module {}({})", mod.name, mod.path))),
        {},
        {}};
}

}  // namespace bunraku::module
