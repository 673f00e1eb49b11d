// SPDX-License-Identifier: Apache-2.0
#include "modules/module/tool.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "modules/module/parallel.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Level;
using base::LogSink;
using base::Result;

std::string dashed(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '/', '-');
    return out;
}

/// Puppet's v(): returns "v1.0.0" for a version, and other texts unchanged.
std::string v(const std::string& version) {
    if (version.empty()) return "???";
    return version[0] >= '0' && version[0] <= '9' ? "v" + version : version;
}

std::string join(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) {
        if (!out.empty()) out += '\n';
        out += line;
    }
    return out;
}

ToolResult failed(const std::vector<std::string>& lines) {
    return {ToolResult::Kind::Failure, join(lines), {}, {}, {}};
}

/// Returns the graph in the format of Puppet's --render-as json.
std::string graph_json(const std::vector<TreeNode>& nodes, std::string_view action) {
    using codec::json_string;
    std::string out = "[";
    for (const TreeNode& n : nodes) {
        out += fmt::format(R"({}{{"release":{},"name":{},"path":{},"dependencies":{},"version":{},)"
                           R"("previous_version":{},"action":"{}"}})",
                           out.size() > 1 ? "," : "", json_string(n.name + "@" + n.version),
                           json_string(n.name), json_string(n.path), graph_json(n.children, action),
                           json_string(n.version),
                           n.previous.empty() ? "null" : json_string(n.previous), action);
    }
    return out + "]";
}

/// Returns `result` with the explanation of a failed resolution.
ToolResult with_reasons(ToolResult result, Graph& graph, const ToolOptions& options) {
    if (!options.explain) return result;
    Graph::Explanation why = graph.explain();
    if (why.empty()) return result;
    result.wants = std::move(why.wants);
    result.remedies = std::move(why.remedies);
    return result;
}

std::string short_name(const std::string& full) {
    const std::size_t dash = full.find('-');
    return dash == std::string::npos ? full : full.substr(dash + 1);
}

/// The common part of install and upgrade.
class Action {
public:
    Action(const ToolOptions& options, LogSink& log, bool upgrading)
        : options_(options), log_(log), upgrading_(upgrading), client_(options.forge) {}

    Result<void> load() {
        std::vector<std::string> warnings;
        installed_ = BUNRAKU_TRY(InstalledModules::load(options_.modulepath, &warnings));
        for (std::string& w : warnings) log_.log(Level::Warning, std::move(w));
        for (const InstalledModule* m : installed_.all()) {
            if (!m->has_metadata || m->forge_name.empty()) continue;
            const std::string name = m->full_name();
            if (releases_.contains(name)) continue;
            Candidate c;
            c.name = name;
            c.priority = 10;
            c.installed = m;
            auto version = base::SemVer::parse(m->version);
            if (!version) {
                log_.log(Level::Warning,
                         fmt::format("{} ({}) has an invalid version number ({}). The version has "
                                     "been set to 0.0.0. If you are the maintainer for this "
                                     "module, please update the metadata.json with a valid "
                                     "Semantic Version (http://semver.org).",
                                     m->name, m->path, m->version));
                version = base::SemVer::parse("0.0.0");
            }
            c.version = *version;
            // The ranges of an installed module are constraints, but do not add modules to the
            // graph.
            for (const Dependency& d : m->dependencies) {
                c.constraints.push_back({"initialize", dashed(d.name), d.requirement,
                                         base::SemVerRange::parse(d.requirement)});
            }
            releases_.emplace(name, std::move(c));
        }
        return {};
    }

    const Candidate* installed(const std::string& name) const {
        auto it = releases_.find(name);
        return it == releases_.end() ? nullptr : &it->second;
    }
    Candidate* installed(const std::string& name) {
        auto it = releases_.find(name);
        return it == releases_.end() ? nullptr : &it->second;
    }
    const InstalledModules& modules() const { return installed_; }
    ForgeClient& client() { return client_; }

    Source installed_source() {
        return [this](const std::string& name) -> Result<std::vector<Candidate>> {
            std::vector<Candidate> out;
            if (const Candidate* c = installed(name)) {
                out.push_back(*c);
                fetched_.push_back(name);
            }
            return out;
        };
    }
    Source forge_source() {
        return [this](const std::string& name) -> Result<std::vector<Candidate>> {
            auto known = remotes_.find(name);
            if (known == remotes_.end()) {
                Listing listing;
                if (auto ahead = ahead_.extract(name)) {
                    listing = std::move(ahead.mapped());
                } else {
                    listing.releases = BUNRAKU_TRY(client_.releases(name, &listing.warnings));
                    if (!options_.ignore_dependencies) look_ahead(listing);
                }
                for (std::string& w : listing.warnings) log_.log(Level::Warning, std::move(w));
                known = remotes_.emplace(name, std::move(listing.releases)).first;
            }
            std::vector<Candidate> out;
            for (const RemoteModule& r : known->second) {
                Candidate c;
                c.name = r.name;
                c.version = *base::SemVer::parse(r.version);
                c.remote = &r;
                add_dependencies(c, r.dependencies);
                out.push_back(std::move(c));
            }
            return out;
        };
    }
    /// A module's releases in a forge.
    struct Listing {
        std::vector<RemoteModule> releases;
        std::vector<std::string> warnings;
    };
    /// Calls `work` with each number from 0 to count - 1, in parallel. Each thread has its own
    /// connection.
    void side_by_side(std::size_t count,
                      const std::function<void(ForgeClient&, std::size_t)>& work) const {
        std::atomic<std::size_t> at{0};
        const std::size_t threads =
            std::min(count, static_cast<std::size_t>(std::max(1, options_.parallel)));
        in_parallel(threads, options_.parallel, [&](std::size_t) {
            ForgeClient client(options_.forge);
            for (std::size_t i = at++; i < count; i = at++) work(client, i);
        });
    }
    /// Fetches the listings of all dependencies, recursively and in parallel, before the graph
    /// needs them. Failures are ignored, because the graph then requests the listing again.
    void look_ahead(const Listing& of) {
        std::set<std::string> asked;
        std::vector<std::string> wanted;
        const auto want = [&](const Listing& listing) {
            for (const RemoteModule& r : listing.releases) {
                for (const Dependency& d : r.dependencies) {
                    if (!remotes_.contains(d.name) && !ahead_.contains(d.name) &&
                        asked.insert(d.name).second) {
                        wanted.push_back(d.name);
                    }
                }
            }
        };
        want(of);
        // A forge may return an unlimited number of names.
        constexpr std::size_t kMostAhead = 500;
        while (!wanted.empty() && asked.size() <= kMostAhead) {
            std::vector<std::optional<Listing>> found(wanted.size());
            side_by_side(wanted.size(), [&](ForgeClient& client, std::size_t i) {
                Listing listing;
                auto all = client.releases(wanted[i], &listing.warnings);
                if (!all) return;
                listing.releases = std::move(*all);
                found[i] = std::move(listing);
            });
            std::vector<std::string> names;
            std::swap(names, wanted);
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (!found[i]) continue;
                want(*found[i]);
                ahead_.emplace(names[i], std::move(*found[i]));
            }
        }
    }
    static void add_dependencies(Candidate& c, const std::vector<Dependency>& dependencies) {
        for (const Dependency& d : dependencies) {
            const std::string name = dashed(d.name);
            auto range = base::SemVerRange::parse(d.requirement);
            auto known = std::find_if(c.constraints.begin(), c.constraints.end(),
                                      [&](const auto& k) { return k.module == name; });
            if (known != c.constraints.end()) {
                known->text = d.requirement;
                known->range = std::move(range);
                continue;
            }
            c.constraints.push_back({"initialize", name, d.requirement, std::move(range)});
            c.dependencies.push_back({name, {}});
        }
    }

    /// Restricts an installed module to its major version and to its own requirements.
    void constrain(Graph& graph, const std::string& name) {
        if (options_.force) return;
        graph.one_of_each_name();
        for (const auto& [other, release] : releases_) {
            if (other == name) continue;
            graph.add_constraint(
                "installed", other,
                fmt::format(">={} {}.x", release.version.to_string(), release.version.major));
            for (const Dependency& d : release.installed->dependencies) {
                graph.add_constraint(other + " constraint", dashed(d.name), d.requirement);
            }
        }
    }

    /// Reports whether a release would overwrite a module of another author.
    std::optional<ToolResult> conflict(const std::vector<const Candidate*>& releases,
                                       const std::string& name) const {
        for (const Candidate* r : releases) {
            const InstalledModule* there = nullptr;
            for (const InstalledModule* m : installed_.all()) {
                const std::size_t dash = r->name.rfind('-');
                if (m->name == r->name.substr(dash + 1)) there = m;
            }
            if (!there || (there->has_metadata && there->full_name() == r->name)) continue;
            const std::string asked = options_.version.empty() ? "latest" : options_.version;
            const bool dependency = r->name != name;
            std::vector<std::string> lines{
                fmt::format("Could not install module '{}' ({})", name, v(asked))};
            if (dependency) {
                lines.push_back(fmt::format("  Dependency '{}' ({}) would overwrite {}", r->name,
                                            v(r->version.to_string()), there->path));
            } else {
                lines.push_back("  Installation would overwrite " + there->path);
            }
            lines.push_back(fmt::format("    Currently, '{}' ({}) is installed to that directory",
                                        there->metadata_name, v(there->version)));
            lines.push_back(dependency ? "    Use `puppet module install --ignore-dependencies` "
                                         "to install only this module"
                                       : "    Use `puppet module install --force` to install this "
                                         "module anyway");
            return failed(lines);
        }
        return std::nullopt;
    }

    /// Downloads the missing releases in parallel, then installs each module at its path.
    Result<void> place(const std::vector<const Candidate*>& releases, const std::string& folder,
                       const std::string& local_archive) {
        std::vector<const Candidate*> wanted;
        for (const Candidate* r : releases) {
            if (r->remote) wanted.push_back(r);
        }
        for (const Candidate* r : wanted) {
            if (r->remote->deprecated) {
                log_.log(Level::Warning, r->name +
                                             " has been deprecated by its author! View "
                                             "module on Puppet Forge for more info.");
            }
        }
        std::map<const Candidate*, std::string> archives;
        std::mutex mutex;
        std::string error;
        std::atomic<bool> over{false};
        side_by_side(wanted.size(), [&](ForgeClient& client, std::size_t i) {
            if (over) return;
            auto bytes = client.download(*wanted[i]->remote);
            // Check the archives before installing anything.
            if (bytes) {
                auto good = inspect_tarball(*bytes);
                if (!good) {
                    bytes =
                        failure(fmt::format("Could not extract contents of module archive: {}: {}",
                                            wanted[i]->name, good.error().message));
                } else if (good->metadata.module.slug() != wanted[i]->name) {
                    bytes = failure(fmt::format("The archive sent for {} holds {}", wanted[i]->name,
                                                good->metadata.slug()));
                } else if (auto vouched = client.vouch(
                               {good->metadata.module, good->metadata.version}, *bytes);
                           !vouched) {
                    bytes = std::unexpected(vouched.error());
                }
            }
            std::unique_lock held(mutex);
            if (bytes) {
                archives[wanted[i]] = std::move(*bytes);
            } else {
                if (error.empty()) error = bytes.error().message;
                over = true;
            }
        });
        if (!error.empty()) return failure(error);
        log_.log(Level::Notice, upgrading_ ? "Upgrading -- do not interrupt ..."
                                           : "Installing -- do not interrupt ...");
        for (const Candidate* r : releases) {
            if (r->installed) continue;
            places_[r] = path_of(*r, folder);
            const std::string& bytes = r->local ? local_archive : archives[r];
            BUNRAKU_TRY_VOID(place_module(bytes, places_[r] + "/" + short_name(r->name)));
        }
        return {};
    }
    /// Returns the folder for a release: that of the installed older release, otherwise `folder`.
    std::string path_of(const Candidate& r, const std::string& folder) const {
        if (r.installed) return r.installed->modulepath;
        const Candidate* old = installed(r.name);
        if (old && (upgrading_ || !options_.force)) return old->installed->modulepath;
        return folder;
    }

    TreeNode tree(const Candidate& r, const std::vector<const Candidate*>& chosen,
                  std::vector<const Candidate*>& drawn, const std::string& folder) const {
        drawn.push_back(&r);
        TreeNode node;
        node.name = r.name;
        const Candidate* before = installed(r.name);
        const std::string now = r.version.to_string();
        const std::string old = before ? before->version.to_string() : "";
        bool upgrade = before && old != now;
        if (!upgrading_ && options_.force) upgrade = false;
        const std::string text = upgrade ? v(old) + " -> " + v(now) : v(now);
        node.text = fmt::format("{} ({})", r.name, colored(options_.color, "cyan", text));
        const std::string place = path_of(r, folder);
        if (place != folder) node.text += " [" + place + "]";
        node.version = now;
        if (upgrade) node.previous = old;
        node.path = place;
        for (const Candidate::Edge& e : r.dependencies) {
            const Candidate* dep = nullptr;
            for (const Candidate* c : e.releases) {
                if (std::find(chosen.begin(), chosen.end(), c) != chosen.end()) {
                    dep = c;
                    break;
                }
            }
            if (!dep || std::find(drawn.begin(), drawn.end(), dep) != drawn.end()) continue;
            if (upgrading_ && dep->installed) continue;
            node.children.push_back(tree(*dep, chosen, drawn, folder));
        }
        std::stable_sort(node.children.begin(), node.children.end(),
                         [](const TreeNode& a, const TreeNode& b) { return a.name < b.name; });
        return node;
    }
    ToolResult success(const std::vector<const Candidate*>& releases, const std::string& folder) {
        std::vector<const Candidate*> drawn;
        const std::vector<TreeNode> nodes{tree(*releases[0], releases, drawn, folder)};
        std::string names;
        for (const Candidate* r : releases) {
            names += (names.empty() ? "" : ",") +
                     codec::json_string(r->name + "@" + r->version.to_string());
        }
        return {ToolResult::Kind::Success,
                folder + "\n" + draw_tree(nodes),
                fmt::format(R"(,"{}":{},"{}":[{}],"graph":{})",
                            upgrading_ ? "base_dir" : "install_dir", codec::json_string(folder),
                            upgrading_ ? "affected_modules" : "installed_modules", names,
                            graph_json(nodes, upgrading_ ? "upgrade" : "install")),
                {},
                {}};
    }
    const std::vector<std::string>& fetched() const { return fetched_; }

private:
    const ToolOptions& options_;
    LogSink& log_;
    bool upgrading_;
    ForgeClient client_;
    InstalledModules installed_;
    std::map<std::string, Candidate> releases_;
    std::map<std::string, std::vector<RemoteModule>> remotes_;
    std::map<std::string, Listing> ahead_;  ///< fetched but not yet used
    std::vector<std::string> fetched_;
    std::map<const Candidate*, std::string> places_;
};

Result<void> check_range(const std::string& version) {
    if (version.empty() || base::SemVerRange::parse(version)) return {};
    return failure("Unparsable version range: " + codec::json_string(version));
}

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
ToolResult unsatisfiable(const Action& action, const Graph& graph, const std::string& name,
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
        fmt::format("Could not install module '{}' ({})", name, v(requested))};
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
    auto& fs = sys::disk();
    auto bytes = fs.read(file);
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

}  // namespace

Result<ToolResult> install_module(const std::string& given, const ToolOptions& options,
                                  LogSink& log) {
    auto& fs = sys::disk();
    log.log(Level::Notice, fmt::format("Preparing to install into {} ...", options.target_dir));
    const bool alone = options.force || options.ignore_dependencies;
    Action action(options, log, false);
    BUNRAKU_TRY_VOID(action.load());

    std::string name = dashed(given), version = options.version, archive;
    Metadata local;
    const bool from_file = fs.exists(given);
    if (from_file) {
        archive = BUNRAKU_TRY(read_archive(given, &local));
        name = local.module.slug();
        version = local.version;
    } else if (name.find('-') == std::string::npos) {
        return failed(
            {fmt::format("Could not install module '{}'", given),
             fmt::format("  The name '{}' is invalid", given),
             fmt::format("    Did you mean `puppet module install puppetlabs-{}`?", given)});
    }
    ToolOptions effective = options;
    effective.version = version;
    const std::string range = version.empty() ? ">= 0.0.0" : version;
    if (const Candidate* there = action.installed(name); there && !options.force) {
        auto wanted = base::SemVerRange::parse(range);
        if (wanted && wanted->includes(there->version)) {
            return ToolResult{
                ToolResult::Kind::Noop,
                fmt::format("Module {} {} is already installed.", given,
                            there->version.to_string()),
                fmt::format(R"(,"version":{})", codec::json_string(there->version.to_string())),
                {},
                {}};
        }
        std::vector<std::string> lines{fmt::format("Could not install module '{}' ({})", name,
                                                   v(version.empty() ? "latest" : version)),
                                       fmt::format("  Module '{}' ({}) is already installed", name,
                                                   v(there->version.to_string()))};
        auto changes = changed_files(there->installed->path);
        if (changes && !changes->empty()) {
            lines.emplace_back("    Installed module has had changes made locally");
        }
        lines.emplace_back("    Use `puppet module upgrade` to install a different version");
        lines.emplace_back(
            "    Use `puppet module install --force` to re-install only this module");
        return failed(lines);
    }

    if (auto refusal =
            BUNRAKU_TRY(make_target(options, name, v(version.empty() ? "latest" : version), log))) {
        return *refusal;
    }
    if (!(from_file && alone)) {
        log.log(Level::Notice, fmt::format("Downloading from {} ...", action.client().shown_url()));
    }

    BUNRAKU_TRY_VOID(check_range(range));
    std::vector<Source> sources;
    if (from_file) {
        sources.push_back([&](const std::string& asked) -> Result<std::vector<Candidate>> {
            std::vector<Candidate> out;
            if (asked != name) return out;
            Candidate c;
            c.name = name;
            c.version = local.semver;
            c.local = true;
            Action::add_dependencies(c, local.dependencies);
            out.push_back(std::move(c));
            return out;
        });
        if (!alone) {
            sources.push_back(action.installed_source());
            sources.push_back(action.forge_source());
        }
    } else {
        if (!options.force) sources.push_back(action.installed_source());
        sources.push_back(action.forge_source());
    }
    Graph graph(name, range);
    auto queried = alone ? graph.query_single(sources) : graph.query(sources);
    if (!queried) return failed({queried.error().message});
    action.constrain(graph, name);
    if (graph.candidates().empty()) {
        const std::string asked = version.empty() ? "latest" : version;
        std::vector<std::string> lines{fmt::format("Could not install '{}' ({})", name, v(asked))};
        if (version.empty()) {
            lines.push_back("  No releases are available from " + action.client().url());
            lines.push_back(
                fmt::format("    Does '{}' have at least one published release?", name));
        } else {
            lines.push_back(fmt::format("  No releases matching '{}' are available from {}",
                                        version, action.client().url()));
        }
        return failed(lines);
    }
    log.log(Level::Info, "Resolving dependencies ...");
    const Graph::Resolution solved = graph.resolve();
    if (solved.releases.empty()) {
        return with_reasons(unsatisfiable(action, graph, name, effective, solved.unsatisfied),
                            graph, options);
    }
    if (!options.force) {
        if (auto bad = action.conflict(solved.releases, name)) return *bad;
    }
    log.log(Level::Info, "Preparing to install ...");
    auto placed = action.place(solved.releases, options.target_dir, archive);
    if (!placed) return failed({placed.error().message});
    return action.success(solved.releases, options.target_dir);
}

Result<ToolResult> upgrade_module(const std::string& given, const ToolOptions& options,
                                  LogSink& log) {
    const std::string name = dashed(given);
    log.log(Level::Notice, fmt::format("Preparing to upgrade '{}' ...", name));
    const bool alone = options.force || options.ignore_dependencies;
    Action action(options, log, true);
    BUNRAKU_TRY_VOID(check_range(options.version));
    BUNRAKU_TRY_VOID(action.load());
    const std::string asked = options.version.empty() ? "latest" : options.version;

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
    if (matching.size() > 1) {
        std::vector<std::string> lines{
            fmt::format("Could not upgrade module '{}'", name),
            fmt::format("  Module '{}' appears multiple places in the module path", name)};
        for (const InstalledModule* m : matching) {
            lines.push_back(
                fmt::format("    '{}' ({}) was found in {}", name, v(m->version), m->modulepath));
        }
        lines.emplace_back(
            "    Use the `--modulepath` option to limit the search to specific directories");
        return failed(lines);
    }
    Candidate& there = *action.installed(name);
    there.priority = 0;  // the installed release is to be replaced, so it is not preferred
    const InstalledModule& mod = *there.installed;
    const std::string old = there.version.to_string();
    log.log(Level::Notice, fmt::format("Found '{}' ({}) in {} ...", name,
                                       colored(options.color, "cyan",
                                               mod.version.empty() ? "???" : "v" + mod.version),
                                       mod.modulepath));
    const std::string change = v(old) + " -> " + v(asked);
    if (!options.force && !options.ignore_changes) {
        auto changes = changed_files(mod.path);
        if (changes && !changes->empty() && mod.has_metadata) {
            return failed({fmt::format("Could not upgrade module '{}' ({})", name, change),
                           "  Installed module has had changes made locally",
                           "    Use `puppet module upgrade --ignore-changes` to upgrade this "
                           "module anyway"});
        }
    }
    auto available = action.forge_source()(name);
    if (!available) return failed({available.error().message});
    bool any = options.version.empty() && !available->empty();
    if (!options.version.empty()) {
        auto wanted = base::SemVerRange::parse(options.version);
        for (const Candidate& c : *available) any |= wanted && wanted->includes(c.version);
    }
    if (!any) {
        std::vector<std::string> lines{fmt::format("Could not upgrade '{}' ({})", name, change)};
        if (options.version.empty()) {
            lines.push_back("  No releases are available from " + action.client().url());
            lines.push_back(
                fmt::format("    Does '{}' have at least one published release?", name));
        } else {
            lines.push_back(fmt::format("  No releases matching '{}' are available from {}", asked,
                                        action.client().url()));
        }
        return failed(lines);
    }
    log.log(Level::Notice, fmt::format("Downloading from {} ...", action.client().url()));
    Graph graph(name, options.version.empty() ? ">= 0.0.0" : options.version);
    const std::vector<Source> sources{action.installed_source(), action.forge_source()};
    auto queried = alone ? graph.query_single(sources) : graph.query(sources);
    if (!queried) return failed({queried.error().message});
    action.constrain(graph, name);
    log.log(Level::Info, "Resolving dependencies ...");
    const Graph::Resolution solved = graph.resolve();
    if (solved.releases.empty()) {
        return with_reasons(
            failed({fmt::format("Could not upgrade module '{}' ({})", name, change),
                    "  The requested version cannot satisfy all dependencies",
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
        if (chosen->version == there.version) {
            int newer = 0;
            for (const Candidate* c : graph.candidates()) newer += c->version > there.version;
            std::vector<std::string> lines{
                fmt::format("Could not upgrade module '{}' ({})", name, change)};
            if (newer == 0) {
                lines.push_back(fmt::format(
                    "  The installed version is already the latest version matching {}", change));
            } else {
                lines.push_back(fmt::format("  There are {} newer versions", newer));
                lines.emplace_back(
                    "    No combination of dependency upgrades would satisfy all dependencies");
                std::vector<std::string> culprits;
                for (const std::string& f : action.fetched()) {
                    if (f != name) culprits.push_back(f);
                }
                if (!culprits.empty()) {
                    lines.emplace_back(
                        "    Dependencies will not be automatically upgraded "
                        "across major versions");
                    lines.emplace_back(
                        "    Upgrading one or more of these modules may permit "
                        "the upgrade to succeed:");
                    for (const std::string& c : culprits) lines.push_back("    - " + c);
                }
            }
            lines.emplace_back(
                "    Use `puppet module upgrade --force` to upgrade only this module");
            return ToolResult{newer == 0 ? ToolResult::Kind::Noop : ToolResult::Kind::Failure,
                              join(lines),
                              {},
                              {},
                              {}};
        }
        if (chosen->version < there.version) {
            return failed({fmt::format("Could not upgrade module '{}' ({})", name, change),
                           "  Downgrading is not allowed."});
        }
    }
    log.log(Level::Info, "Preparing to upgrade ...");
    auto placed = action.place(solved.releases, mod.modulepath, {});
    if (!placed) return failed({placed.error().message});
    return action.success(solved.releases, mod.modulepath);
}

Result<ToolResult> uninstall_module(const std::string& given, const ToolOptions& options,
                                    LogSink& log) {
    const std::string name = dashed(given);
    log.log(Level::Notice, options.version.empty()
                               ? fmt::format("Preparing to uninstall '{}' ...", name)
                               : fmt::format("Preparing to uninstall '{}' ({}) ...", name,
                                             colored(options.color, "cyan", v(options.version))));
    BUNRAKU_TRY_VOID(check_range(options.version));
    const InstalledModules all = BUNRAKU_TRY(InstalledModules::load(options.modulepath));
    auto range = base::SemVerRange::parse(options.version.empty() ? ">= 0.0.0" : options.version);
    std::vector<const InstalledModule*> found, unfiltered;
    std::vector<std::string> suggestions;
    for (const InstalledModule* m : all.all()) {
        const std::string full = m->full_name();
        if (full == name) {
            unfiltered.push_back(m);
            if (!options.version.empty() && !m->version.empty()) {
                auto version = base::SemVer::parse(m->version);
                if (!version || !range->includes(*version)) continue;
            }
            found.push_back(m);
        } else if (full.find(name) != std::string::npos) {
            suggestions.push_back(full);
        }
    }
    if (found.size() > 1) {
        std::vector<std::string> lines{
            fmt::format("Could not uninstall module '{}'", name),
            fmt::format("  Module '{}' appears multiple places in the module path", name)};
        for (const InstalledModule* m : found) {
            lines.push_back(
                fmt::format("    '{}' ({}) was found in {}", name, v(m->version), m->modulepath));
        }
        lines.emplace_back(
            "    Use the `--modulepath` option to limit the search to specific directories");
        return failed(lines);
    }
    if (found.empty() && unfiltered.empty()) {
        std::vector<std::string> lines{fmt::format("Could not uninstall module '{}'", name),
                                       fmt::format("  Module '{}' is not installed", name)};
        for (const std::string& s : suggestions) {
            lines.push_back(fmt::format("    You may have meant `puppet module uninstall {}`", s));
        }
        return failed(lines);
    }
    if (found.empty()) {
        std::vector<std::string> lines{
            fmt::format("Could not uninstall module '{}' ({})", name, v(options.version)),
            fmt::format("  No installed version of '{}' matches ({})", name, v(options.version))};
        for (const InstalledModule* m : unfiltered) {
            lines.push_back(fmt::format("    '{}' ({}) is installed in {}", name, v(m->version),
                                        m->modulepath));
        }
        return failed(lines);
    }
    const InstalledModule& mod = *found[0];
    if (!options.force && !options.ignore_changes) {
        auto changes = changed_files(mod.path);
        if (changes && !changes->empty() && mod.has_metadata) {
            return failed(
                {fmt::format("Could not uninstall module '{}' ({})", name, v(mod.version)),
                 "  Installed module has had changes made locally",
                 "    Use `puppet module uninstall --ignore-changes` to uninstall this "
                 "module anyway"});
        }
    }
    if (!options.force) {
        const auto needed = all.required_by(mod.forge_name);
        if (!needed.empty()) {
            std::vector<std::string> lines{
                options.version.empty()
                    ? fmt::format("Could not uninstall module '{}'", name)
                    : fmt::format("Could not uninstall module '{}' (v{})", name, options.version),
                fmt::format("  Other installed modules have dependencies on '{}' ({})", name,
                            v(mod.version))};
            for (const auto& r : needed) {
                lines.push_back(fmt::format("    '{}' ({}) requires '{}' ({})", r.name,
                                            v(r.version), name, v(r.requirement)));
            }
            lines.emplace_back(
                "    Use `puppet module uninstall --force` to uninstall this module anyway");
            return failed(lines);
        }
    }
    auto& fs = sys::disk();
    auto gone = fs.remove_all(mod.path);
    if (!gone) return failed({gone.error().message});
    return ToolResult{
        ToolResult::Kind::Success,
        mod.version.empty()
            ? fmt::format("Removed '{}' from {}\n", name, mod.modulepath)
            : fmt::format("Removed '{}' ({}) from {}\n", name,
                          colored(options.color, "cyan", v(mod.version)), mod.modulepath),
        fmt::format(R"(,"affected_modules":[{}])",
                    codec::json_string(fmt::format("Module {}({})", mod.name, mod.path))),
        {},
        {}};
}

}  // namespace bunraku::module
