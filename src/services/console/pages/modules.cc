// SPDX-License-Identifier: Apache-2.0
// The modules of the environments and of the forge: versions, README, reference, and the nodes
// that use them.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/semver.h"
#include "core/codec/digest.h"
#include "core/value/rich_data.h"
#include "services/console/format.h"
#include "services/console/job_parts.h"
#include "services/console/markdown.h"
#include "services/console/module_job.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/console/published_modules.h"

namespace bunraku::console {

using base::Result;
using forge::Fragment;
using forge::Release;

namespace {

constexpr std::size_t kRowsOfPage = 100, kMostPages = 1000, kMostReleases = 50, kMostChips = 20;
constexpr std::size_t kMostText = 300;

/// The forge's releases of a module, newest first, from the repositories that the viewer may read.
struct ForgeModule {
    std::vector<const Release*> releases;
    const Release* current = nullptr;
    std::string repository;
    bool deprecated = false;
};
struct Forge {
    PublishedModules::Snapshots snapshots;  ///< own the releases
    std::map<std::string, ForgeModule, std::less<>> modules;
};

/// Returns the snapshots of all repositories. Private ones are for administrators only.
PublishedModules::Snapshots snapshots_of(const Visit& visit) {
    return visit.console.published->snapshots(visit.viewer.may(Right::Administer));
}

void add_module(Forge& out, const forge::Snapshot& snapshot, const forge::SnapshotModule& module) {
    if (!module.live) return;
    auto& into = out.modules[module.slug];
    const auto* current = &snapshot.releases()[module.current];
    if (into.current && !(into.current->semver < current->semver)) return;
    into.current = current;
    into.repository = snapshot.repository();
    into.deprecated = module.deprecated != nullptr;
    into.releases.clear();
    for (const auto number : module.releases) {
        const auto& release = snapshot.releases()[number];
        if (!release.deleted) into.releases.push_back(&release);
    }
}

/// Returns the forge's modules whose slug contains `find`.
Forge forge_modules(const Visit& visit, std::string_view find) {
    Forge out;
    out.snapshots = snapshots_of(visit);
    for (const auto& snapshot : out.snapshots)
        for (const auto& module : snapshot->modules())
            if (find.empty() || module.slug.find(find) != std::string::npos)
                add_module(out, *snapshot, module);
    return out;
}

Forge forge_module(const Visit& visit, std::string_view slug) {
    Forge out;
    out.snapshots = snapshots_of(visit);
    for (const auto& snapshot : out.snapshots)
        if (const auto* module = snapshot->module(slug)) add_module(out, *snapshot, *module);
    return out;
}

Result<std::shared_ptr<ModuleJob>> job_of(Visit& visit, std::string& key) {
    std::vector<std::string> environments;
    for (auto& name : visit.console.code->environments())
        if (visit.viewer.sees(name)) environments.push_back(std::move(name));
    key = fmt::format("modules {}", visit.console.code->module_stamp(environments));
    const auto job = BUNRAKU_TRY(visit.console.jobs.find_or_start(visit.viewer.name, key, [&] {
        return std::make_shared<ModuleJob>(*visit.console.code, std::move(environments));
    }));
    return std::dynamic_pointer_cast<ModuleJob>(job);
}

/// Writes the versions of a module with the number of their environments.
void write_versions(Html& h, const std::vector<DeployedModule>& all) {
    std::map<std::string, std::vector<std::string>> versions;
    for (const auto& each : all) versions[each.version].push_back(each.environment);
    std::size_t shown = 0;
    for (const auto& [version, environments] : versions) {
        if (++shown > kMostChips) break;
        const auto line = h.in("span", {{"class", "line"}});
        h.foreign(version.empty() ? "no version" : version, 60);
        h.text(environments.size() == 1 ? fmt::format(" in {}", environments[0])
                                        : fmt::format(" in {} environments", environments.size()));
    }
}

/// Reports whether an environment has an older version than the forge's current one.
bool is_outdated(const std::vector<DeployedModule>& all, const ForgeModule* forge) {
    return forge && forge->current && std::ranges::any_of(all, [&](const DeployedModule& each) {
               const auto version = base::SemVer::parse(each.version);
               return version && *version < forge->current->semver;
           });
}

/// Returns the Markdown of a fragment, or an empty text.
std::string text_of(const Release& release, Fragment fragment) {
    base::Arena arena(4096);
    const auto text = value::parse_json(arena, release.fragment(fragment));
    return text && text->is_string() ? std::string(text->as_string()) : std::string();
}

void write_environments(Html& h, std::string_view slug, const std::vector<DeployedModule>& all,
                        const Fleet& fleet) {
    std::map<std::string_view, std::int64_t> nodes;
    for (const auto& node : fleet.nodes) ++nodes[fleet.environment(node.run)];
    const auto panel = open_panel(h, "Environments");
    if (all.empty())
        return empty_state(h, "In no environment",
                           "No environment of this server that you may see has the module.");
    constexpr Column kColumns[] = {
        {"Environment"}, {"Version"}, {"Folder", false, {}, {}, true}, {"Nodes", true}, {"Code"}};
    const auto table = open_table(h, kColumns, "Environments");
    const auto name = slug.substr(slug.rfind('-') + 1);
    for (const auto& each : all) {
        const auto row = h.in("tr");
        cell(h, each.environment);
        {
            const auto td = h.in("td", {{"class", "mono"}});
            h.foreign(each.version, 60);
        }
        {
            const auto td = h.in("td", {{"class", "wide mono"}});
            h.foreign(each.folder, kMostText);
        }
        {
            const auto td = h.in("td", {{"class", "r"}});
            count_link(h, nodes[each.environment],
                       Url({"nodes"}).with("environment", each.environment));
        }
        const auto td = h.in("td");
        h.link(Url({"code"})
                   .with("environment", each.environment)
                   .with("find", fmt::format("modules/{}/", name)),
               "which nodes read it");
    }
}

void write_releases(Html& h, const ForgeModule& forge, std::string_view slug,
                    std::string_view shown) {
    Html beside;
    beside.leaf("span", {{"class", "m"}}, fmt::format("repository {}", forge.repository));
    const auto panel = open_panel(h, "Releases in the forge", beside.take());
    const auto list = h.in("ul", {{"class", "in chips"}});
    std::size_t number = 0;
    for (const auto* release : forge.releases) {
        if (++number > kMostReleases) {
            h.leaf("li", {{"class", "m"}},
                   fmt::format("and {} older ones", forge.releases.size() - kMostReleases));
            break;
        }
        const auto item = h.in("li");
        chip(h, release->version, Url({"modules", slug}).with("version", release->version),
             release->version == shown);
    }
}

void write_text(Html& h, std::string_view title, const std::string& text, bool open) {
    if (text.empty()) return;
    const auto panel = h.in("section", {{"class", "panel"}});
    const auto details = h.in("details", {{"open", open}});
    {
        const auto summary = h.in("summary", {{"class", "in"}});
        h.leaf("h2", title);
    }
    write_markdown(h, text);
}

}  // namespace

Result<Response> modules_page(Visit& visit) {
    const auto find = visit.query("find");
    std::string key;
    const auto job = BUNRAKU_TRY(job_of(visit, key));
    const auto forge = forge_modules(visit, find);
    Head head{.title = "Modules", .nav = "modules"};
    Html h;
    {
        const auto form = h.in("form", {{"class", "head"}});
        h.leaf("label", {{"class", "vh"}, {"for", "find"}}, "Search modules");
        h.empty("input", {{"id", "find"},
                          {"name", "find"},
                          {"type", "search"},
                          {"size", 32},
                          {"value", find},
                          {"placeholder", "Part of a name"}});
        h.leaf("button", "Search");
    }
    const auto part = [&] {
        const auto live = open_job_part(h, "modules", *job);
        if (job->state() != Job::State::Done) {
            const auto panel = open_panel(h, "Modules of the environments");
            return write_job(h, visit, *job, {Url({"modules"}), {}, "environments"}, {});
        }
        std::set<std::string_view> names;
        for (const auto& [slug, all] : job->modules())
            if (find.empty() || slug.find(find) != std::string::npos) names.insert(slug);
        for (const auto& [slug, module] : forge.modules) names.insert(slug);
        const auto page = visit.number("page", 1, kMostPages);
        {
            const auto panel = h.in("section", {{"class", "panel"}});
            if (names.empty())
                return empty_state(h, "No module",
                                   find.empty()
                                       ? "No environment has modules, and the forge of this "
                                         "server has none."
                                       : "No module has this text in its name.");
            constexpr Column kColumns[] = {{"Module"}, {"Deployed"}, {"Forge"}, {"State"}};
            const auto table = open_table(h, kColumns, "Modules");
            std::size_t number = 0;
            for (const auto slug : names) {
                if (++number <= (page - 1) * kRowsOfPage) continue;
                if (number > page * kRowsOfPage) break;
                const auto deployed = job->modules().find(slug);
                const auto published = forge.modules.find(slug);
                const auto* module =
                    published == forge.modules.end() ? nullptr : &published->second;
                const auto row = h.in("tr");
                {
                    const auto td = h.in("td");
                    const auto link = h.in("a", {{"href", Url({"modules", slug})}});
                    h.foreign(slug, kMostText);
                }
                {
                    const auto td = h.in("td");
                    if (deployed != job->modules().end()) write_versions(h, deployed->second);
                }
                cell(h, module ? module->current->version : "");
                const auto td = h.in("td");
                if (module && module->deprecated) state_word(h, State::Silent, "deprecated");
                if (deployed != job->modules().end() && is_outdated(deployed->second, module))
                    state_word(h, State::Noop, "newer version");
            }
        }
        const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        h.leaf("span", count_text(static_cast<std::int64_t>(names.size()), "module", "modules"));
        const auto link = [&](std::size_t to, std::string_view text) {
            h.link(Url({"modules"}).with("find", find).with("page", std::to_string(to)), text);
        };
        if (page > 1) link(page - 1, "Previous page");
        if (page * kRowsOfPage < names.size()) link(page + 1, "Next page");
    };
    part();
    if (!job->ended()) head.refresh_s = kPollSeconds;
    return visit.page(std::move(head), std::move(h));
}

Result<Response> module_page(Visit& visit) {
    const auto slug = visit.param("module");
    std::string key;
    const auto job = BUNRAKU_TRY(job_of(visit, key));
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    const auto forge = forge_module(visit, slug);
    const auto published = forge.modules.find(slug);
    const bool done = job->state() == Job::State::Done;
    const auto deployed = done ? job->modules().find(slug) : DeployedModules::const_iterator{};
    const bool is_deployed = done && deployed != job->modules().end();
    if (done && !is_deployed && published == forge.modules.end())
        return not_found(fmt::format("There is no module {}.", slug));
    Html h, crumb;
    crumb.link(Url({"modules"}), "Modules");
    Head head{.title = fmt::format("Module {}", slug), .nav = "modules", .crumb = crumb.take()};
    {
        const auto live = open_job_part(h, "modules", *job);
        if (!done) {
            const auto panel = open_panel(h, "Environments");
            write_job(h, visit, *job, {Url({"modules"}), {}, "environments"}, {});
        } else {
            write_environments(
                h, slug, is_deployed ? deployed->second : std::vector<DeployedModule>(), *fleet);
        }
    }
    if (published != forge.modules.end()) {
        const auto& module = published->second;
        const auto wanted = visit.query("version");
        const auto* release = module.current;
        if (!wanted.empty()) {
            const auto it = std::ranges::find(module.releases, wanted,
                                              [](const Release* each) { return each->version; });
            if (it == module.releases.end())
                return not_found(fmt::format("The forge has no release {} of {}.", wanted, slug));
            release = *it;
        }
        write_releases(h, module, slug, release->version);
        write_text(h, fmt::format("README of {}", release->version),
                   text_of(*release, Fragment::Readme), true);
        write_text(h, "Reference", text_of(*release, Fragment::Reference), false);
        write_text(h, "Changes", text_of(*release, Fragment::Changelog), false);
    }
    if (!job->ended()) head.refresh_s = kPollSeconds;
    return visit.page(std::move(head), std::move(h));
}

Result<Response> modules_action(Visit& visit) {
    std::string key;
    (void)BUNRAKU_TRY(job_of(visit, key));
    const auto action = visit.field("action");
    if (action != "stop" && action != "again") return not_found("There is no such action.");
    visit.console.jobs.drop(visit.viewer.name, key);
    return visit.redirect(Url({"modules"}));
}

}  // namespace bunraku::console
