// SPDX-License-Identifier: Apache-2.0
#include "modules/module/tool_action.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <set>
#include <utility>

#include "core/codec/json_text.h"
#include "modules/module/parallel.h"
#include "modules/module/runtime_requirement.h"

namespace bunraku::module {

using base::failure;
using base::Level;
using base::Result;

namespace {

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

std::string short_name(const std::string& full) {
    const std::size_t dash = full.find('-');
    return dash == std::string::npos ? full : full.substr(dash + 1);
}

}  // namespace

std::string dashed(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '/', '-');
    return out;
}

std::string shown_version(const std::string& version) {
    if (version.empty()) return "???";
    return version[0] >= '0' && version[0] <= '9' ? "v" + version : version;
}

std::string joined_lines(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) {
        if (!out.empty()) out += '\n';
        out += line;
    }
    return out;
}

ToolResult failed(const std::vector<std::string>& lines) {
    return {ToolResult::Kind::Failure, joined_lines(lines), {}, {}, {}};
}

ToolResult with_reasons(ToolResult result, Graph& graph, const ToolOptions& options) {
    if (!options.explain) return result;
    Graph::Explanation why = graph.explain();
    if (why.empty()) return result;
    result.wants = std::move(why.wants);
    result.remedies = std::move(why.remedies);
    return result;
}

Result<void> check_range(const std::string& version) {
    if (version.empty() || base::SemVerRange::parse(version)) return {};
    return failure("Unparsable version range: " + codec::json_string(version));
}

bool changed_locally(const InstalledModule& module) {
    const auto changes = changed_files(module.path);
    return changes && !changes->empty() && module.has_metadata;
}

ToolResult no_releases(std::string first, const std::string& name, const ToolOptions& options,
                       ForgeClient& client) {
    std::vector<std::string> lines{std::move(first)};
    if (options.version.empty()) {
        lines.push_back("  No releases are available from " + client.url());
        lines.push_back(fmt::format("    Does '{}' have at least one published release?", name));
    } else {
        lines.push_back(fmt::format("  No releases matching '{}' are available from {}",
                                    options.version, client.url()));
    }
    return failed(lines);
}

ToolResult ambiguous(std::string_view action, const std::string& name,
                     const std::vector<const InstalledModule*>& found) {
    std::vector<std::string> lines{
        fmt::format("Could not {} module '{}'", action, name),
        fmt::format("  Module '{}' appears multiple places in the module path", name)};
    for (const InstalledModule* m : found) {
        lines.push_back(fmt::format("    '{}' ({}) was found in {}", name,
                                    shown_version(m->version), m->modulepath));
    }
    lines.emplace_back(
        "    Use the `--modulepath` option to limit the search to specific directories");
    return failed(lines);
}

Result<void> ToolAction::load() {
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

const Candidate* ToolAction::installed(const std::string& name) const {
    auto it = releases_.find(name);
    return it == releases_.end() ? nullptr : &it->second;
}

Candidate* ToolAction::installed(const std::string& name) {
    auto it = releases_.find(name);
    return it == releases_.end() ? nullptr : &it->second;
}

Source ToolAction::installed_source() {
    return [this](const std::string& name) -> Result<std::vector<Candidate>> {
        std::vector<Candidate> out;
        if (const Candidate* c = installed(name)) {
            out.push_back(*c);
            fetched_.push_back(name);
        }
        return out;
    };
}

Source ToolAction::forge_source() {
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

void ToolAction::side_by_side(std::size_t count,
                              const std::function<void(ForgeClient&, std::size_t)>& work) const {
    std::atomic<std::size_t> at{0};
    const std::size_t threads =
        std::min(count, static_cast<std::size_t>(std::max(1, options_.parallel)));
    in_parallel(threads, options_.parallel, [&](std::size_t) {
        ForgeClient client(options_.forge);
        for (std::size_t i = at++; i < count; i = at++) work(client, i);
    });
}

void ToolAction::look_ahead(const Listing& of) {
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

void ToolAction::add_dependencies(Candidate& c, const std::vector<Dependency>& dependencies) {
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

void ToolAction::constrain(Graph& graph, const std::string& name) {
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

std::optional<ToolResult> ToolAction::conflict(const std::vector<const Candidate*>& releases,
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
            fmt::format("Could not install module '{}' ({})", name, shown_version(asked))};
        if (dependency) {
            lines.push_back(fmt::format("  Dependency '{}' ({}) would overwrite {}", r->name,
                                        shown_version(r->version.to_string()), there->path));
        } else {
            lines.push_back("  Installation would overwrite " + there->path);
        }
        lines.push_back(fmt::format("    Currently, '{}' ({}) is installed to that directory",
                                    there->metadata_name, shown_version(there->version)));
        lines.push_back(dependency ? "    Use `puppet module install --ignore-dependencies` "
                                     "to install only this module"
                                   : "    Use `puppet module install --force` to install this "
                                     "module anyway");
        return failed(lines);
    }
    return std::nullopt;
}

Result<void> ToolAction::place(const std::vector<const Candidate*>& releases,
                               const std::string& folder, const std::string& local_archive) {
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
                bytes = failure(fmt::format("Could not extract contents of module archive: {}: {}",
                                            wanted[i]->name, good.error().message));
            } else if (good->metadata.module.slug() != wanted[i]->name) {
                bytes = failure(fmt::format("The archive sent for {} holds {}", wanted[i]->name,
                                            good->metadata.slug()));
            } else if (auto vouched =
                           client.vouch({good->metadata.module, good->metadata.version}, *bytes);
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
    if (const auto now = InstalledModules::load(options_.modulepath))
        warn_of_runtimes(*now, &installed_, options_.level, log_);
    return {};
}

std::string ToolAction::path_of(const Candidate& r, const std::string& folder) const {
    if (r.installed) return r.installed->modulepath;
    const Candidate* old = installed(r.name);
    if (old && (upgrading_ || !options_.force)) return old->installed->modulepath;
    return folder;
}

TreeNode ToolAction::tree(const Candidate& r, const std::vector<const Candidate*>& chosen,
                          std::vector<const Candidate*>& drawn, const std::string& folder) const {
    drawn.push_back(&r);
    TreeNode node;
    node.name = r.name;
    const Candidate* before = installed(r.name);
    const std::string now = r.version.to_string();
    const std::string old = before ? before->version.to_string() : "";
    bool upgrade = before && old != now;
    if (!upgrading_ && options_.force) upgrade = false;
    const std::string text =
        upgrade ? shown_version(old) + " -> " + shown_version(now) : shown_version(now);
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

ToolResult ToolAction::success(const std::vector<const Candidate*>& releases,
                               const std::string& folder) {
    std::vector<const Candidate*> drawn;
    const std::vector<TreeNode> nodes{tree(*releases[0], releases, drawn, folder)};
    std::string names;
    for (const Candidate* r : releases) {
        names +=
            (names.empty() ? "" : ",") + codec::json_string(r->name + "@" + r->version.to_string());
    }
    return {ToolResult::Kind::Success,
            folder + "\n" + draw_tree(nodes),
            fmt::format(R"(,"{}":{},"{}":[{}],"graph":{})", upgrading_ ? "base_dir" : "install_dir",
                        codec::json_string(folder),
                        upgrading_ ? "affected_modules" : "installed_modules", names,
                        graph_json(nodes, upgrading_ ? "upgrade" : "install")),
            {},
            {}};
}

}  // namespace bunraku::module
