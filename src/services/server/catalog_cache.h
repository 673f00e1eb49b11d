// SPDX-License-Identifier: Apache-2.0
// The catalog cache. The server returns a node's catalog again without a compile, as long as
// nothing that its last compile read has changed (docs/design/0106).
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

/// The newest catalog of each node, stored in files together with the inputs that must be
/// unchanged. Thread-safe.
class CatalogCache {
public:
    /// Returns content_mark() of a path.
    using ContentMark = std::function<std::string(const std::string& path)>;
    /// Loads the catalogs that an earlier server cached in `folder`, if it was the same `program`
    /// (see TraceCache). If `secrets` is not null, the files are encrypted. Without `mark`, files
    /// are compared by their stamps only.
    CatalogCache(std::string folder, base::LogSink& log, std::string program = {},
                 std::shared_ptr<store::Secrets> secrets = {}, ContentMark mark = {});

    /// Identifies a catalog of a node; environment and form distinguish several ones.
    struct Key {
        std::string node, environment, form;
        std::string text() const { return node + '\n' + environment + '\n' + form; }
    };
    struct CachedCatalog {
        std::string etag;    ///< digest of the JSON, without quotes
        std::string digest;  ///< digest of the file's content
        /// The paths of the facts that the catalog depends on, for compiler::facts_fingerprint.
        std::shared_ptr<const std::vector<std::string>> facts;
        /// True for a sample of the requests. The catalog may be returned, but it must also be
        /// compiled and passed to compare() or keep().
        bool to_compare = false;
    };

    /// Returns the catalog that a compile of this session would produce, except for its stamps.
    /// Returns nullopt if it must be compiled. The session needs no facts if `fingerprint` is
    /// given.
    std::optional<CachedCatalog> find(const Key& key, site::Session& session,
                                      const std::string* fingerprint = nullptr);
    /// Returns the JSON of a catalog that find() returned, compressed with gzip. Returns nullopt if
    /// it was removed.
    std::optional<std::string> packed(const Key& key, const CachedCatalog& catalog) const;

    /// Caches a catalog whose compile started at `began_ns` (wall clock), provided that all its
    /// reads can be checked later. `seen` lists further input files. Logs disk errors. Returns the
    /// entry that find() will return, or nullopt if the catalog was not cached.
    std::optional<CachedCatalog> keep(const Key& key, site::Session& session,
                                      const site::Compiled& compiled, const std::string& json,
                                      std::vector<SeenPath> seen, std::int64_t began_ns);

    /// Compares a cached catalog that is `to_compare` with the one compiled from this session.
    void compare(const Key& key, site::Session& session, const std::string& json);

    /// Invalidates all cached catalogs.
    void clear();

    std::uint64_t answered() const { return answered_; }
    /// Counts the catalogs from the cache, and the compiled ones by the reason.
    const CacheReasons& reasons() const { return reasons_; }
    std::size_t size() const;

private:
    /// The state of the files of a version of an environment, shared by all its nodes.
    struct EnvironmentState {
        std::mutex mutex;
        std::shared_ptr<const environment::Environment> environment;
        /// Changes when a watched file changes. No two states have the same one.
        std::uint64_t revision = 0;
        std::uint16_t number = 0;     ///< part of moments in entries
        std::uint64_t last_used = 0;  ///< guarded by the cache's mutex
        struct Watched {
            environment::Stamp stamp;
            std::chrono::steady_clock::time_point checked;
        };
        std::unordered_map<std::string, Watched> paths;
        /// the paths that changed last, newest at the end; limited
        std::vector<std::string> changed;
        /// Maps a read to the number that it adds, with its answer at this revision, to the sum
        /// `world` of an entry.
        std::unordered_map<std::uint64_t, std::uint64_t> answers;
        /// True after a failed comparison; nothing is cached until clear(). Shared by all versions
        /// of the environment.
        std::shared_ptr<std::atomic<bool>> distrusted;
    };
    /// Returns Files::moment() of a state, combined with the number of the state, so that no other
    /// state has the same value. 0 means unknown.
    static std::uint64_t moment_of(const EnvironmentState& state, const environment::Files& files) {
        const auto moment = files.moment();
        return moment ? *moment << 16 | state.number : 0;
    }
    /// Paths of files and folders, whose texts belong to the table. Nodes with the same roles share
    /// the list, because a site with a hundred modules has thousands of paths per node.
    struct Paths {
        std::shared_ptr<environment::ReadTable> table;
        std::vector<std::string_view> list;  ///< in sorted order
    };
    struct Entry {
        std::shared_ptr<environment::ReadTable> table;
        std::shared_ptr<const environment::Trace> trace;
        std::shared_ptr<const Paths> paths;  ///< watched paths
        /// reads that each request must answer again
        std::vector<environment::ReadTable::Item> own;
        mutable std::mutex seen_mutex;  ///< guards the stamps in `seen`
        mutable std::vector<SeenPath> seen;
        /// revision of the state for which `world` was last correct
        std::atomic<std::uint64_t> revision = 0;
        std::uint64_t world = 0;    ///< sum over the reads in the trace, except `own`
        std::uint64_t of_node = 0;  ///< sum over `own`
        std::string fingerprint;    ///< fingerprint of the facts
        /// Answers to the reads of the facts in `catalog.facts` and to those in `own`, in the same
        /// order. Empty after a restart.
        std::vector<std::uint64_t> fact_answers, own_answers;
        std::string version;  ///< result of the environment's config_version; may be empty
        CachedCatalog catalog;
        std::int64_t since_ns = 0;  ///< wall-clock time
        std::string text_digest;    ///< digest of the JSON without its stamps
        /// Values of moment_of() when `paths` were last checked and when `seen` was last correct.
        std::atomic<std::uint64_t> looked_at = 0;
        mutable std::atomic<std::uint64_t> seen_at = 0;
        std::atomic<bool> compare = false;  ///< the next compile verifies the entry
    };
    /// Sets `paths` and `own` from the trace.
    void sort_reads(Entry& entry);
    std::shared_ptr<const Paths> one_of(Paths paths);

    /// Returns the state for the version of the environment that the session has opened.
    std::shared_ptr<EnvironmentState> state_of(const site::Session& session);
    std::uint64_t next_revision() { return ++revisions_; }
    bool same(SeenPath& seen, const environment::Files& files) const;
    void check_paths(EnvironmentState& state, Entry& entry, const environment::Files& files,
                     std::chrono::steady_clock::time_point asked);
    /// Returns the reads whose answers a compile of this session cannot check again.
    static std::vector<std::string> unseen_reads(site::Session& session,
                                                 const environment::Trace& trace);
    std::uint64_t inputs_of(EnvironmentState& state, const compiler::InputsSnapshot& world,
                            const environment::Trace& trace);
    /// Reports whether the reads that each request answers again, and the files of sources, are
    /// unchanged.
    bool own_reads_unchanged(const EnvironmentState& state, const Entry& entry,
                             const compiler::InputsSnapshot& world, site::Session& session) const;
    /// Reports whether nothing that the entry watches has changed since it was found. A compile in
    /// between must then give the same catalog.
    bool nothing_changed(EnvironmentState& state, Entry& entry, site::Session& session);
    /// Marks the environment as distrusted, because one of its cached catalogs was wrong.
    void distrust(const Key& key, EnvironmentState& state);
    void forget(const std::string& key);
    /// Loads an entry from disk. Returns null if there is none.
    std::shared_ptr<Entry> recall(const std::string& key, site::Session& session);
    void remember(const std::string& key, const Entry& entry);
    std::string file_of(const std::string& key) const;

    void explain_facts(const Key& key, const Entry& entry, const compiler::InputsSnapshot& world);
    void explain_own(const Key& key, const Entry& entry, const compiler::InputsSnapshot& world,
                     site::Session& session);
    /// Records why the catalog that was just compiled is not cached. Returns nullopt.
    std::optional<CachedCatalog> not_cached(const Key& key, std::string reason,
                                            std::vector<std::string> details = {});

    CacheReasons reasons_;
    std::string folder_;
    base::LogSink& log_;
    std::shared_ptr<store::Secrets> secrets_;
    ContentMark mark_;
    TraceCache traces_;
    std::atomic<std::uint64_t> revisions_{0};
    mutable std::mutex mutex_;
    struct Environment {
        std::map<std::string, std::shared_ptr<EnvironmentState>> states;  ///< by folder
        std::shared_ptr<std::atomic<bool>> distrusted = std::make_shared<std::atomic<bool>>(false);
    };
    std::map<std::string, Environment> environments_;
    std::uint64_t uses_ = 0;
    std::uint16_t states_ = 0;  ///< number of the last state
    std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
    /// Lists of paths that entries share, by a sum over the paths.
    std::unordered_map<std::size_t, std::weak_ptr<const Paths>> paths_;
    std::atomic<std::uint64_t> answered_{0}, asked_{0};
};

}  // namespace bunraku::server
