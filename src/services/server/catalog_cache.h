// A fleet at rest: while nothing that a node's last compile read has changed, its catalog is given
// again without a compile (docs/design/0106).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compile/site/session.h"
#include "core/base/diagnostic.h"
#include "core/sys/file_system.h"
#include "language/environment/trace.h"
#include "services/server/cache_reasons.h"
#include "services/server/trace_cache.h"

namespace bunraku::server {

/// The newest catalog of each node, in files, with what has to be unchanged for it to be given
/// again. Thread-safe.
class CatalogCache {
public:
    /// What a server before this one kept in `folder` is given again where it was the same
    /// `program` (KeptTraces).
    /// Encrypted with `secrets`, where there are some.
    CatalogCache(std::string folder, base::LogSink& log, std::string program = {},
                 std::shared_ptr<store::Secrets> secrets = {});

    /// Which catalog of a node: environment and form make different ones.
    struct Key {
        std::string node, environment, form;
        std::string text() const { return node + '\n' + environment + '\n' + form; }
    };
    struct CachedCatalog {
        std::string etag;    ///< without quotes: a digest of the JSON
        std::string digest;  ///< of what stands in the file
        /// The paths of the facts that count, for compiler::facts_fingerprint.
        std::shared_ptr<const std::vector<std::string>> facts;
        /// Now and then, although nothing changed: it may be given, but is to be compiled all the
        /// same, for compare() or keep().
        bool to_compare = false;
    };

    /// The catalog that a compile of this session would give but for its stamps; nullopt: it has to
    /// be compiled. The session need not have facts where their fingerprint is given.
    std::optional<CachedCatalog> find(const Key& key, site::Session& session,
                                      const std::string* fingerprint = nullptr);
    /// The JSON that find() found, packed by gzip; nullopt: it is gone.
    std::optional<std::string> packed(const Key& key, const CachedCatalog& kept) const;

    /// Keeps what was compiled since `began` (of the wall clock), where all that it read can be
    /// looked at again. `seen`: what it was made from beside that. An error of the disk is logged.
    /// What a later find() would give; nullopt: nothing was kept.
    std::optional<CachedCatalog> keep(const Key& key, site::Session& session,
                                      const site::Compiled& compiled, const std::string& json,
                                      std::vector<SeenPath> seen, std::int64_t began_ns);

    /// What was found and is `to_compare`, with what was compiled of this session since.
    void compare(const Key& key, site::Session& session, const std::string& json);

    /// What is kept is not given again.
    void clear();

    std::uint64_t answered() const { return answered_; }
    /// Why catalogs were compiled, or that they were given.
    const CacheReasons& reasons() const { return reasons_; }
    std::size_t size() const;

private:
    /// What is known of an environment's files, for all nodes in it.
    struct Place {
        std::mutex mutex;
        std::shared_ptr<const environment::Environment> environment;
        std::uint64_t revision = 1;  ///< changes with any file that an entry watches
        struct Watched {
            environment::Stamp stamp;
            std::chrono::steady_clock::time_point checked;
        };
        std::unordered_map<std::string, Watched> paths;
        std::vector<std::string> changed;  ///< paths that changed, the newest last; a few
        /// By read, what it and its answer at this revision add to a world.
        std::unordered_map<std::uint64_t, std::uint64_t> answers;
        std::atomic<bool> distrusted =
            false;  ///< a comparison failed: nothing is kept until clear()
    };
    /// Files and folders; their texts are the table's. Nodes that do the same watch the same: a
    /// site with a hundred modules has thousands of them for each.
    struct Paths {
        std::shared_ptr<environment::ReadTable> table;
        std::vector<std::string_view> list;  ///< sorted
    };
    struct Entry {
        std::shared_ptr<environment::ReadTable> table;
        std::shared_ptr<const environment::Trace> trace;
        std::shared_ptr<const Paths> paths;             ///< that it watches
        std::vector<environment::ReadTable::Item> own;  ///< reads that each request answers anew
        std::vector<SeenPath> seen;
        std::uint64_t revision = 0;            ///< of the place, when `world` was last right
        std::uint64_t world = 0, of_node = 0;  ///< what these reads answered
        std::string fingerprint;               ///< of the facts
        /// By path of `kept.facts` and by `own`, their answers; empty after a restart.
        std::vector<std::uint64_t> fact_answers, own_answers;
        std::string version;  ///< of the environment's config_version; empty: it has none
        CachedCatalog kept;
        std::int64_t since_ns = 0;  ///< of the wall clock
        std::string text_digest;    ///< of the JSON without its stamps
        /// environment::Files::moment() when `paths` were looked at, and when `seen` was right.
        std::uint64_t looked_at = 0;
        mutable std::atomic<std::uint64_t> seen_at = 0;
        std::atomic<bool> compare = false;  ///< the next compile is a test of what is kept
    };
    /// Sets `paths` and `own`, out of the trace.
    void sort_reads(Entry& entry);
    std::shared_ptr<const Paths> one_of(Paths paths);

    std::shared_ptr<Place> place(const std::string& environment);
    void look_at(Place& place, Entry& entry, const environment::Files& files,
                 std::chrono::steady_clock::time_point asked);
    /// Returns the reads whose answers a compile of this session cannot see again.
    static std::vector<std::string> unseen_reads(site::Session& session,
                                                 const environment::Trace& trace);
    std::uint64_t inputs_of(Place& place, const compiler::InputsSnapshot& world,
                            const environment::Trace& trace);
    /// Whether what each request asks anew, and the files behind sources, are as they were.
    static bool asks_the_same(const Entry& entry, const compiler::InputsSnapshot& world,
                              site::Session& session);
    /// Whether nothing that the entry watches has changed since it was found, so that a compile in
    /// between had to give the same.
    bool unmoved(Place& where, Entry& entry, site::Session& session);
    /// What is kept of this environment proved wrong.
    void distrust(const Key& key, Place& where);
    void forget(const std::string& key);
    /// From the disk; null: nothing is kept.
    std::shared_ptr<Entry> recall(const std::string& key, site::Session& session);
    void remember(const std::string& key, const Entry& entry);
    std::string file_of(const std::string& key) const;

    void explain_facts(const Key& key, const Entry& entry, const compiler::InputsSnapshot& world);
    void explain_own(const Key& key, const Entry& entry, const compiler::InputsSnapshot& world,
                     site::Session& session);
    /// Records why the catalog that was just compiled is not kept; returns nullopt.
    std::optional<CachedCatalog> not_kept(const Key& key, std::string reason,
                                          std::vector<std::string> details = {});

    CacheReasons reasons_;
    std::string folder_;
    base::LogSink& log_;
    std::shared_ptr<store::Secrets> secrets_;
    TraceCache traces_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Place>> places_;
    std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
    /// By a sum over them, those that entries have in common.
    std::unordered_map<std::size_t, std::weak_ptr<const Paths>> paths_;
    std::atomic<std::uint64_t> answered_{0}, asked_{0};
};

}  // namespace bunraku::server
