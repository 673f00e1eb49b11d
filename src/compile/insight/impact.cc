// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/impact.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compile/compiler/change.h"
#include "compile/compiler/unavailable_store.h"
#include "compile/insight/exports.h"
#include "compile/insight/group_key.h"
#include "compile/insight/inputs.h"
#include "compile/insight/node_identity.h"
#include "compile/insight/plugins.h"
#include "compile/insight/read_cache.h"
#include "core/base/plain_error.h"
#include "core/sys/clock.h"
#include "core/value/rich_data.h"

namespace bunraku::insight {

using base::PuppetError;
using environment::Environment;
using environment::Read;
using Item = environment::ReadTable::Item;

namespace {

/// Maximum number of inputs to try for the node of one group, and for all nodes. Beyond it, inputs
/// are reported without proof.
constexpr std::size_t kMostInputs = 40, kMostTried = 2000;

/// The compile of one node in one state.
struct CompileOutcome {
    site::Compiled compiled;
    std::shared_ptr<const Environment> environment;  ///< null if there is none
    std::shared_ptr<environment::Trace> trace;       ///< null if the compile did not start
    /// result of compiler::Change::unseen for the trace
    std::vector<Item> unseen;
    std::string error;
    bool ok() const { return compiled.catalog != nullptr; }
};

CompileOutcome compile_node(site::Site& site, const State& state, const site::FleetNode& node,
                            std::shared_ptr<const environment::Files> files = nullptr,
                            std::shared_ptr<compiler::ReadLocations> places = nullptr,
                            const site::CollectorAnswer& collectors = nullptr) {
    CompileOutcome out;
    base::NullSink log;
    try {
        auto request = request_for(state, node);
        request.record = true;
        request.places = std::move(places);
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

/// Reports whether the compile has reads for which it is unknown whether the change affects them.
bool has_opaque_reads(const CompileOutcome& made) {
    return std::ranges::any_of(made.unseen, [](const Item& item) {
        return item.kind == Read::Opaque || item.kind == Read::Command;
    });
}

/// Reports whether the compile has reads that may make two compiles of the same state differ.
bool varies(const CompileOutcome& made) {
    return std::ranges::any_of(made.unseen, [](const Item& item) {
        return item.kind != Read::Query && item.kind != Read::Export;
    });
}

/// The reason why a node is not judged.
constexpr const char* kNoAnswer = "the store or PuppetDB did not answer the queries of its compile";

/// Reports whether the compile failed because the store did not answer. Such an error is not
/// evidence about the change.
bool store_unavailable(const CompileOutcome& made) {
    return !made.ok() && std::ranges::any_of(made.unseen, [](const Item& item) {
        return item.kind == Read::Opaque && item.name == compiler::kStoreSilent;
    });
}

/// Reports whether the compile collects resources that other nodes export.
bool collects(const CompileOutcome& made) {
    return std::ranges::any_of(made.unseen,
                               [](const Item& item) { return item.kind == Read::Export; });
}

/// Returns the position of a change without its values, which may differ from compile to compile.
std::string place_of(const Change& c) { return c.reference + '\0' + c.parameter; }

class NodeEvaluation {
public:
    NodeEvaluation(site::Site& site, const Comparison& comparison,
                   std::span<const site::FleetNode> nodes)
        : site_(site), what_(comparison), nodes_(nodes) {}

    Impact run() {
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
                moved.front(),
                moved.size() > 1 ? fmt::format(" and {} more", moved.size() - 1) : ""));
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

private:
    double since_begin() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - what_.began)
            .count();
    }

    /// Returns the files read from the disk that were written since `began_ns`.
    std::vector<std::string> changed_since(std::int64_t began_ns,
                                           const std::shared_ptr<const Environment>& to) const {
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
                if (stamp.exists && stamp.mtime_ns > began_ns)
                    out.insert(below(item.name, out_.root));
            }
        }
        return {out.begin(), out.end()};
    }

    /// Opens the cached reads of earlier compiles, if the compiles depend on nothing but their
    /// reads.
    void open_read_cache(const std::shared_ptr<const Environment>& to) {
        if (what_.keep.empty() || what_.everything || what_.from.adjust || what_.to.adjust) return;
        const auto request = what_.from.request();
        const auto terminus = site_.settings().text("node_terminus");
        if (request.classification || (!terminus.empty() && terminus != "plain")) return;
        base::Arena arena(64 * 1024);
        std::string key =
            fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", what_.from.label, out_.root, default_name_,
                        request.sources.manifest, request.sources.code.value_or(""),
                        request.sources.no_manifest, static_cast<int>(request.server_facts));
        if (request.sources.modulepath)
            key += fmt::format("{}\n", fmt::join(*request.sources.modulepath, ":"));
        for (const auto& [name, text] : request.overlay.entries())
            key += fmt::format("{}={}\n", name, text);
        for (const auto& v : {request.trusted, request.given_server_facts})
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

    /// Returns the nodes to judge, one of each kind first. The cached reads of all other nodes show
    /// that the change does not touch them; one of those is judged as a probe.
    std::vector<std::size_t> to_evaluate(std::vector<std::size_t>& known) {
        std::vector<std::size_t> first, rest;
        std::set<std::uint32_t> kinds;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            out_.nodes[i].name = nodes_[i].name;
            ReadCache::Look look;
            try {
                if (read_cache_)
                    look = read_cache_->look(nodes_[i],
                                             [&]() -> const auto& { return this->node(i); });
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

    void evaluate_all(const std::vector<std::size_t>& which) {
        each(which.size(), [&](std::size_t n) {
            const std::size_t i = which[n];
            try {
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

    /// Returns a node with its facts. Thread-safe. Throws if its facts no longer exist.
    const site::FleetNode& node(std::size_t i) {
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

    /// Runs `work` for each index on the site's threads, and waits for all.
    template <class Work>
    void each(std::size_t count, Work&& work) {
        std::mutex mutex;
        std::condition_variable done;
        std::size_t left = count;
        for (std::size_t i = 0; i < count; ++i) {
            site_.workers().post([&, i] {
                work(i);
                const std::lock_guard lock(mutex);
                if (--left == 0) done.notify_all();
            });
        }
        std::unique_lock lock(mutex);
        done.wait(lock, [&] { return left == 0; });
    }

    const Contents& contents(const std::shared_ptr<const Environment>& environment) {
        const std::lock_guard lock(contents_mutex_);
        auto& slot = contents_[environment.get()];
        if (!slot) slot = std::make_unique<Contents>(environment);
        return *slot;
    }

    /// Returns the other state of an environment that a node is compiled in, or null if it cannot
    /// be opened.
    std::shared_ptr<const Environment> other(const State& state, const Environment& environment) {
        try {
            auto request = state.request();
            if (environment.name() != default_name_)
                request.overlay.set("environment", environment.name());
            return site_.environment(request);
        } catch (const PuppetError&) {
            return nullptr;
        }
    }

    /// Returns the reads of a compile whose answers differ in the other state. With `first`,
    /// returns at most one.
    std::vector<Item> touched(const environment::Trace& trace,
                              const std::shared_ptr<const Environment>& before,
                              const std::shared_ptr<const Environment>& after, bool first) {
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

    void judge(std::size_t i) {
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

    /// Compiles nodes that collect resources again, because they see new exports only after the
    /// exporting nodes have run. Repeats this until no exports change.
    void follow_exports() {
        constexpr int kMostRounds = 10;
        std::vector<std::size_t> collectors;
        for (std::size_t i = 0; i < waiting_.size(); ++i)
            if (waiting_[i]) collectors.push_back(i);
        std::vector<std::set<std::string>> alone(nodes_.size());
        std::set<std::string> seen;
        for (int round = 0; !collectors.empty() && !exports_[1].empty(); ++round) {
            const auto old = std::make_shared<Exports>(exports_[0]),
                       now = std::make_shared<Exports>(exports_[1]);
            Exports changed[2];
            each(collectors.size(), [&](std::size_t n) {
                const std::size_t i = collectors[n];
                const auto& node = this->node(i);
                const auto answer_a = answered_with(old), answer_b = answered_with(now);
                const CompileOutcome a =
                    compile_node(site_, what_.from, node, nullptr, nullptr, answer_a);
                const CompileOutcome b =
                    compile_node(site_, what_.to, node, nullptr, nullptr, answer_b);
                auto found = compare(a, b, nullptr);
                if (!what_.chance && a.ok() && b.ok() && !found.empty() && (varies(a) || varies(b)))
                    drop_nondeterministic(node, a, b, found, answer_a, answer_b);
                const NodeIdentity identity(node.name, node.facts);
                const std::lock_guard lock(mutex_);
                out_.compiled_before += 1;
                out_.compiled_after += 1;
                if (round == 0)
                    for (const auto& change : *waiting_[i])
                        alone[i].insert(group_key(change, &identity));
                EvaluatedNode& out = out_.nodes[i];
                const bool untouched = out.verdict == Verdict::Untouched && found.empty();
                if (!untouched) out.verdict = verdict(a, b, found);
                out.why = b.error;
                *waiting_[i] = std::move(found);
                for (const auto& [made, known, into] :
                     {std::tuple(&a, &*old, &changed[0]), std::tuple(&b, &*now, &changed[1])}) {
                    if (!made->ok()) continue;
                    auto own = exports_of(*made->compiled.catalog);
                    const auto it = known->find(node.name);
                    if (it == known->end() ? own.empty() : it->second == own) continue;
                    (*into)[node.name] = std::move(own);
                }
            });
            // Records the exports of both states for a node whose exports differ for the first
            // time.
            bool fresh = false;
            for (const auto& [name, made] : changed[1]) {
                fresh = fresh || !exports_[1].contains(name) || exports_[1][name] != made;
                exports_[1][name] = made;
            }
            for (const auto& [name, made] : changed[0]) {
                fresh = fresh || !exports_[0].contains(name) || exports_[0][name] != made;
                exports_[0][name] = made;
            }
            if (!fresh) break;
            std::string state;
            for (const auto& side : exports_)
                for (const auto& [name, all] : side)
                    for (const auto& item : all)
                        state += fmt::format("{} {} {} {}\n", name, item.reference(),
                                             fmt::join(item.tags, ","), [&] {
                                                 std::string text;
                                                 for (const auto& [key, v] : item.parameters)
                                                     text += key + "=" + v + " ";
                                                 return text;
                                             }());
            if (!seen.insert(state).second || round == kMostRounds) {
                std::vector<std::string> names;
                for (const auto& [name, made] : changed[1]) names.push_back(name);
                out_.notes.push_back(
                    fmt::format("The exported resources of these nodes, which collect from each "
                                "other, did not stabilise{}: {}",
                                round == kMostRounds ? fmt::format(" in {} runs", kMostRounds) : "",
                                fmt::join(names, ", ")));
                break;
            }
        }
        std::vector<std::string> exporters;
        for (const auto& [name, all] : exports_[1]) exporters.push_back(name);
        for (const auto i : collectors) {
            record(i, *waiting_[i]);
            // A change that appeared only with the new exports is caused by them.
            if (exports_[1].empty()) continue;
            const NodeIdentity identity = identity_of(i);
            for (const auto& change : *waiting_[i]) {
                const auto key = group_key(change, &identity);
                if (alone[i].contains(key)) continue;
                Group& group = out_.groups[places_[key]];
                if (group.because.empty())
                    group.because.push_back({.input = exported_by(change, exporters)});
                group.because.front().proven = true;
            }
            waiting_[i].reset();
        }
    }

    /// Returns the nodes that export the resource of a change differently than before.
    std::string exported_by(const Change& change, const std::vector<std::string>& all) const {
        std::vector<std::string> names;
        for (const auto& name : all) {
            auto find = [&](const Exports& side) -> const Export* {
                const auto it = side.find(name);
                if (it == side.end()) return nullptr;
                for (const auto& item : it->second)
                    if (item.reference() == change.reference) return &item;
                return nullptr;
            };
            const Export *old = find(exports_[0]), *now = find(exports_[1]);
            if (old && now ? !(*old == *now) : old != now) names.push_back(name);
        }
        if (names.empty())
            return fmt::format("what {} export{}", fmt::join(all, ", "),
                               all.size() == 1 ? "s" : "");
        return fmt::format("{} exported by {}", change.reference, fmt::join(names, ", "));
    }

    static Verdict verdict(const CompileOutcome& a, const CompileOutcome& b,
                           const std::vector<Change>& found) {
        if (a.ok() && b.ok()) return found.empty() ? Verdict::Same : Verdict::Changed;
        if (a.ok()) return Verdict::Fails;
        if (b.ok()) return Verdict::WorksAgain;
        return a.error == b.error ? Verdict::FailsAsBefore : Verdict::FailsOtherwise;
    }

    static void add_findings(std::vector<Change>& out, std::vector<Change> before,
                             std::vector<Change> after) {
        auto differ = [&](const std::vector<Change>& of, const std::vector<Change>& others,
                          Kind kind) {
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

    std::vector<Change> compare(const CompileOutcome& a, const CompileOutcome& b,
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

    /// Removes differences that also occur between two compiles of the same state.
    void drop_nondeterministic(const site::FleetNode& node, const CompileOutcome& a,
                               const CompileOutcome& b, std::vector<Change>& found,
                               const site::CollectorAnswer& answer_a = nullptr,
                               const site::CollectorAnswer& answer_b = nullptr) {
        std::unordered_set<std::string> chance;
        for (const auto& [state, made, answer] :
             {std::tuple(&what_.from, &a, &answer_a), std::tuple(&what_.to, &b, &answer_b)}) {
            const CompileOutcome again =
                compile_node(site_, *state, node, nullptr, nullptr, *answer);
            if (!again.ok()) continue;
            for (const auto& c : changes(*made->compiled.catalog, *again.compiled.catalog,
                                         *made->compiled.naming, what_.ignored))
                chance.insert(place_of(c));
        }
        std::erase_if(found, [&](const Change& c) { return chance.contains(place_of(c)); });
    }

    void record(std::size_t i, const std::vector<Change>& found) {
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
    /// Adds changed plugins to every judged node, because every agent syncs the plugins of all
    /// modules. The verdict of a node does not change.
    void add_plugins(const Environment& to) {
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
    NodeIdentity identity_of(std::size_t i) { return {nodes_[i].name, node(i).facts}; }

    /// Sorts the groups, so that the order does not depend on the threads.
    void order() {
        for (auto& group : out_.groups) std::ranges::sort(group.nodes);
        std::ranges::sort(out_.groups, [](const Group& a, const Group& b) {
            if (a.change.kind != b.change.kind) return a.change.kind < b.change.kind;
            if (a.nodes.size() != b.nodes.size()) return a.nodes.size() > b.nodes.size();
            return a.key < b.key;
        });
        places_.clear();
        for (std::uint32_t g = 0; g < out_.groups.size(); ++g) {
            places_[out_.groups[g].key] = g;
            for (const auto node : out_.groups[g].nodes) out_.nodes[node].groups.push_back(g);
        }
    }

    void explain() {
        std::set<std::uint32_t> tried;
        for (auto& group : out_.groups) {
            const Kind kind = group.change.kind;
            if (!group.because.empty() || kind == Kind::FailsAsBefore) continue;
            if (kind == Kind::Content) {
                const auto path = below(group.change.input, out_.root);
                group.because.push_back({.input = path, .path = path, .proven = true});
                continue;
            }
            if (tried.insert(group.nodes.front()).second) explain_by(group.nodes.front());
        }
    }

    /// Finds the causes of each group of a node by undoing one input after the other.
    void explain_by(std::uint32_t i) {
        const auto& node = this->node(i);
        auto places_a = std::make_shared<compiler::ReadLocations>();
        auto places_b = std::make_shared<compiler::ReadLocations>();
        const CompileOutcome a = compile_node(site_, what_.from, node, nullptr, places_a);
        const CompileOutcome b = compile_node(site_, what_.to, node, nullptr, places_b);
        if (!a.environment || !b.environment || !a.trace || !b.trace) return;
        if (store_unavailable(a) || store_unavailable(b)) return;
        auto reads = touched(*a.trace, a.environment, b.environment, false);
        for (const auto& item : touched(*b.trace, a.environment, b.environment, false)) {
            const bool known = std::ranges::any_of(reads, [&](const Item& r) {
                return r.kind == item.kind && r.name == item.name && r.detail == item.detail;
            });
            if (!known) reads.push_back(item);
        }
        const auto inputs = inputs_of(reads, *a.environment, *b.environment);
        const NodeIdentity identity(node.name, node.facts);
        std::vector<Cause> causes;
        for (const auto& input : inputs) causes.push_back(cause(input, a, b, *places_a, *places_b));
        // For each input, the keys of the groups that disappear without it.
        std::vector<std::set<std::string>> gone(inputs.size());
        const auto of_node = groups_of(i);
        for (auto* group : of_node) {
            // Compiles do not read the content of an added or removed `source` file, so this is its
            // own cause.
            const auto& path = group->change.input;
            if (path.empty() || group->change.kind == Kind::Content ||
                group->change.kind == Kind::Plugin ||
                a.environment->files().stat(path).exists ==
                    b.environment->files().stat(path).exists)
                continue;
            const auto name = below(path, out_.root);
            group->because = {{.input = name, .path = name, .proven = true}};
        }
        if (inputs.size() == 1 && !has_opaque_reads(a) && !has_opaque_reads(b)) {
            for (const auto* group : of_node) gone[0].insert(group->key);
        } else if (inputs.size() <= kMostInputs && out_.tried + inputs.size() <= kMostTried) {
            each(inputs.size(), [&](std::size_t n) {
                const auto files = undone(inputs[n], *a.environment, *b.environment);
                if (!files) return;
                const CompileOutcome c = compile_node(site_, what_.to, node, files);
                if (store_unavailable(c)) return;
                if (!c.ok() && b.ok() && a.ok()) {
                    // An error only proves causes of changes in the same file.
                    for (const auto* group : of_node)
                        if (group->change.file == inputs[n].path) gone[n].insert(group->key);
                    return;
                }
                const Contents contents(c.environment ? c.environment : b.environment);
                std::unordered_set<std::string> left;
                for (const auto& change : compare(a, c, &contents))
                    left.insert(group_key(change, &identity));
                for (const auto* group : of_node)
                    if (!left.contains(group->key)) gone[n].insert(group->key);
            });
            out_.tried += inputs.size();
        }
        for (auto* group : of_node) {
            if (!group->because.empty() || group->change.kind == Kind::Content ||
                group->change.kind == Kind::FailsAsBefore)
                continue;
            for (std::size_t n = 0; n < inputs.size(); ++n) {
                if (!gone[n].contains(group->key)) continue;
                group->because.push_back(causes[n]);
                group->because.back().proven = true;
            }
            // No single input is the cause: several together are, or inputs that could not be
            // tried.
            if (group->because.empty()) group->because = causes;
        }
    }

    std::vector<Group*> groups_of(std::uint32_t i) {
        std::vector<Group*> out;
        for (const auto g : out_.nodes[i].groups) out.push_back(&out_.groups[g]);
        return out;
    }

    Cause cause(const Input& input, const CompileOutcome& a, const CompileOutcome& b,
                compiler::ReadLocations& places_a, compiler::ReadLocations& places_b) const {
        Cause out{.input = input.name(out_.root),
                  .path = below(input.path, out_.root),
                  .line = changed_line(input, *a.environment, *b.environment)};
        const compiler::Reader* reader = nullptr;
        for (const auto& read : input.reads) {
            if (reader) break;
            reader = places_b.first(*b.trace->table(), read.kind, read.name, read.detail);
            if (!reader)
                reader = places_a.first(*a.trace->table(), read.kind, read.name, read.detail);
        }
        if (!reader) return out;
        out.reader = reader->what;
        if (!reader->file.empty())
            out.place = fmt::format("{}:{}", below(reader->file, out_.root), reader->line);
        for (const auto& each : reader->via) {
            if (each.what.empty()) break;
            std::string_view name = each.what;
            if (name.starts_with("class ")) name.remove_prefix(6);
            out.via.push_back(fmt::format("{}:{}", name, each.line));
        }
        return out;
    }

    site::Site& site_;
    const Comparison& what_;
    const std::span<const site::FleetNode> nodes_;
    std::string default_name_;
    std::shared_ptr<const Environment> from_;
    std::unique_ptr<ReadCache> read_cache_;  ///< null if nothing is cached
    std::optional<std::size_t> probe_;
    struct Loaded {
        base::Arena arena{4096};
        site::FleetNode node;
    };
    std::vector<std::unique_ptr<Loaded>> loaded_;  ///< nodes whose facts were loaded on demand
    Impact out_;
    std::mutex mutex_, contents_mutex_, change_mutex_, loaded_mutex_;
    std::size_t judged_ = 0;
    Exports exports_[2];  ///< before and after, for nodes whose exports differ
    /// changes of nodes that collect exported resources
    std::vector<std::unique_ptr<std::vector<Change>>> waiting_;
    std::unordered_map<std::string, std::uint32_t> places_;  // index of each group by its key
    std::vector<bool> literal_;
    std::map<const Environment*, std::unique_ptr<Contents>> contents_;
    std::map<const environment::ReadTable*, std::unique_ptr<compiler::Change>> changes_;
};

}  // namespace

site::NodeRequest request_for(const State& state, const site::FleetNode& node) {
    auto out = state.request();
    out.node = node.name;
    out.facts.kind = site::FactSource::Kind::Given;
    out.facts.values = node.facts;
    if (out.trusted.is_undef()) out.trusted = node.trusted;
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
