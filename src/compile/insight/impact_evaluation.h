// SPDX-License-Identifier: Apache-2.0
// The evaluation of a change for a set of nodes: the state that the passes of impact() share.
// Private to impact.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compile/compiler/change.h"
#include "compile/insight/exports.h"
#include "compile/insight/impact.h"
#include "compile/insight/inputs.h"
#include "compile/insight/node_identity.h"
#include "compile/insight/read_cache.h"

namespace bunraku::insight {

using base::PuppetError;
using environment::Environment;
using environment::Read;
using Item = environment::ReadTable::Item;

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

/// Compiles a node in a state. Errors are part of the result.
CompileOutcome compile_node(site::Site& site, const State& state, const site::FleetNode& node,
                            std::shared_ptr<const environment::Files> files = nullptr,
                            std::shared_ptr<compiler::ReadLocations> places = nullptr,
                            const site::CollectorAnswer& collectors = nullptr);
/// Reports whether the compile has reads for which it is unknown whether the change affects them.
bool has_opaque_reads(const CompileOutcome& made);
/// Reports whether the compile has reads that may make two compiles of the same state differ.
bool varies(const CompileOutcome& made);
/// Reports whether the compile failed because the store did not answer. Such an error is not
/// evidence about the change.
bool store_unavailable(const CompileOutcome& made);
/// Reports whether the compile collects resources that other nodes export.
bool collects(const CompileOutcome& made);
/// Returns the position of a change without its values, which may differ from compile to compile.
std::string place_of(const Change& c);

/// The passes of one run of impact().
class NodeEvaluation {
public:
    NodeEvaluation(site::Site& site, const Comparison& comparison,
                   std::span<const site::FleetNode> nodes)
        : site_(site), what_(comparison), nodes_(nodes) {}
    Impact run();

private:
    double since_begin() const;
    /// Returns the files read from the disk that were written since `began_ns`.
    std::vector<std::string> changed_since(std::int64_t began_ns,
                                           const std::shared_ptr<const Environment>& to) const;
    /// Opens the cached reads of earlier compiles, if the compiles depend on nothing but their
    /// reads.
    void open_read_cache(const std::shared_ptr<const Environment>& to);
    /// Returns the nodes to judge, one of each kind first. For all other nodes, the cached reads
    /// show that the change does not touch them. One of these nodes is judged as well, to check
    /// this.
    std::vector<std::size_t> to_evaluate(std::vector<std::size_t>& known);
    void evaluate_all(const std::vector<std::size_t>& which);
    /// Returns a node with its facts. Thread-safe. Throws if its facts no longer exist.
    const site::FleetNode& node(std::size_t i);
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

    const Contents& contents(const std::shared_ptr<const Environment>& environment);
    /// Returns the other state of an environment that a node is compiled in, or null if it cannot
    /// be opened.
    std::shared_ptr<const Environment> other(const State& state, const Environment& environment);
    /// Returns the reads of a compile whose answers differ in the other state. With `first`,
    /// returns at most one.
    std::vector<Item> touched(const environment::Trace& trace,
                              const std::shared_ptr<const Environment>& before,
                              const std::shared_ptr<const Environment>& after, bool first);
    void judge(std::size_t i);
    /// Compiles nodes that collect resources again, because they see new exports only after the
    /// exporting nodes have run. Repeats this until no exports change.
    void follow_exports();
    /// Compiles these nodes in both states with the exports so far. Adds their own exports that
    /// differ from these to `changed`, and the changes found so far to `alone` unless it is null.
    void recompile_collectors(const std::vector<std::size_t>& collectors,
                              std::vector<std::set<std::string>>* alone, Exports (&changed)[2]);
    /// Adds the exports of both states. Returns false if they are known already.
    bool add_exports(const Exports (&changed)[2]);
    /// Records the changes of the collecting nodes. `alone` has those that do not need new exports.
    void record_collectors(const std::vector<std::size_t>& collectors,
                           const std::vector<std::set<std::string>>& alone);
    /// Returns the nodes that export the resource of a change differently than before.
    std::string exported_by(const Change& change, const std::vector<std::string>& all) const;
    static Verdict verdict(const CompileOutcome& a, const CompileOutcome& b,
                           const std::vector<Change>& found);
    static void add_findings(std::vector<Change>& out, std::vector<Change> before,
                             std::vector<Change> after);
    std::vector<Change> compare(const CompileOutcome& a, const CompileOutcome& b,
                                const Contents* of_b);
    /// Removes differences that also occur between two compiles of the same state.
    void drop_nondeterministic(const site::FleetNode& node, const CompileOutcome& a,
                               const CompileOutcome& b, std::vector<Change>& found,
                               const site::CollectorAnswer& answer_a = nullptr,
                               const site::CollectorAnswer& answer_b = nullptr);
    void record(std::size_t i, const std::vector<Change>& found);
    /// Adds changed plugins to every judged node, because every agent syncs the plugins of all
    /// modules. The verdict of a node does not change.
    void add_plugins(const Environment& to);
    NodeIdentity identity_of(std::size_t i) { return {nodes_[i].name, node(i).facts}; }
    /// Sorts the groups, so that the order does not depend on the threads.
    void order();
    void explain();
    /// Finds the causes of each group of a node by undoing one input after the other.
    void explain_by(std::uint32_t i);
    std::vector<Group*> groups_of(std::uint32_t i);
    Cause cause(const Input& input, const CompileOutcome& a, const CompileOutcome& b,
                compiler::ReadLocations& places_a, compiler::ReadLocations& places_b) const;
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

}  // namespace bunraku::insight
