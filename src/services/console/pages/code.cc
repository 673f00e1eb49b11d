// SPDX-License-Identifier: Apache-2.0
// The classes, defines, functions and data keys of an environment: how many nodes read them, and
// which are never read. A job computes it.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/codec/digest.h"
#include "services/console/code_job.h"
#include "services/console/definition_parts.h"
#include "services/console/format.h"
#include "services/console/job_parts.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;
using insight::UsedInput;

namespace {

constexpr std::size_t kRowsOfPage = 100, kMostPages = 10'000, kMostNodes = 300, kMostChips = 30;

struct KindText {
    std::string_view kind, title;
};
constexpr KindText kKinds[] = {{"class", "Classes"},      {"define", "Defines"},
                               {"function", "Functions"}, {"type", "Data types"},
                               {"key", "Data keys"},      {"data file", "Data files"},
                               {"template", "Templates"}, {"file", "Files"}};

std::string_view title_of(std::string_view kind) {
    for (const auto& text : kKinds)
        if (text.kind == kind) return text.title;
    return {};
}

std::int64_t number(std::size_t n) { return static_cast<std::int64_t>(n); }

/// The environment of an address, with its job.
struct Asked {
    std::string environment;
    std::string key;
    std::shared_ptr<CodeJob> job;
};

/// Returns the environment that the viewer names, or the first one that the viewer may see.
std::string environment_of(const Visit& visit, std::string_view named) {
    if (!named.empty()) return std::string(named);
    std::string first;
    for (const auto& name : visit.console.code->environments()) {
        if (!visit.viewer.sees(name)) continue;
        if (name == "production") return name;
        if (first.empty()) first = name;
    }
    return first;
}

Result<Asked> asked(Visit& visit, std::string_view named, bool start) {
    Asked out;
    out.environment = environment_of(visit, named);
    if (out.environment.empty()) return not_found("There is no environment.");
    auto state = visit.console.code->find(out.environment);
    if (!state || !state->revision.empty() || !visit.viewer.sees(state->environment))
        return not_found(fmt::format("There is no environment '{}'.", out.environment));
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    codec::Digest digest(codec::DigestKind::Sha256);
    std::vector<std::string> nodes;
    for (const auto& node : fleet->nodes) {
        if (fleet->environment(node.run) != out.environment) continue;
        nodes.push_back(node.certname);
        digest.update(node.certname + "\n");
    }
    out.key = fmt::format("code {} {} {}", out.environment, state->version, digest.hex());
    if (!start) return out;
    const auto job = BUNRAKU_TRY(visit.console.jobs.find_or_start(visit.viewer.name, out.key, [&] {
        return std::make_shared<CodeJob>(*visit.console.code, std::move(*state), std::move(nodes));
    }));
    out.job = std::dynamic_pointer_cast<CodeJob>(job);
    return out;
}

void write_environments(Html& h, const Visit& visit, std::string_view current) {
    std::size_t shown = 0;
    const auto list = h.in("nav", {{"class", "chips head"}, {"aria-label", "Environments"}});
    for (const auto& name : visit.console.code->environments()) {
        if (!visit.viewer.sees(name) || (name != current && ++shown > kMostChips)) continue;
        chip(h, name, Url({"code"}).with("environment", name), name == current);
    }
}

/// Writes the state of the job. Reports whether there is a result.
bool write_state(Html& h, const Visit& visit, const Asked& what) {
    const auto& job = *what.job;
    const auto panel = open_panel(h, fmt::format("Environment {}", what.environment));
    Html done;
    if (job.state() == Job::State::Done) {
        const auto& usage = job.usage();
        const auto text = done.in("span");
        done.text(fmt::format("Compiled {} of {}", number_text(number(usage.nodes.size())),
                              count_text(number(job.population()), "node", "nodes")));
        if (!usage.failed.empty())
            done.text(fmt::format("; {} failed, so that their later reads are unknown",
                                  number_text(number(usage.failed.size()))));
    }
    write_job(h, visit, job, {Url({"code"}), {{"environment", what.environment}}}, done.take());
    return job.state() == Job::State::Done;
}

/// The part of a list that an address selects.
struct Listing {
    std::string_view kind, find;
    bool unused = false;

    explicit Listing(const Visit& visit)
        : kind(title_of(visit.query("kind")).empty() ? "class" : visit.query("kind")),
          find(visit.query("find")),
          unused(!visit.query("unused").empty()) {}
    bool takes(const UsedInput& item) const {
        return item.kind == kind && !(unused && item.nodes > 0) &&
               (find.empty() || item.name.find(find) != std::string::npos ||
                item.path.find(find) != std::string::npos);
    }
    Url url(std::string_view environment) const {
        return Url({"code"})
            .with("environment", environment)
            .with("kind", kind)
            .with("unused", unused ? "true" : "")
            .with("find", find);
    }
};

void write_kinds(Html& h, const Asked& what, const Listing& listing) {
    std::map<std::string_view, std::int64_t> counts;
    for (const auto& item : what.job->usage().items)
        if (!listing.unused || item.nodes == 0) ++counts[item.kind];
    std::vector<Tab> all;
    for (const auto& text : kKinds) {
        auto to = listing;
        to.kind = text.kind;
        if (counts[text.kind] > 0 || text.kind == listing.kind)
            all.push_back({text.title, to.url(what.environment).text(), counts[text.kind]});
    }
    tabs(h, "Kinds", all, title_of(listing.kind));
}

void write_filter(Html& h, const Asked& what, const Listing& listing) {
    const auto form = h.in("form", {{"class", "head"}, {"action", Url({"code"})}});
    h.empty("input", {{"type", "hidden"}, {"name", "environment"}, {"value", what.environment}});
    h.empty("input", {{"type", "hidden"}, {"name", "kind"}, {"value", listing.kind}});
    if (listing.unused)
        h.empty("input", {{"type", "hidden"}, {"name", "unused"}, {"value", "true"}});
    h.leaf("label", {{"class", "vh"}, {"for", "find"}}, "Search names and files");
    h.empty("input", {{"id", "find"},
                      {"name", "find"},
                      {"type", "search"},
                      {"size", 32},
                      {"value", listing.find},
                      {"placeholder", "Part of a name or file"}});
    h.leaf("button", "Search");
    for (const bool unused : {false, true}) {
        auto to = listing;
        to.unused = unused;
        chip(h, unused ? "never read" : "all", to.url(what.environment), unused == listing.unused);
    }
}

void write_rows(Html& h, const Visit& visit, const Asked& what, const Listing& listing) {
    const auto page = visit.number("page", 1, kMostPages);
    std::vector<const UsedInput*> rows;
    for (const auto& item : what.job->usage().items)
        if (listing.takes(item)) rows.push_back(&item);
    const auto begin = std::min((page - 1) * kRowsOfPage, rows.size());
    const auto end = std::min(begin + kRowsOfPage, rows.size());
    {
        const auto panel = h.in("section", {{"class", "panel"}});
        if (begin == end) {
            empty_state(h, "Nothing matches",
                        listing.unused ? "Every node's compile was recorded, and each of these is "
                                         "read by a node, or none matches the search."
                                       : "The environment has none with this text.");
        } else {
            constexpr Column kColumns[] = {
                {"Name"}, {"File", false, {}, {}, true}, {"Nodes", true}};
            const auto table = open_table(h, kColumns, title_of(listing.kind));
            for (auto i = begin; i < end; ++i) {
                const auto& item = *rows[i];
                const auto url = Url({"code", item.kind})
                                     .with("environment", what.environment)
                                     .with("name", item.name);
                const auto row = h.in("tr");
                {
                    const auto td = h.in("td");
                    const auto link = h.in("a", {{"href", url}, {"class", "mono"}});
                    h.foreign(item.name, 200);
                }
                {
                    const auto td = h.in("td", {{"class", "wide mono"}});
                    h.foreign(place_text(item), 200);
                }
                const auto td = h.in("td", {{"class", "r"}});
                count_link(h, number(item.nodes), url);
            }
        }
    }
    const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
    h.leaf("span", fmt::format("{} to {} of {}", number_text(number(begin + (begin < end))),
                               number_text(number(end)), number_text(number(rows.size()))));
    const auto link = [&](std::size_t to, std::string_view text) {
        h.link(listing.url(what.environment).with("page", std::to_string(to)), text);
    };
    if (page > 1) link(page - 1, "Previous page");
    if (end < rows.size()) link(page + 1, "Next page");
}

void write_readers(Html& h, const insight::Usage& usage, const UsedInput& item) {
    const auto panel =
        open_panel(h, fmt::format("Read by {}", count_text(number(item.nodes), "node", "nodes")));
    if (item.nodes == 0)
        return empty_state(h, "Never read",
                           "No node of this environment reads it. Another environment may.");
    const auto list = h.in("ul", {{"class", "in chips"}});
    std::size_t shown = 0;
    for (const auto node : item.readers.members()) {
        if (++shown > kMostNodes) {
            h.leaf("li", {{"class", "m"}},
                   fmt::format("and {} more", number_text(number(item.nodes - kMostNodes))));
            break;
        }
        const auto entry = h.in("li", {{"class", "chip"}});
        node_link(h, usage.nodes[node]);
    }
}

Response unfinished(Visit& visit, const Asked& what, Html h, Head head) {
    if (!what.job->ended()) head.refresh_s = kPollSeconds;
    return visit.page(std::move(head), std::move(h));
}

}  // namespace

Result<Response> code_page(Visit& visit) {
    const auto what = BUNRAKU_TRY(asked(visit, visit.query("environment"), true));
    Html h;
    write_environments(h, visit, what.environment);
    {
        const auto part = open_job_part(h, "code", *what.job);
        if (write_state(h, visit, what)) {
            const Listing listing(visit);
            write_kinds(h, what, listing);
            write_filter(h, what, listing);
            write_rows(h, visit, what, listing);
        }
    }
    return unfinished(visit, what, std::move(h), {.title = "Classes and keys", .nav = "code"});
}

Result<Response> definition_page(Visit& visit) {
    const auto what = BUNRAKU_TRY(asked(visit, visit.query("environment"), true));
    const auto kind = visit.param("kind"), name = visit.query("name");
    if (title_of(kind).empty()) return not_found(fmt::format("There is no kind '{}'.", kind));
    Html h, crumb;
    crumb.link(Url({"code"}).with("environment", what.environment).with("kind", kind),
               fmt::format("{} of {}", title_of(kind), what.environment));
    Head head{.title = fmt::format("{} {}", kind, name), .nav = "code", .crumb = crumb.take()};
    const bool done = what.job->state() == Job::State::Done;
    std::vector<const UsedInput*> found;
    if (done) {
        for (const auto& item : what.job->usage().items)
            if (item.kind == kind && item.name == name) found.push_back(&item);
        if (found.empty())
            return not_found(
                fmt::format("The environment {} has no {} '{}'.", what.environment, kind, name));
    }
    {
        const auto part = open_job_part(h, "code", *what.job);
        if (!done) (void)write_state(h, visit, what);
        for (const auto* item : found) {
            write_definition(h, what.job->code(), what.job->usage().root, *item);
            write_readers(h, what.job->usage(), *item);
        }
    }
    return unfinished(visit, what, std::move(h), std::move(head));
}

Result<Response> code_action(Visit& visit) {
    const auto what = BUNRAKU_TRY(asked(visit, visit.field("environment"), false));
    const auto action = visit.field("action");
    if (action != "stop" && action != "again") return not_found("There is no such action.");
    visit.console.jobs.drop(visit.viewer.name, what.key);
    return visit.redirect(Url({"code"}).with("environment", what.environment));
}

}  // namespace bunraku::console
