// A connection that writes, and what it remembers between commands: identifiers of names and of
// content, so that most of what a node sends is not looked up again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/codec/sha1.h"
#include "store/db/database.h"
#include "store/query/dialect.h"

namespace bunraku::store {

using Digest = codec::Sha1Digest;
using codec::bytes_of;
using codec::digest_from;
using codec::DigestHash;
using codec::Sha1;
using codec::sha1;
using query::Dialect;

/// A map that forgets what was not asked for lately, once it has `limit` entries.
template <class Key, class Value, class Hash = std::hash<Key>>
class RecentMap {
public:
    explicit RecentMap(std::size_t limit) : limit_(limit) {}
    const Value* find(const Key& key) {
        auto at = young_.find(key);
        if (at != young_.end()) return &at->second;
        at = old_.find(key);
        if (at == old_.end()) return nullptr;
        return &put(key, at->second);
    }
    const Value& put(const Key& key, const Value& value) {
        if (young_.size() >= limit_ / 2) {
            old_ = std::move(young_);
            young_.clear();
        }
        return young_[key] = value;
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

/// What gc_candidates.kind says.
enum GcKind : int { kGcResources = 1, kGcFacts = 2, kGcPackages = 3 };

class Secrets;

/// Where nobody has said otherwise: 90 days.
constexpr std::int64_t kHistoryTtl = 90LL * 86400 * 1000;

class Writer {
public:
    struct Options {
        bool read_only = false;
        bool durable = true;
        int busy_timeout_ms = 20000;
        int cache_kib = 16384;  ///< SQLite's page cache
        /// Null: what is Sensitive is not kept.
        std::shared_ptr<Secrets> secrets = {};
    };
    /// Opens the database, and makes or migrates its tables. Files are made 0600, with the folders
    /// above them.
    static Result<std::unique_ptr<Writer>> open(const std::string& where, const Options& options);

    Database& db() { return *db_; }
    /// See Options.
    const std::shared_ptr<Secrets>& secrets() const { return secrets_; }
    /// In a transaction, before something is encrypted: fails where the store's key is another.
    Result<void> check_key();
    const Dialect& dialect() const { return dialect_; }
    bool postgresql() const { return db_->postgresql(); }

    /// The transaction of one or several commands. Content that others removed meanwhile is
    /// forgotten; nobody removes any while it is open.
    /// `durable` false: PostgreSQL need not have it on disk when it is committed (see sync).
    Result<Transaction> begin(bool durable = true);
    /// Content may be removed: waits for every other writer, and tells them afterwards.
    Result<Transaction> begin_removal();
    /// After such a transaction: what is gone is not remembered any more (sorted identifiers).
    void removed(const std::vector<std::int64_t>& resources, const std::vector<std::int64_t>& facts,
                 const std::vector<std::int64_t>& packages);
    /// PostgreSQL: everything this connection has committed is on disk when it returns.
    Result<void> sync();
    /// After a transaction or a savepoint was undone: what was made in it is not there.
    void forget();

    struct Node {
        std::int64_t id = 0;
        bool created = false;
        std::int64_t deactivated = 0, expired = 0;  ///< 0: null
        std::int64_t latest_report_timestamp = INT64_MIN;
    };
    /// The node's row, locked against other writers. id 0: unknown (only without `create`).
    Result<Node> node(std::string_view certname, bool create);
    /// Something newer than a deactivation or expiry makes a node active again.
    Result<void> reactivate(const Node& node, std::int64_t timestamp);
    /// 0: none was said (to be stored as null).
    Result<std::int64_t> environment(std::string_view name);
    Result<std::int64_t> producer(std::string_view name);

    /// resources.id and row hash, by the digest of the bytes that came (and by row hash).
    struct ResourceRef {
        std::int64_t id = 0;
        Digest row_hash;
        std::uint32_t type_kind = 0;  ///< see kind_of; without a title
        std::uint32_t kind = 0;       ///< classes with their titles
        std::int64_t place = 0;       ///< where it is declared, see places.h
    };
    RecentMap<Digest, ResourceRef, DigestHash> resources{120000};
    RecentMap<Digest, std::int64_t, DigestHash> tag_sets{20000};  ///< by the hash of their JSON
    RecentMap<Digest, std::int64_t, DigestHash> fact_name_sets{2000};  ///< by their names
    RecentMap<Digest, std::int64_t, DigestHash> kind_sets{5000};       ///< see kind_sets.h
    RecentMap<Digest, std::int64_t, DigestHash> places{20000};         ///< by Place::hash
    RecentMap<Digest, std::int64_t, DigestHash> facts{60000};          ///< by name and match
    RecentMap<Digest, std::int64_t, DigestHash> paths{20000};          ///< by type and path
    RecentMap<Digest, std::int64_t, DigestHash> packages{40000};  ///< by name, version, provider

    /// When what a node loses now is lost, in milliseconds; 0: nothing is kept of what was.
    std::int64_t lost_at() const;
    /// How long it is kept: as the database says, for all programs on it.
    std::int64_t history_ttl_ms() const { return history_ttl_ms_; }

    /// A type, and whether such resources are exported, as a number; good until forget().
    struct Kind {
        std::string type, title;
        bool exported = false;
    };
    std::uint32_t kind_of(std::string_view type, bool exported, std::string_view title = {});
    const Kind& kind(std::uint32_t number) const { return kinds_[number]; }

private:
    explicit Writer(std::unique_ptr<Database> db) : db_(std::move(db)), dialect_(db_->backend()) {}
    Result<std::int64_t> named(const char* table,
                               std::unordered_map<std::string, std::int64_t>& known,
                               std::string_view name);
    std::unique_ptr<Database> db_;
    std::shared_ptr<Secrets> secrets_;
    bool key_checked_ = false;
    Dialect dialect_;
    std::int64_t generation_ = -1;
    std::int64_t history_ttl_ms_ = kHistoryTtl;
    std::unordered_map<std::string, std::int64_t> environments_, producers_;
    std::vector<Kind> kinds_;
    std::unordered_map<std::string, std::uint32_t> kind_numbers_;
};

/// Null for 0.
inline Statement& bind_id(Statement& s, std::int64_t id) { return id ? s.bind(id) : s.bind_null(); }

/// Converts the catalogs that migrate() has put aside from schema 1. Defined in the engine, which
/// stores catalogs.
Result<void> convert_v1(Writer& writer);

}  // namespace bunraku::store
