// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/fleet_selection.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

#include "compile/insight/read_cache.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/config/setting_lists.h"
#include "language/environment/conf.h"
#include "language/environment/overlaid_files.h"
#include "language/ruby/host.h"

namespace bunraku::insight {

namespace {

bool is_folder(const std::string& path) { return environment::disk_files()->stat(path).directory; }
bool exists(const std::string& path) { return environment::disk_files()->stat(path).exists; }

/// Resolves links, because a repository's own paths do not contain any.
std::string real_path(const std::string& path) {
    char* found = ::realpath(path.c_str(), nullptr);
    if (!found) throw base::plain_error(fmt::format("There is no folder {}", path));
    std::string out = found;
    std::free(found);
    if (!is_folder(out)) throw base::plain_error(fmt::format("{} is not a folder", path));
    return out;
}

bool is_environment(const std::string& folder) {
    return exists(folder + "/environment.conf") || is_folder(folder + "/manifests");
}

/// Returns the top of the working tree that contains the folder. Empty if the folder is not in a
/// working tree.
std::string top_of(std::string folder) {
    while (true) {
        if (exists(folder + "/.git")) return folder;
        const auto slash = folder.rfind('/');
        if (slash == std::string::npos || slash == 0) return {};
        folder.resize(slash);
    }
}

bool is_pql(std::string_view text) { return text.find_first_of("{[") != std::string_view::npos; }

std::vector<std::string> listed(const std::string& text) {
    std::vector<std::string> out;
    for (const auto part : base::split(text, ','))
        if (!base::trim(part).empty()) out.emplace_back(base::trim(part));
    return out;
}

}  // namespace

bool fits(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::size_t thread_count(const std::string& jobs) {
    if (jobs.empty()) return std::max(1U, std::thread::hardware_concurrency());
    const auto count = base::parse_integer<std::size_t>(jobs);
    if (!count || *count < 1 || *count > 1024)
        throw base::plain_error(fmt::format("--jobs: '{}' is not a number from 1 to 1024", jobs));
    return *count;
}

std::size_t FleetSelection::threads() const { return thread_count(jobs); }

std::string read_cache_folder() {
    const auto types = ruby::usual_options().cache_directory;
    const auto slash = types.rfind('/');
    return slash == std::string::npos ? std::string() : types.substr(0, slash) + "/impact";
}

std::string FleetSelection::fact_source() const {
    if (!facts_from.empty() + !facts_dir.empty() + !compile.facts.empty() > 1)
        throw base::plain_error("--facts-from, --facts-dir and --facts exclude each other");
    if (!facts_from.empty()) return facts_from;
    if (!facts_dir.empty()) return facts_dir;
    if (!compile.facts.empty()) return compile.facts;
    return compile.puppetdb_url.empty() ? "store" : compile.puppetdb_url;
}

/// Adds notes about nodes with several fact files, and about a source that failed.
static void add_notes(const site::FleetGaps& gaps, const std::string& source, Fleet& out) {
    constexpr std::size_t kTwiceNamed = 3;
    for (std::size_t i = 0; i < std::min(gaps.twice.size(), kTwiceNamed); ++i) {
        const auto& [name, used, passed_over] = gaps.twice[i];
        out.notes.push_back(
            fmt::format("{} has several fact files: {}, the newest, is used, {} is not", name, used,
                        passed_over));
    }
    if (gaps.twice.size() > kTwiceNamed)
        out.notes.push_back(fmt::format("{} more fact files are older than another of their node",
                                        gaps.twice.size() - kTwiceNamed));
    if (!gaps.broken.empty()) {
        out.notes.push_back(fmt::format(
            "{} failed after the facts of {} nodes: {}. The nodes after {} were not examined",
            source, out.nodes.size(), gaps.broken, out.nodes.back().name));
        out.unjudged.emplace_back("(the rest of " + source + ")", gaps.broken);
    }
}

/// Keeps the number of nodes that --sample specifies. They are evenly distributed by name, so that
/// each run selects the same nodes.
static void take_sample(const std::string& sample, Fleet& out) {
    const auto count = base::parse_integer<std::size_t>(sample);
    if (!count || *count == 0)
        throw base::plain_error(
            fmt::format("Invalid value '{}' for --sample: expected a number of nodes", sample));
    if (*count >= out.nodes.size()) return;
    std::ranges::sort(out.nodes, {}, &site::FleetNode::name);
    std::vector<site::FleetNode> some;
    for (std::size_t i = 0; i < *count; ++i)
        some.push_back(out.nodes[i * out.nodes.size() / *count]);
    out.notes.push_back(
        fmt::format("A sample of {} of {} nodes: the result does not cover the others", *count,
                    out.nodes.size()));
    out.nodes = std::move(some);
}

Fleet FleetSelection::fleet(site::Site& site, base::Arena& arena, base::LogSink& log,
                            const std::string& keep) const {
    const std::string source = fact_source();
    Fleet out;
    std::vector<std::string> wanted = node, patterns;
    if (is_pql(nodes)) {
        wanted = site::fleet_names(site, source, nodes, log);
        if (wanted.empty())
            throw base::plain_error(fmt::format("No node of {} answers to {}", source, nodes));
    } else {
        for (auto& name : listed(nodes))
            (name.find('*') == std::string::npos ? wanted : patterns).push_back(std::move(name));
    }
    // To match patterns, all names are needed.
    const std::vector<std::string> all;
    site::FleetGaps gaps;
    const bool indexed = !keep.empty() && is_folder(source);
    const auto place = indexed ? real_path(source) : source;
    auto index = indexed ? cached_fact_index(keep, place) : site::FactIndex();
    out.nodes = site::fleet_facts(arena, site, place, patterns.empty() ? wanted : all, log, &gaps,
                                  indexed ? &index : nullptr);
    if (index.changed) cache_fact_index(keep, place, index);
    if (!patterns.empty()) {
        std::erase_if(out.nodes, [&](const site::FleetNode& n) {
            return std::ranges::find(wanted, n.name) == wanted.end() &&
                   std::ranges::none_of(patterns, [&](const auto& p) { return fits(p, n.name); });
        });
        for (const auto& name : wanted)
            if (std::ranges::find(out.nodes, name, &site::FleetNode::name) == out.nodes.end())
                gaps.unknown.push_back(name);
    }
    for (const auto& name : gaps.unknown)
        out.unjudged.emplace_back(name, fmt::format("its facts are not available in {}", source));
    for (const auto& [name, why] : gaps.unreadable) {
        const bool asked =
            (wanted.empty() && patterns.empty()) ||
            std::ranges::find(wanted, name) != wanted.end() ||
            std::ranges::any_of(patterns, [&](const auto& p) { return fits(p, name); });
        if (!asked) continue;
        std::erase_if(out.unjudged, [&](const auto& entry) { return entry.first == name; });
        out.unjudged.emplace_back(name, why);
    }
    add_notes(gaps, source, out);
    // A node without facts cannot be compiled meaningfully.
    std::erase_if(out.nodes, [&](const site::FleetNode& n) {
        const bool none = n.file.empty() && (!n.facts.is_hash() || n.facts.as_hash().empty());
        if (none) out.unjudged.emplace_back(n.name, "it has no facts");
        return none;
    });
    if (!sample.empty()) take_sample(sample, out);
    if (out.nodes.empty() && out.unjudged.empty())
        throw base::plain_error(fmt::format("No node of {} was selected", source));
    return out;
}

std::string FleetSelection::control() const {
    if (!path.empty()) return real_path(path);
    const std::string here = real_path(".");
    if (is_environment(here)) return here;
    const std::string top = top_of(here);
    return top.empty() ? here : top;
}

FleetSelection::StateKind FleetSelection::meaning(const std::string& name) const {
    if (name.empty()) return StateKind::WorkingTree;
    if (name.starts_with("git:")) return StateKind::Revision;
    if (name.starts_with("env:")) return StateKind::Environment;
    if (name.find('/') != std::string::npos || name == "." || name == "..")
        if (is_folder(name)) return StateKind::Folder;
    if (!top_of(control()).empty()) return StateKind::Revision;
    return is_folder(name) ? StateKind::Folder : StateKind::Environment;
}

std::string FleetSelection::environment_folder(const std::string& name,
                                               const config::Settings& settings) const {
    auto folders = compile.environmentpath.empty() ? settings.list("environmentpath")
                                                   : config::split_path(compile.environmentpath);
    for (const auto& parent : folders)
        if (is_folder(parent + "/" + name)) return real_path(parent + "/" + name);
    throw base::plain_error(
        fmt::format("There is no environment '{}' in {}", name, fmt::join(folders, ":")));
}

State FleetSelection::state(const std::string& name, const config::Settings& settings,
                            const std::string& shown_at) const {
    const bool prefixed = name.starts_with("git:") || name.starts_with("env:");
    const std::string plain = prefixed ? name.substr(4) : name;
    State out{.label = plain, .request = {}, .adjust = {}};
    const StateKind means = meaning(name);
    std::string folder, revision, environment = compile.environment;
    switch (means) {
        case StateKind::WorkingTree:
            out.label = "the working tree";
            folder = control();
            break;
        case StateKind::Revision:
            folder = control();
            revision = plain;
            break;
        case StateKind::Folder: folder = real_path(plain); break;
        case StateKind::Environment:
            folder = environment_folder(plain, settings);
            environment = plain;
            break;
    }
    const std::string shown = shown_at.empty() ? folder : shown_at;
    std::shared_ptr<const environment::Files> files;
    if (shown != folder)
        files = environment::mapped_files(environment::disk_files(), shown, folder);
    const site::NodeArguments& given = compile;
    out.request = [given, manifest = manifest, shown, revision, environment, files] {
        site::NodeArguments options = given;
        options.facts.clear();
        options.environment = environment;
        auto request = options.request();
        request.sources.directory = shown;
        request.sources.revision = revision;
        request.sources.manifest = manifest;
        request.sources.files = files;
        if (options.server_facts.empty())
            request.server_facts.kind = site::ServerFacts::Kind::Fixed;
        return request;
    };
    return out;
}

}  // namespace bunraku::insight
