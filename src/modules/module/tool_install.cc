// SPDX-License-Identifier: Apache-2.0
// The command `module install`.
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>

#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "modules/module/tool_action.h"

namespace bunraku::module {

using base::failure;
using base::Level;
using base::LogSink;
using base::Result;

namespace {

bool same_range_impossible(const std::string& a, const std::string& b) {
    // Look for a version in both ranges by comparing the ends of their intervals.
    auto x = base::SemVerRange::parse(a), y = base::SemVerRange::parse(b);
    if (!x || !y) return true;
    for (const auto& p : x->parts) {
        for (const auto& q : y->parts) {
            const auto ends_before = [](const auto& one, const auto& two) {
                if (!one.max || !two.min) return false;
                const auto order = *one.max <=> *two.min;
                return order < 0 || (order == 0 && (one.exclude_max || two.exclude_min));
            };
            if (!p.none && !q.none && !ends_before(p, q) && !ends_before(q, p)) return false;
        }
    }
    return true;
}

/// Returns Puppet's explanation of a graph without a solution, for install.
ToolResult unsatisfiable(const ToolAction& action, const Graph& graph, const std::string& name,
                         const ToolOptions& options, const std::string& failing) {
    const auto& candidates = graph.candidates();
    const std::string requested =
        options.version.empty() ? candidates.back()->version.to_string() : options.version;
    std::vector<std::pair<std::string, std::string>> constraints;
    if (!failing.empty()) {
        if (failing == name) {
            for (const auto& c : graph.constraints()) {
                if (c.module != name || !c.source.ends_with(" constraint")) continue;
                if (!options.version.empty() && !same_range_impossible(options.version, c.text)) {
                    continue;
                }
                constraints.emplace_back(c.source.substr(0, c.source.find(' ')), c.text);
            }
        } else {
            for (const auto& c : candidates.back()->constraints) {
                if (c.module != failing) continue;
                constraints.emplace_back(failing, c.text);
                break;
            }
        }
    }
    std::vector<std::string> lines{
        fmt::format("Could not install module '{}' ({})", name, shown_version(requested))};
    if (!constraints.empty()) {
        std::string forge_name = failing;
        std::replace(forge_name.begin(), forge_name.end(), '-', '/');
        const InstalledModule* there = action.modules().by_forge_name(forge_name);
        lines.emplace_back(
            "  The requested version cannot satisfy one or more of the following installed "
            "modules:");
        if (there && !there->version.empty()) {
            std::string expected;
            for (const auto& [module, range] : constraints) {
                if (module == failing) expected = range;
            }
            lines.push_back(fmt::format("    {}, installed: {}, expected: {}", failing,
                                        there->version, expected));
        } else {
            for (const auto& [module, range] : constraints) {
                lines.push_back(fmt::format("    {}, expects '{}': {}", module, name, range));
            }
        }
        lines.emplace_back("");
    } else {
        lines.emplace_back("  The requested version cannot satisfy all dependencies");
    }
    lines.push_back(fmt::format(
        "  Use `puppet module install '{}' --ignore-dependencies` to install only this module",
        name));
    return failed(lines);
}

Result<std::string> read_archive(const std::string& file, Metadata* metadata) {
    auto bytes = sys::disk().read(file);
    if (!bytes) return std::unexpected(bytes.error());
    auto tarball = inspect_tarball(*bytes);
    if (!tarball) {
        return failure(
            fmt::format("Could not install '{}'; Could not extract contents of module "
                        "archive: {}",
                        file, tarball.error().message));
    }
    *metadata = tarball->metadata;
    return std::move(*bytes);
}

/// Creates the folder of modules if it is missing. If that fails, returns Puppet's message.
Result<std::optional<ToolResult>> make_target(const ToolOptions& options, const std::string& name,
                                              const std::string& version, LogSink& log) {
    struct stat folder{};
    if (::stat(options.target_dir.c_str(), &folder) == 0 && S_ISDIR(folder.st_mode)) {
        return std::nullopt;
    }
    auto made = sys::disk().make_directories(options.target_dir, 0777);
    if (made) {
        log.log(Level::Notice, "Created target directory " + options.target_dir);
        return std::nullopt;
    }
    std::vector<std::string> lines{
        fmt::format("Could not install module '{}' ({})", name, version)};
    if (made.error().code == EACCES) {
        lines.push_back(fmt::format("  Permission is denied when trying to create directory '{}'.",
                                    options.target_dir));
        lines.emplace_back(
            "  A potential solution is to check the ownership and permissions of parent "
            "directories.");
        return failed(lines);
    }
    if (made.error().code == EEXIST || made.error().code == ENOTDIR) {
        lines.push_back(
            fmt::format("  Path '{}' exists but is not a directory.", options.target_dir));
        lines.push_back(
            fmt::format("  A potential solution is to rename the path and then \"mkdir -p '{}'\"",
                        options.target_dir));
        return failed(lines);
    }
    return failure(made.error().message);
}

/// The module that `module install` was asked for.
struct Wanted {
    std::string name, version;  ///< no version: the latest one
    std::string archive;        ///< bytes of the given release archive, if it is one
    Metadata local;             ///< metadata of the archive
    bool from_file = false;

    std::string range() const { return version.empty() ? ">= 0.0.0" : version; }
    std::string shown() const { return shown_version(version.empty() ? "latest" : version); }
};

/// Reports that the module is installed already. Returns nullopt if it is not.
std::optional<ToolResult> already_installed(const ToolAction& action, const std::string& given,
                                            const Wanted& wanted) {
    const Candidate* there = action.installed(wanted.name);
    if (there == nullptr) return std::nullopt;
    const std::string version = there->version.to_string();
    auto range = base::SemVerRange::parse(wanted.range());
    if (range && range->includes(there->version)) {
        return ToolResult{ToolResult::Kind::Noop,
                          fmt::format("Module {} {} is already installed.", given, version),
                          fmt::format(R"(,"version":{})", codec::json_string(version)),
                          {},
                          {}};
    }
    std::vector<std::string> lines{
        fmt::format("Could not install module '{}' ({})", wanted.name, wanted.shown()),
        fmt::format("  Module '{}' ({}) is already installed", wanted.name,
                    shown_version(version))};
    auto changes = changed_files(there->installed->path);
    if (changes && !changes->empty()) {
        lines.emplace_back("    Installed module has had changes made locally");
    }
    lines.emplace_back("    Use `puppet module upgrade` to install a different version");
    lines.emplace_back("    Use `puppet module install --force` to re-install only this module");
    return failed(lines);
}

/// Returns a source that has only the release of the archive.
Source archive_source(const Wanted& wanted) {
    return [&wanted](const std::string& asked) -> Result<std::vector<Candidate>> {
        std::vector<Candidate> out;
        if (asked != wanted.name) return out;
        Candidate c;
        c.name = wanted.name;
        c.version = wanted.local.semver;
        c.local = true;
        ToolAction::add_dependencies(c, wanted.local.dependencies);
        out.push_back(std::move(c));
        return out;
    };
}

std::vector<Source> sources_of(ToolAction& action, const Wanted& wanted,
                               const ToolOptions& options) {
    std::vector<Source> sources;
    if (wanted.from_file) {
        sources.push_back(archive_source(wanted));
        if (options.alone()) return sources;
        sources.push_back(action.installed_source());
    } else if (!options.force) {
        sources.push_back(action.installed_source());
    }
    sources.push_back(action.forge_source());
    return sources;
}

/// Resolves the graph and installs its releases.
Result<ToolResult> install_wanted(ToolAction& action, const Wanted& wanted,
                                  const ToolOptions& options, LogSink& log) {
    Graph graph(wanted.name, wanted.range());
    const auto sources = sources_of(action, wanted, options);
    auto queried = options.alone() ? graph.query_single(sources) : graph.query(sources);
    if (!queried) return failed({queried.error().message});
    action.constrain(graph, wanted.name);
    ToolOptions effective = options;
    effective.version = wanted.version;
    if (graph.candidates().empty()) {
        return no_releases(fmt::format("Could not install '{}' ({})", wanted.name, wanted.shown()),
                           wanted.name, effective, action.client());
    }
    log.log(Level::Info, "Resolving dependencies ...");
    const Graph::Resolution solved = graph.resolve();
    if (solved.releases.empty()) {
        return with_reasons(
            unsatisfiable(action, graph, wanted.name, effective, solved.unsatisfied), graph,
            options);
    }
    if (!options.force) {
        if (auto bad = action.conflict(solved.releases, wanted.name)) return *bad;
    }
    log.log(Level::Info, "Preparing to install ...");
    auto placed = action.place(solved.releases, options.target_dir, wanted.archive);
    if (!placed) return failed({placed.error().message});
    return action.success(solved.releases, options.target_dir);
}

}  // namespace

Result<ToolResult> install_module(const std::string& given, const ToolOptions& options,
                                  LogSink& log) {
    log.log(Level::Notice, fmt::format("Preparing to install into {} ...", options.target_dir));
    ToolAction action(options, log, ToolAction::Kind::Install);
    BUNRAKU_TRY_VOID(action.load());

    Wanted wanted{.name = dashed(given), .version = options.version};
    if (sys::disk().exists(given)) {
        wanted.from_file = true;
        wanted.archive = BUNRAKU_TRY(read_archive(given, &wanted.local));
        wanted.name = wanted.local.module.slug();
        wanted.version = wanted.local.version;
    } else if (wanted.name.find('-') == std::string::npos) {
        return failed(
            {fmt::format("Could not install module '{}'", given),
             fmt::format("  The name '{}' is invalid", given),
             fmt::format("    Did you mean `puppet module install puppetlabs-{}`?", given)});
    }
    if (!options.force) {
        if (auto there = already_installed(action, given, wanted)) return *there;
    }
    if (auto refusal = BUNRAKU_TRY(make_target(options, wanted.name, wanted.shown(), log))) {
        return *refusal;
    }
    if (!(wanted.from_file && options.alone())) {
        log.log(Level::Notice, fmt::format("Downloading from {} ...", action.client().shown_url()));
    }
    BUNRAKU_TRY_VOID(check_range(wanted.range()));
    return install_wanted(action, wanted, options, log);
}

}  // namespace bunraku::module
