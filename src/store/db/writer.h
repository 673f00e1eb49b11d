// SPDX-License-Identifier: Apache-2.0
// A connection for writing, and its cache of the ids of names and content. The cache persists
// between commands, so most of what a node sends needs no lookup.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "core/codec/sha1.h"
#include "store/db/database.h"
#include "store/db/removals.h"
#include "store/query/dialect.h"

namespace bunraku::store {

using Digest = codec::Sha1Digest;
using codec::bytes_of;
using codec::digest_from;
using codec::DigestHash;
using codec::Sha1;
using codec::sha1;
using query::Dialect;

/// A map with at most about `limit` entries, which evicts entries that were not used recently.
template <class Key, class Value, class Hash = std::hash<Key>>
class RecentMap {
public:
    explicit RecentMap(std::size_t limit) : limit_(limit) {}
    const Value* find(const Key& key) {
        auto at = young_.find(key);
        if (at != young_.end()) return &at->second;
        at = old_.find(key);
        if (at == old_.end()) return nullptr;
        // A copy, because put() may drop the old half.
        return &put(key, Value(at->second));
    }
    const Value& put(const Key& key, Value value) {
        if (young_.size() >= limit_ / 2) {
            old_ = std::move(young_);
            young_.clear();
        }
        return young_[key] = std::move(value);
    }
    void clear() {
        young_.clear();
        old_.clear();
    }
    template <class Gone>
    void erase_if(const Gone& gone) {
        std::erase_if(young_, [&](const auto& entry) { return gone(entry.second); });
        std::erase_if(old_, [&](const auto& entry) { return gone(entry.second); });
    }
    std::size_t size() const { return young_.size() + old_.size(); }

private:
    std::unordered_map<Key, Value, Hash> young_, old_;
    std::size_t limit_;
};

/// Values of gc_candidates.kind.
enum GcKind : int { kGcResources = 1, kGcFacts = 2, kGcPackages = 3 };

class Secrets;

/// Default retention time of the history: 90 days.
constexpr std::int64_t kHistoryTtl = 90LL * 86400 * 1000;

class Writer {
public:
    struct Options {
        bool read_only = false;
        bool durable = true;
        int busy_timeout_ms = 20000;
        int cache_kib = 16384;  ///< SQLite's page cache
        WaitLimits limits = {};
        /// Keys for Sensitive values. If null, Sensitive values are not stored.
        std::shared_ptr<Secrets> secrets = {};
        /// Shared by the writers of a process. If null, removals by others invalidate the cache.
        std::shared_ptr<Removals> removals = {};
    };
    /// Opens the database, and creates or migrates its tables. Files are created with mode 0600,
    /// together with their parent folders.
    static Result<std::unique_ptr<Writer>> open(const std::string& where, const Options& options);

    Database& db() { return *db_; }
    /// Returns Options::secrets.
    const std::shared_ptr<Secrets>& secrets() const { return secrets_; }
    /// Fails if the store uses another key. Call it in a transaction before encrypting.
    Result<void> check_key();
    const Dialect& dialect() const { return dialect_; }
    bool postgresql() const { return db_->postgresql(); }

    /// Begins a transaction for one or several commands. Drops cached ids of content that other
    /// processes have removed. No content can be removed while the transaction is open. If
    /// `durable` is false, PostgreSQL may commit before the data is on disk (see sync()). If
    /// `certname` is not empty, the next call of node() for it needs no round trip.
    Result<Transaction> begin(bool durable = true, std::string_view certname = {});
    /// Runs a statement as a transaction of its own, in one round trip and without using cached
    /// ids. Returns whether the statement returned a row. PostgreSQL may commit before the data is
    /// on disk. PostgreSQL only.
    Result<bool> run_alone(Statement& statement);
    /// Begins a transaction that may remove content. Waits for all other writers and invalidates
    /// their caches.
    Result<Transaction> begin_removal();
    /// Waits for all other writers, and returns a number that is larger than `generation` of all
    /// lists of source locations written so far, and not larger than that of any later one. Unlike
    /// begin_removal(), it leaves the caches of other writers valid.
    Result<std::int64_t> next_search();
    /// Drops removed ids from the caches of all writers of this process. Call it after such a
    /// transaction was committed.
    void removed(RemovedContent content);
    /// Waits until everything that this connection has committed is on disk. PostgreSQL only.
    Result<void> sync();
    /// Clears the cache. Call it after a transaction or a savepoint was rolled back, because the
    /// cache may contain ids that do not exist.
    void forget();

    struct Node {
        std::int64_t id = 0;
        bool created = false;
        std::int64_t deactivated = 0, expired = 0;  ///< 0 means null
        std::int64_t latest_report_timestamp = INT64_MIN;
    };
    enum class IfMissing : std::uint8_t { Create, Skip };
    /// Returns the node's row, locked against other writers. If the node does not exist and is not
    /// created, the id is 0.
    Result<Node> node(std::string_view certname, IfMissing missing);
    /// Reactivates a node if `timestamp` is newer than its deactivation or expiry.
    Result<void> reactivate(const Node& node, std::int64_t timestamp);
    /// Returns the id of the environment; 0 (stored as null) if `name` is empty.
    Result<std::int64_t> environment(std::string_view name);
    Result<std::int64_t> producer(std::string_view name);

    /// A resource's id and row hash. The map below finds it by the digest of the received bytes,
    /// and by its row hash.
    struct ResourceRef {
        std::int64_t id = 0;
        Digest row_hash;
        std::uint32_t type_kind = 0;  ///< see kind_of(); without a title
        std::uint32_t kind = 0;       ///< with a title for classes
        std::int64_t place = 0;       ///< source location, see source_locations.h
    };
    RecentMap<Digest, ResourceRef, DigestHash> resources{120000};
    RecentMap<Digest, std::int64_t, DigestHash> tag_sets{20000};  ///< by the hash of their JSON
    RecentMap<Digest, std::int64_t, DigestHash> fact_name_sets{2000};  ///< by their names
    RecentMap<Digest, std::int64_t, DigestHash> kind_sets{5000};       ///< see kind_sets.h
    RecentMap<Digest, std::int64_t, DigestHash> places{20000};         ///< by Place::hash
    RecentMap<Digest, std::int64_t, DigestHash> facts{60000};          ///< by name and match
    RecentMap<Digest, std::int64_t, DigestHash> paths{20000};          ///< by type and path
    RecentMap<Digest, std::int64_t, DigestHash> packages{40000};  ///< by name, version, provider

    /// Returns the time to record for content that a node loses now, in milliseconds. 0 means that
    /// no history is stored.
    std::int64_t lost_at() const;
    /// Returns how long the history is retained. The database stores this setting for all programs
    /// that use it.
    std::int64_t history_ttl_ms() const { return history_ttl_ms_; }

    /// A resource type and whether the resources are exported, represented by a number that is
    /// valid until forget().
    struct Kind {
        std::string type, title;
        bool exported = false;
    };
    std::uint32_t kind_of(std::string_view type, bool exported, std::string_view title = {});
    const Kind& kind(std::uint32_t number) const {
        BUNRAKU_ASSERT(number < kinds_.size());
        return kinds_[number];
    }

private:
    explicit Writer(std::unique_ptr<Database> db) : db_(std::move(db)), dialect_(db_->backend()) {}
    /// Drops the ids that were removed in later generations than the cache's, up to `until`.
    void drop_removed(std::int64_t until);
    void drop(const RemovedContent& content);
    Result<Statement> node_statement(std::string_view certname);
    static Node node_of(const Statement& s);
    Result<std::int64_t> named(const char* table,
                               std::unordered_map<std::string, std::int64_t>& known,
                               std::string_view name);
    std::unique_ptr<Database> db_;
    std::shared_ptr<Secrets> secrets_;
    std::shared_ptr<Removals> removals_;
    bool key_checked_ = false;
    Dialect dialect_;
    std::int64_t generation_ = -1;
    std::int64_t history_ttl_ms_ = kHistoryTtl;
    std::unordered_map<std::string, std::int64_t> environments_, producers_;
    /// The row that begin() has read.
    std::optional<std::pair<std::string, Node>> read_node_;
    std::vector<Kind> kinds_;
    std::unordered_map<std::string, std::uint32_t> kind_numbers_;
};

/// Binds the id, or null if it is 0.
inline Statement& bind_id(Statement& s, std::int64_t id) { return id ? s.bind(id) : s.bind_null(); }

}  // namespace bunraku::store
