// SPDX-License-Identifier: Apache-2.0
// What a change of the code does to the nodes of an environment: the groups of `bunraku impact`,
// which a job computes.
#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/report.h"
#include "core/codec/digest.h"
#include "services/console/change_job.h"
#include "services/console/change_parts.h"
#include "services/console/errors.h"
#include "services/console/format.h"
#include "services/console/job_parts.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;
using insight::Impact;

namespace {

constexpr std::size_t kGroupsOfPage = 50, kMostPages = 100;
constexpr int kForbidden = 403;

/// The two states of an address, and their comparison.
struct Asked {
    CodeState from, to;
    std::vector<std::string> nodes;
    std::string key;
};

Result<CodeState> visible_state(Visit& visit, std::string_view text) {
    const auto environment = text.substr(0, text.find('@'));
    // The answer is that for an environment that does not exist.
    if (!visit.viewer.sees(environment))
        return base::failure(fmt::format("There is no environment '{}'.", environment));
    return visit.console.code->find(text);
}

Result<Asked> asked(Visit& visit, std::string_view from, std::string_view to) {
    Asked out;
    out.from = BUNRAKU_TRY(visible_state(visit, from));
    out.to = BUNRAKU_TRY(visible_state(visit, to));
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    for (const auto& node : fleet->nodes)
        if (fleet->environment(node.run) == out.from.environment)
            out.nodes.push_back(node.certname);
    codec::Digest names(codec::DigestKind::Sha256);
    for (const auto& name : out.nodes) names.update(name + "\n");
    out.key = fmt::format("change {} {} {} {} {}", out.from.text(), out.from.version, out.to.text(),
                          out.to.version, names.hex());
    return out;
}

Result<std::shared_ptr<ChangeJob>> job_of(Visit& visit, const Asked& what) {
    auto& console = visit.console;
    // Compiling a commit runs its code, which has all rights of deployed code. Viewers may not
    // start that.
    if ((what.from.files || what.to.files) && !visit.viewer.may(Right::Operate)) {
        if (auto known = console.jobs.find(what.key))
            return std::dynamic_pointer_cast<ChangeJob>(known);
        return base::failure(
            "Only an operator can start a comparison with a commit, because it runs its code.",
            kForbidden);
    }
    auto job = BUNRAKU_TRY(console.jobs.find_or_start(visit.viewer.name, what.key, [&] {
        return std::make_shared<ChangeJob>(*console.code, what.from, what.to, what.nodes,
                                           console.context.state_directory + "/console-impact");
    }));
    return std::dynamic_pointer_cast<ChangeJob>(job);
}

void state_field(Html& h, std::string_view name, std::string_view label, std::string_view value) {
    const auto field = h.in("label", {{"class", "field"}});
    h.text(label);
    h.empty("input", {{"name", name},
                      {"value", value},
                      {"class", "mono"},
                      {"size", 24},
                      {"list", "states"},
                      {"required", true},
                      {"autocomplete", "off"},
                      {"spellcheck", "false"}});
}

Markup heading(Visit& visit) {
    Html h;
    const auto line = [&] {
        const auto head = h.in("div", {{"class", "head"}});
        h.leaf("h1", "Change");
        {
            const auto form = h.in("form", {{"class", "head"}, {"action", Url({"change"})}});
            state_field(h, "from", "From", visit.query("from"));
            state_field(h, "to", "to", visit.query("to"));
            h.leaf("button", {{"class", "pri"}}, "Compare");
        }
        const auto list = h.in("datalist", {{"id", "states"}});
        for (const auto& name : visit.console.code->environments())
            if (visit.viewer.sees(name)) h.empty("option", {{"value", name}});
    };
    line();
    return h.take();
}

Url address(std::string_view page, const Asked& what) {
    return Url({page}).with("from", what.from.text()).with("to", what.to.text());
}

void write_state(Html& h, const Visit& visit, const Asked& what, const ChangeJob& job,
                 const Impact& impact) {
    Html beside;
    if (job.state() == Job::State::Done) {
        beside.link(address("change.json", what), "JSON");
        beside.link(address("change.md", what), "Markdown");
    }
    const auto panel =
        open_panel(h, fmt::format("{} → {}", what.from.text(), what.to.text()), beside.take());
    Html done;
    state_mark(done, std::ranges::any_of(impact.groups, is_problem) ? State::Failed
                     : impact.groups.empty()                        ? State::Unchanged
                                                                    : State::Changed);
    done.leaf("b", insight::impact_headline(impact));
    write_job(h, visit, job,
              {Url({"change"}), {{"from", what.from.text()}, {"to", what.to.text()}}}, done.take());
    const auto footer = h.in("footer");
    if (what.from.files || what.to.files) {
        h.text("Link to these commits: ");
        const auto fixed = [](const CodeState& state) {
            return state.files ? state.environment + "@" + state.version : state.environment;
        };
        h.link(Url({"change"}).with("from", fixed(what.from)).with("to", fixed(what.to)),
               fmt::format("{} → {}", short_code(what.from.version), short_code(what.to.version)));
    } else {
        h.text(
            fmt::format("{} of the environment {}",
                        count_text(static_cast<std::int64_t>(what.nodes.size()), "node", "nodes"),
                        what.from.environment));
    }
}

/// Writes the groups of a page, and the notes.
void write_groups(Html& h, Visit& visit, const Asked& what, const ChangeJob& job,
                  const Impact& impact) {
    const auto page = visit.number("page", 1, kMostPages);
    std::vector<std::size_t> problems, changes;
    for (std::size_t i = 0; i < impact.groups.size(); ++i)
        (is_problem(impact.groups[i]) ? problems : changes).push_back(i);
    const auto write = [&](std::string_view title, const std::vector<std::size_t>& groups) {
        if (groups.empty()) return;
        Html beside;
        beside.leaf("span", {{"class", "m"}},
                    count_text(static_cast<std::int64_t>(groups.size()), "group", "groups"));
        const auto panel = open_panel(h, title, beside.take());
        const auto begin = std::min((page - 1) * kGroupsOfPage, groups.size());
        const auto end = std::min(begin + kGroupsOfPage, groups.size());
        for (auto i = begin; i < end; ++i) write_change_group(h, impact, groups[i]);
        const auto footer = h.in("footer");
        const auto link = [&](std::size_t to, std::string_view text) {
            h.link(address("change", what).with("page", std::to_string(to)), text);
        };
        if (page > 1) link(page - 1, "Previous groups");
        if (end < groups.size()) link(page + 1, "More groups");
    };
    write("Look at these first", problems);
    write("Changes", changes);
    if (job.state() == Job::State::Done && impact.groups.empty()) {
        const auto panel = h.in("section", {{"class", "panel"}});
        empty_state(h, "No catalog changes",
                    "The catalogs of these nodes, and the files that they refer to, are the same "
                    "in both states.");
    }
    if (impact.notes.empty()) return;
    const auto panel = open_panel(h, "Notes");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    for (const auto& note : impact.notes) {
        const auto item = h.in("li");
        const auto text = h.in("span", {{"class", "t"}});
        h.foreign(note);
    }
}

void write_start(Html& h, const Visit& visit) {
    const auto panel = open_panel(h, "Compare two states of the code");
    const auto box = h.in("div", {{"class", "empty"}});
    h.leaf("p",
           "Which catalogs change if the nodes of an environment get the code of another one? The "
           "server compiles with the stored facts, and shows each change once, with its nodes and "
           "its cause.");
    h.raw(
        "<p>A state is an environment, such as <code>production</code>, or a commit of its "
        "repository, such as <code>production@4f2a91c</code>.</p>");
    const auto names = visit.console.code->environments();
    const auto list = h.in("p", {{"class", "chips"}});
    for (const auto& name : names)
        if (name != "production" && visit.viewer.sees(name) && visit.viewer.sees("production"))
            chip(h, fmt::format("production → {}", name),
                 Url({"change"}).with("from", "production").with("to", name), false);
}

}  // namespace

Result<Response> change_page(Visit& visit) {
    Head head{.title = "Change", .nav = "change", .heading = heading(visit)};
    Html h;
    const auto from = visit.query("from"), to = visit.query("to");
    if (from.empty() || to.empty()) {
        write_start(h, visit);
        return visit.page(std::move(head), std::move(h));
    }
    const auto refuse = [&](const std::string& message, int status) {
        {
            const auto panel = h.in("section", {{"class", "panel"}});
            empty_state(h, message, "Choose two environments or commits.");
        }
        head.status = status;
        return visit.page(std::move(head), std::move(h));
    };
    const auto what = asked(visit, from, to);
    if (!what && database_error(what.error())) return std::unexpected(what.error());
    if (!what) return refuse(what.error().message, 404);
    if (what->nodes.empty())
        return refuse(fmt::format("No node uses the environment {}.", what->from.environment), 404);
    const auto job = job_of(visit, *what);
    if (!job)
        return refuse(shown_message(job.error()),
                      job.error().code == kForbidden ? kForbidden : 503);
    const bool ended = (*job)->ended();
    const auto impact = (*job)->impact();
    {
        const auto part = open_job_part(h, "change", **job);
        write_state(h, visit, *what, **job, *impact);
        write_groups(h, visit, *what, **job, *impact);
    }
    head.title = fmt::format("Change: {} → {}", what->from.text(), what->to.text());
    if (!ended) head.refresh_s = kPollSeconds;
    return visit.page(std::move(head), std::move(h));
}

namespace {

/// Returns a file of the comparison. While it is computed, the status is 202.
Result<Response> as_file(Visit& visit, std::string_view type, std::string (*text)(const Impact&)) {
    const auto what = asked(visit, visit.query("from"), visit.query("to"));
    if (!what && database_error(what.error())) return std::unexpected(what.error());
    if (!what) return not_found(what.error().message);
    if (what->nodes.empty()) return not_found("No node uses this environment.");
    const auto job = BUNRAKU_TRY(job_of(visit, *what));
    if (job->state() == Job::State::Failed) return base::failure(job->problem());
    Response out;
    out.headers.set("Content-Type", type);
    out.status = job->state() == Job::State::Done ? 200 : 202;
    if (out.status == 202) out.headers.set("Retry-After", std::to_string(kPollSeconds));
    out.body = text(*job->impact());
    return out;
}

}  // namespace

Result<Response> change_json(Visit& visit) {
    return as_file(visit, "application/json", insight::impact_json);
}

Result<Response> change_markdown(Visit& visit) {
    return as_file(visit, "text/markdown;charset=utf-8", insight::impact_markdown);
}

Result<Response> change_action(Visit& visit) {
    const auto what = asked(visit, visit.field("from"), visit.field("to"));
    if (!what && database_error(what.error())) return std::unexpected(what.error());
    if (!what) return not_found(what.error().message);
    const auto action = visit.field("action");
    if (action != "stop" && action != "again") return not_found("There is no such action.");
    visit.console.jobs.drop(visit.viewer.name, what->key);
    return visit.redirect(address("change", *what));
}

}  // namespace bunraku::console
