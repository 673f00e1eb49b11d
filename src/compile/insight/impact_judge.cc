// SPDX-License-Identifier: Apache-2.0
// Judges one node: compiles it in both states and compares the catalogs.
#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

#include "compile/compiler/unavailable_store.h"
#include "compile/insight/group_key.h"
#include "compile/insight/impact_evaluation.h"
#include "core/base/plain_error.h"

namespace bunraku::insight {

namespace {

/// The reason why a node is not judged.
constexpr const char* kNoAnswer = "the store or PuppetDB did not answer the queries of its compile";

}  // namespace

CompileOutcome compile_node(site::Site& site, const State& state, const site::FleetNode& node,
                            std::shared_ptr<const environment::Files> files,
                            std::shared_ptr<compiler::ReadLocations> places,
                            const site::CollectorAnswer& collectors) {
    CompileOutcome out;
    base::NullSink log;
    try {
        auto request = request_for(state, node);
        request.record = {.trace = true, .places = std::move(places), .history = {}};
        request.collectors = collectors;
        if (files) request.sources.files = std::move(files);
        const auto session = site.session(std::move(request), log);
        out.environment = session->environment();
        try {
            out.compiled = session->compile();
        } catch (const PuppetError& e) {
            out.error = e.full_text();
        }
        out.trace = session->trace();
    } catch (const PuppetError& e) {
        out.error = e.full_text();
    } catch (const std::exception& e) {
        out.error = e.what();
    }
    if (out.trace) out.unseen = compiler::Change::unseen(*out.trace);
    return out;
}

bool has_opaque_reads(const CompileOutcome& made) {
    return std::ranges::any_of(made.unseen, [](const Item& item) {
        return item.kind == Read::Opaque || item.kind == Read::Command;
    });
}

bool varies(const CompileOutcome& made) {
    return std::ranges::any_of(made.unseen, [](const Item& item) {
        return item.kind != Read::Query && item.kind != Read::Export;
    });
}

bool store_unavailable(const CompileOutcome& made) {
    return !made.ok() && std::ranges::any_of(made.unseen, [](const Item& item) {
        return item.kind == Read::Opaque && item.name == compiler::kStoreSilent;
    });
}

bool collects(const CompileOutcome& made) {
    return std::ranges::any_of(made.unseen,
                               [](const Item& item) { return item.kind == Read::Export; });
}

std::string place_of(const Change& c) { return c.reference + '\0' + c.parameter; }

const site::FleetNode& NodeEvaluation::node(std::size_t i) {
    if (nodes_[i].file.empty()) return nodes_[i];
    {
        const std::lock_guard lock(loaded_mutex_);
        if (loaded_[i]) return loaded_[i]->node;
    }
    auto made = std::make_unique<Loaded>();
    made->node = site::with_facts(made->arena, nodes_[i]);
    const std::lock_guard lock(loaded_mutex_);
    if (!loaded_[i]) loaded_[i] = std::move(made);
    return loaded_[i]->node;
}

const Contents& NodeEvaluation::contents(const std::shared_ptr<const Environment>& environment) {
    const std::lock_guard lock(contents_mutex_);
    auto& slot = contents_[environment.get()];
    if (!slot) slot = std::make_unique<Contents>(environment);
    return *slot;
}

std::shared_ptr<const Environment> NodeEvaluation::other(const State& state,
                                                         const Environment& environment) {
    try {
        auto request = state.request();
        if (environment.name() != default_name_)
            request.overlay.set("environment", environment.name());
        return site_.environment(request);
    } catch (const PuppetError&) {
        return nullptr;
    }
}

std::vector<Item> NodeEvaluation::touched(const environment::Trace& trace,
                                          const std::shared_ptr<const Environment>& before,
                                          const std::shared_ptr<const Environment>& after,
                                          bool first) {
    const std::lock_guard lock(change_mutex_);
    auto& change = changes_[trace.table().get()];
    if (!change) {
        auto snapshot_of = [&](const std::shared_ptr<const Environment>& environment) {
            compiler::InputsSnapshot out;
            out.environment = environment;
            out.data = std::make_shared<hiera::DataCache>();
            return out;
        };
        change = std::make_unique<compiler::Change>(snapshot_of(before), snapshot_of(after));
    }
    return change->touched(trace, first);
}

void NodeEvaluation::judge(std::size_t i) {
    const auto& node = this->node(i);
    EvaluatedNode& out = out_.nodes[i];
    const CompileOutcome a = compile_node(site_, what_.from, node);
    if (store_unavailable(a)) throw base::plain_error(kNoAnswer);
    bool collector = collects(a);
    std::vector<Export> before, now;
    if (a.ok()) before = exports_of(*a.compiled.catalog);
    std::shared_ptr<const Environment> after;
    if (a.environment) after = other(what_.to, *a.environment);
    out.varies = varies(a);
    if (read_cache_ && a.ok() && a.trace && a.unseen.empty() && a.environment == from_)
        read_cache_->add(node, *a.trace, sources_of(*a.compiled.catalog));
    {
        const std::lock_guard lock(mutex_);
        ++out_.compiled_before;
    }
    const bool look = what_.everything || !a.trace || !after || has_opaque_reads(a) ||
                      !touched(*a.trace, a.environment, after, true).empty();
    std::vector<Change> found;
    if (look) {
        const CompileOutcome b = compile_node(site_, what_.to, node);
        if (store_unavailable(b)) throw base::plain_error(kNoAnswer);
        {
            const std::lock_guard lock(mutex_);
            ++out_.compiled_after;
        }
        found = compare(a, b, nullptr);
        collector = collector || collects(b);
        if (b.ok()) now = exports_of(*b.compiled.catalog);
        if (!what_.chance && a.ok() && b.ok() && !found.empty() && (out.varies || varies(b)))
            drop_nondeterministic(node, a, b, found);
        out.verdict = verdict(a, b, found);
        out.why = b.error;
    } else if (!a.ok()) {
        out.verdict = Verdict::FailsAsBefore;
        out.why = a.error;
        found.push_back({.kind = Kind::FailsAsBefore, .before = a.error, .after = a.error});
    } else {
        // The catalog is the same, but the files that it refers to may differ.
        const auto sources = sources_of(*a.compiled.catalog);
        found = content_changes(sources, contents(a.environment), sources, contents(after));
        add_findings(found, missing_sources(sources, contents(a.environment)),
                     missing_sources(sources, contents(after)));
        out.verdict = found.empty() ? Verdict::Untouched : Verdict::Changed;
        now = before;
    }
    // If the compile of a node fails, the store keeps the old exports of the node.
    if (out.verdict <= Verdict::Changed && before != now) {
        const std::lock_guard lock(mutex_);
        exports_[0][node.name] = std::move(before);
        exports_[1][node.name] = std::move(now);
    }
    if (collector)
        waiting_[i] = std::make_unique<std::vector<Change>>(std::move(found));
    else
        record(i, found);
}

Verdict NodeEvaluation::verdict(const CompileOutcome& a, const CompileOutcome& b,
                                const std::vector<Change>& found) {
    if (a.ok() && b.ok()) return found.empty() ? Verdict::Same : Verdict::Changed;
    if (a.ok()) return Verdict::Fails;
    if (b.ok()) return Verdict::WorksAgain;
    return a.error == b.error ? Verdict::FailsAsBefore : Verdict::FailsOtherwise;
}

void NodeEvaluation::add_findings(std::vector<Change>& out, std::vector<Change> before,
                                  std::vector<Change> after) {
    auto differ = [&](const std::vector<Change>& of, const std::vector<Change>& others, Kind kind) {
        for (const auto& each : of) {
            const bool known = std::ranges::any_of(others, [&](const Change& other) {
                return other.reference == each.reference && other.after == each.after;
            });
            if (known) continue;
            out.push_back(each);
            out.back().kind = kind;
            if (kind == Kind::Repaired) std::swap(out.back().before, out.back().after);
        }
    };
    differ(after, before, Kind::Finding);
    differ(before, after, Kind::Repaired);
}

std::vector<Change> NodeEvaluation::compare(const CompileOutcome& a, const CompileOutcome& b,
                                            const Contents* of_b) {
    if (!a.ok() || !b.ok()) {
        if (a.ok()) return {{.kind = Kind::Fails, .after = b.error}};
        if (b.ok()) return {{.kind = Kind::WorksAgain, .before = a.error}};
        const auto kind = a.error == b.error ? Kind::FailsAsBefore : Kind::FailsOtherwise;
        return {{.kind = kind, .before = a.error, .after = b.error}};
    }
    const auto &old = *a.compiled.catalog, &now = *b.compiled.catalog;
    const auto& naming = *b.compiled.naming;
    auto out = changes(old, now, naming, what_.ignored);
    const Contents& before = contents(a.environment);
    const Contents& after = of_b ? *of_b : contents(b.environment);
    const auto old_sources = sources_of(old), sources = sources_of(now);
    std::ranges::move(content_changes(old_sources, before, sources, after),
                      std::back_inserter(out));
    add_findings(out, findings(old, *a.compiled.naming, old_sources, before),
                 findings(now, naming, sources, after));
    return out;
}

void NodeEvaluation::drop_nondeterministic(const site::FleetNode& node, const CompileOutcome& a,
                                           const CompileOutcome& b, std::vector<Change>& found,
                                           const site::CollectorAnswer& answer_a,
                                           const site::CollectorAnswer& answer_b) {
    std::unordered_set<std::string> chance;
    for (const auto& [state, made, answer] :
         {std::tuple(&what_.from, &a, &answer_a), std::tuple(&what_.to, &b, &answer_b)}) {
        const CompileOutcome again = compile_node(site_, *state, node, nullptr, nullptr, *answer);
        if (!again.ok()) continue;
        for (const auto& c : changes(*made->compiled.catalog, *again.compiled.catalog,
                                     *made->compiled.naming, what_.ignored))
            chance.insert(place_of(c));
    }
    std::erase_if(found, [&](const Change& c) { return chance.contains(place_of(c)); });
}

void NodeEvaluation::record(std::size_t i, const std::vector<Change>& found) {
    if (found.empty()) return;
    const NodeIdentity identity = identity_of(i);
    std::vector<std::string> keys;
    for (const auto& change : found) keys.push_back(group_key(change, &identity));
    const std::lock_guard lock(mutex_);
    for (std::size_t n = 0; n < found.size(); ++n) {
        const auto [it, fresh] =
            places_.try_emplace(keys[n], static_cast<std::uint32_t>(out_.groups.size()));
        if (fresh) {
            if (out_.groups.empty()) out_.first_seconds = since_begin();
            out_.groups.push_back({.change = found[n], .key = keys[n]});
            literal_.push_back(true);
        }
        Group& group = out_.groups[it->second];
        if (!fresh && changed_lines(found[n]) &&
            (group.change.before != found[n].before || group.change.after != found[n].after))
            group.same_context = false;
        if (!fresh && literal_[it->second] &&
            group_key(group.change, nullptr) != group_key(found[n], nullptr)) {
            literal_[it->second] = false;
            Change& c = group.change;
            for (auto* text : {&c.reference, &c.parameter, &c.before, &c.after})
                *text = identity_of(group.nodes.front()).without(*text);
        }
        const auto number = static_cast<std::uint32_t>(i);
        if (std::ranges::find(group.nodes, number) == group.nodes.end())
            group.nodes.push_back(number);
    }
}

}  // namespace bunraku::insight
