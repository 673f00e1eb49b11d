// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/impact.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/group_key.h"
#include "compile/insight/impact_evaluation.h"
#include "compile/insight/plugins.h"
#include "core/base/plain_error.h"
#include "core/sys/clock.h"
#include "core/value/rich_data.h"

namespace bunraku::insight {

Impact NodeEvaluation::run() {
    out_.from = what_.from.label;
    out_.to = what_.to.label;
    out_.nodes.resize(nodes_.size());
    waiting_.resize(nodes_.size());
    loaded_.resize(nodes_.size());
    const auto began_ns = sys::make_real_clock()->now_ns();
    // Opens both states first, so that an error of a state is reported once.
    from_ = site_.environment(what_.from.request());
    default_name_ = from_->name();
    out_.root = from_->directory();
    const auto to = site_.environment(what_.to.request());
    open_read_cache(to);
    std::vector<std::size_t> known;
    const auto left = to_evaluate(known);
    evaluate_all(left);
    auto moved = changed_since(began_ns, to);
    // The probe is a node that the cache reports as untouched. If it changed, the cache is
    // wrong.
    if (probe_ && out_.nodes[*probe_].verdict > Verdict::Same) {
        out_.notes.emplace_back(
            fmt::format("{} was unaffected according to the cached reads of its last compile, "
                        "but a new compile gives "
                        "'{}'. The cache was not used{}",
                        nodes_[*probe_].name, verdict_name(out_.nodes[*probe_].verdict),
                        moved.empty() ? ". Please report this" : ""));
        read_cache_.reset();
        evaluate_all(known);
        moved = changed_since(began_ns, to);
    }
    if (!moved.empty())
        out_.notes.push_back(fmt::format(
            "Files changed during the run ({}{}). The results may be from before or "
            "after the change. Run the command again",
            moved.front(), moved.size() > 1 ? fmt::format(" and {} more", moved.size() - 1) : ""));
    if (read_cache_) {
        read_cache_->save(began_ns);
        if (!read_cache_->note().empty()) out_.notes.push_back(read_cache_->note());
    }
    follow_exports();
    add_plugins(*to);
    order();
    if (what_.because) explain();
    out_.seconds = since_begin();
    return std::move(out_);
}

double NodeEvaluation::since_begin() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - what_.began).count();
}

std::vector<std::string> NodeEvaluation::changed_since(
    std::int64_t began_ns, const std::shared_ptr<const Environment>& to) const {
    std::set<std::string> out;
    for (const auto& each : {from_, to}) {
        if (!each->files().version().empty()) continue;
        const auto table = each->reads();
        for (environment::ReadId id = 0; id < table->size(); ++id) {
            const auto item = table->item(id);
            const bool file = item.kind == Read::File || item.kind == Read::Data ||
                              item.kind == Read::Names || item.kind == Read::Definition;
            if (!file || item.name.empty()) continue;
            const auto stamp = each->files().stat(std::string(item.name));
            if (stamp.exists && stamp.mtime_ns > began_ns) out.insert(below(item.name, out_.root));
        }
    }
    return {out.begin(), out.end()};
}

void NodeEvaluation::open_read_cache(const std::shared_ptr<const Environment>& to) {
    if (what_.keep.empty() || what_.everything || what_.from.adjust || what_.to.adjust) return;
    const auto request = what_.from.request();
    const auto terminus = site_.settings().text("node_terminus");
    if (std::holds_alternative<compiler::Classification>(request.classification) ||
        (!terminus.empty() && terminus != "plain"))
        return;
    base::Arena arena(64 * 1024);
    std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", what_.from.label, out_.root, default_name_,
                    request.sources.manifest, request.sources.code.value_or(""),
                    request.sources.no_manifest, static_cast<int>(request.server_facts.kind));
    if (request.sources.modulepath)
        key += fmt::format("{}\n", fmt::join(*request.sources.modulepath, ":"));
    for (const auto& [name, text] : request.overlay.entries())
        key += fmt::format("{}={}\n", name, text);
    for (const auto& v :
         {request.trusted.given.value_or(value::Value::undef()), request.server_facts.values})
        key += value::to_json(v) + '\n';
    for (const auto& [name, v] : request.variables)
        key += fmt::format("${}={}\n", name, value::to_json(v));
    for (const auto& name : request.classes.value_or(std::vector<std::string>{}))
        key += fmt::format("class {}\n", name);
    for (const auto& name : request.more_classes) key += fmt::format("and {}\n", name);
    key += value::to_json(site::settings_as_value(arena, site_.settings()));
    read_cache_ = std::make_unique<ReadCache>(
        what_.keep, key, from_, to, [this, to](const std::vector<SourceOf>& sources) {
            std::vector<Change> found =
                content_changes(sources, contents(from_), sources, contents(to));
            add_findings(found, missing_sources(sources, contents(from_)),
                         missing_sources(sources, contents(to)));
            return found.empty();
        });
}

std::vector<std::size_t> NodeEvaluation::to_evaluate(std::vector<std::size_t>& known) {
    std::vector<std::size_t> first, rest;
    std::set<std::uint32_t> kinds;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        out_.nodes[i].name = nodes_[i].name;
        ReadCache::Look look;
        try {
            if (read_cache_)
                look = read_cache_->look(nodes_[i], [&]() -> const auto& { return this->node(i); });
        } catch (const PuppetError&) {
            // judge() reports the error.
        }
        if (look.answer == ReadCache::Answer::Same) {
            known.push_back(i);
            out_.nodes[i].verdict = Verdict::Untouched;
        } else if (look.answer == ReadCache::Answer::Touched) {
            (kinds.insert(look.kind).second ? first : rest).push_back(i);
        } else {
            rest.push_back(i);
        }
    }
    judged_ = known.size();
    if (!known.empty()) {
        probe_ = known[static_cast<std::size_t>(what_.began.time_since_epoch().count()) / 1000 %
                       known.size()];
        first.push_back(*probe_);
        std::erase(known, *probe_);
        --judged_;
    }
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

void NodeEvaluation::evaluate_all(const std::vector<std::size_t>& which) {
    each(which.size(), [&](std::size_t n) {
        const std::size_t i = which[n];
        try {
            if (what_.stop.stop_requested())
                throw base::plain_error("the comparison was stopped before");
            judge(i);
        } catch (const PuppetError& e) {
            out_.nodes[i].verdict = Verdict::Unjudged;
            out_.nodes[i].why = e.full_text();
        }
        const std::lock_guard lock(mutex_);
        ++judged_;
        if (what_.progress)
            what_.progress(std::min(judged_, nodes_.size()), nodes_.size(), out_.groups);
    });
}

void NodeEvaluation::add_plugins(const Environment& to) {
    std::vector<std::uint32_t> judged;
    for (std::uint32_t i = 0; i < out_.nodes.size(); ++i)
        if (out_.nodes[i].verdict != Verdict::Unjudged) judged.push_back(i);
    if (judged.empty()) return;
    for (auto& change : plugin_changes(*from_, to)) {
        const auto path = below(change.input, out_.root);
        auto key = group_key(change, nullptr);
        out_.groups.push_back({.change = std::move(change),
                               .nodes = judged,
                               .because = {{.input = path, .path = path, .proven = true}},
                               .key = std::move(key)});
    }
}

void sort_groups(Impact& impact) {
    for (auto& group : impact.groups) std::ranges::sort(group.nodes);
    std::ranges::sort(impact.groups, [](const Group& a, const Group& b) {
        if (a.change.kind != b.change.kind) return a.change.kind < b.change.kind;
        if (a.nodes.size() != b.nodes.size()) return a.nodes.size() > b.nodes.size();
        return a.key < b.key;
    });
    for (auto& node : impact.nodes) node.groups.clear();
    for (std::uint32_t g = 0; g < impact.groups.size(); ++g)
        for (const auto node : impact.groups[g].nodes) impact.nodes[node].groups.push_back(g);
}

void NodeEvaluation::order() {
    sort_groups(out_);
    places_.clear();
    for (std::uint32_t g = 0; g < out_.groups.size(); ++g) places_[out_.groups[g].key] = g;
}

site::NodeRequest request_for(const State& state, const site::FleetNode& node) {
    auto out = state.request();
    out.node = node.name;
    out.facts.kind = site::FactSource::Kind::Given;
    out.facts.values = node.facts;
    if (!out.trusted.given) out.trusted.give(node.trusted);
    if (state.adjust) state.adjust(out);
    return out;
}

std::string_view verdict_name(Verdict verdict) {
    constexpr std::string_view kNames[] = {
        "untouched",       "same",        "changed",    "fails", "fails otherwise",
        "fails as before", "works again", "not judged",
    };
    return kNames[static_cast<std::size_t>(verdict)];
}

std::vector<std::string> Cause::hops() const {
    if (reader.empty() && place.empty()) return {};
    std::string first = reader.empty() ? std::string("main manifest") : reader;
    if (!place.empty()) first += " (" + place + ")";
    std::vector<std::string> out = {std::move(first)};
    out.insert(out.end(), via.begin(), via.end());
    return out;
}

std::string Cause::text() const {
    std::string out = input;
    const char* arrow = " → ";
    for (const auto& hop : hops()) {
        out += arrow + hop;
        arrow = " ← ";
    }
    return out;
}

std::size_t Impact::count(Verdict verdict) const {
    return static_cast<std::size_t>(
        std::ranges::count(nodes, verdict, [](const EvaluatedNode& n) { return n.verdict; }));
}

Impact impact(site::Site& site, const Comparison& comparison,
              std::span<const site::FleetNode> nodes) {
    return NodeEvaluation(site, comparison, nodes).run();
}

}  // namespace bunraku::insight
