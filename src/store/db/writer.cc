// SPDX-License-Identifier: Apache-2.0
#include "store/db/writer.h"

#include <algorithm>
#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "store/db/schema.h"
#include "store/db/secrets.h"
#include "store/db/statistics.h"
#include "store/db/support.h"
#include "store/db/upgrade.h"

namespace bunraku::store {

namespace {

base::Error system_error(std::string_view doing, const std::string& path, int code) {
    return {fmt::format("Could not {} {}: {}", doing, path, strerror(code)),
            static_cast<int>(code == ENOSPC ? Failure::Full : Failure::Unavailable)};
}

/// Creates the parent folders. Catalogs contain secrets, so other users have no access.
Result<void> make_parents(const std::string& path) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
        std::string folder = path.substr(0, at);
        if (::mkdir(folder.c_str(), 0750) == 0 || errno == EEXIST) continue;
        int code = errno;
        struct stat st;
        if (::stat(folder.c_str(), &st) == 0) continue;
        return std::unexpected(system_error("create the folder of the store", folder, code));
    }
    return {};
}

/// Creates the file if it does not exist, without opening an existing one. Closing a descriptor of
/// a database file drops every lock that SQLite holds on it in this process. Another process would
/// then treat the write-ahead log as abandoned and delete it.
Result<void> make_file(const std::string& path) {
    if (::mknod(path.c_str(), S_IFREG | 0600, 0) == 0) return {};
    const int code = errno;
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) {
        if (!S_ISDIR(status.st_mode)) return {};
        return std::unexpected(system_error("open the store", path, EISDIR));
    }
    return std::unexpected(system_error("open the store", path, code));
}

// The two keys of PostgreSQL's advisory lock: the program ("BUNR") and content.
constexpr const char* kLockShared = "SELECT pg_advisory_xact_lock_shared(1112886866, 1)";
constexpr const char* kExclusive = "pg_advisory_xact_lock(1112886866, 1)";
constexpr const char* kCommitLater = "SET LOCAL synchronous_commit = off";

}  // namespace

Result<std::unique_ptr<Writer>> Writer::open(const std::string& where, const Options& options) {
    if (where.empty()) return base::failure("The store has no path");
    bool file = !is_postgresql_url(where);
    if (file && !options.read_only) {
        BUNRAKU_TRY_VOID(make_parents(where));
        BUNRAKU_TRY_VOID(make_file(where));
    } else if (file && ::access(where.c_str(), R_OK) != 0) {
        int code = errno;
        return std::unexpected(system_error("open the store", where, code));
    }
    auto opened = BUNRAKU_TRY(Database::open(
        where, options.read_only ? Database::Access::Read : Database::Access::ReadWrite,
        options.busy_timeout_ms, options.limits));
    Database& db = *opened;
    if (file) {
        BUNRAKU_TRY_VOID(db.execute(fmt::format("PRAGMA cache_size = -{}", options.cache_kib)));
    }
    if (options.read_only) {
        BUNRAKU_TRY_VOID(check_schema(db));
        std::unique_ptr<Writer> reader(new Writer(std::move(opened)));
        reader->secrets_ = options.secrets;
        return reader;
    }
    if (file) {
        // Switching to the write-ahead log needs exclusive access to the file for a moment, and
        // SQLite does not wait for that.
        auto deadline = now_ms() + options.busy_timeout_ms;
        for (;;) {
            auto done = db.execute("PRAGMA journal_mode = WAL");
            if (done) break;
            if (failure_of(done.error()) != Failure::Retry || now_ms() > deadline) {
                return std::unexpected(std::move(done).error());
            }
            ::usleep(5000);
        }
        BUNRAKU_TRY_VOID(db.execute(options.durable ? "PRAGMA synchronous = FULL"
                                                    : "PRAGMA synchronous = NORMAL"));
        BUNRAKU_TRY_VOID(db.execute("PRAGMA wal_autocheckpoint = 24000"));
    } else if (!options.durable) {
        BUNRAKU_TRY_VOID(db.execute("SET synchronous_commit = off"));
    }
    bool old = BUNRAKU_TRY(migrate(db));
    // A migration replaces tables. With foreign keys, SQLite would delete the rows that refer to
    // them.
    if (file) BUNRAKU_TRY_VOID(db.execute("PRAGMA foreign_keys = ON"));
    std::unique_ptr<Writer> writer(new Writer(std::move(opened)));
    writer->secrets_ = options.secrets;
    writer->removals_ = options.removals;
    BUNRAKU_TRY(seal_clear_secrets(*writer));
    if (old) {
        BUNRAKU_TRY_VOID(convert_v1(*writer));
        // The dropped tables contained unencrypted Sensitive values.
        if (options.secrets) (void)compact(writer->db());
    }
    return writer;
}

Result<void> Writer::check_key() {
    if (!secrets_ || key_checked_) return {};
    const auto numbers = BUNRAKU_TRY(secrets_->numbers());
    BUNRAKU_ASSERT(!numbers.empty());
    const auto first = static_cast<std::int64_t>(numbers.front());
    const auto known = [&]() -> Result<std::int64_t> {
        Statement s =
            BUNRAKU_TRY(db_->prepare("SELECT value FROM store_meta WHERE name = 'secrets_key'"));
        return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
    };
    std::int64_t number = BUNRAKU_TRY(known());
    if (number == 0) {
        // If two servers start at the same time, only one of them stores its key.
        Statement s = BUNRAKU_TRY(
            db_->prepare("INSERT INTO store_meta (name, value) VALUES ('secrets_key', ?)"
                         " ON CONFLICT (name) DO NOTHING"));
        s.bind(first);
        BUNRAKU_TRY_VOID(s.run());
        number = BUNRAKU_TRY(known());
    }
    if (std::ranges::find(numbers, static_cast<std::uint64_t>(number)) == numbers.end()) {
        return base::failure(
            fmt::format(
                "The store {} was encrypted with the key {:016x}, which is not in {} "
                "(setting store_key): copy that file from the server that has it, or discard "
                "the encrypted values with 'bunraku db key adopt'",
                db_->path(), static_cast<std::uint64_t>(number), secrets_->path()),
            static_cast<int>(Failure::Other));
    }
    if (number != first) {
        Statement s =
            BUNRAKU_TRY(db_->prepare("UPDATE store_meta SET value = ? WHERE name = 'secrets_key'"));
        s.bind(first);
        BUNRAKU_TRY_VOID(s.run());
    }
    key_checked_ = true;
    return {};
}

std::int64_t Writer::lost_at() const { return history_ttl_ms_ > 0 ? now_ms() : 0; }

std::uint32_t Writer::kind_of(std::string_view type, bool exported, std::string_view title) {
    std::string key(type);
    key += exported ? '1' : '0';
    key += title;
    auto [at, fresh] = kind_numbers_.emplace(std::move(key), 0);
    if (fresh) {
        at->second = static_cast<std::uint32_t>(kinds_.size());
        kinds_.push_back({std::string(type), std::string(title), exported});
    }
    BUNRAKU_ASSERT(kinds_.size() == kind_numbers_.size() && at->second < kinds_.size());
    return at->second;
}

void Writer::forget() {
    resources.clear();
    tag_sets.clear();
    fact_name_sets.clear();
    kind_sets.clear();
    places.clear();
    kinds_.clear();
    kind_numbers_.clear();
    facts.clear();
    paths.clear();
    packages.clear();
    environments_.clear();
    producers_.clear();
    generation_ = -1;
    key_checked_ = false;
}

Result<Transaction> Writer::begin(bool durable, std::string_view certname) {
    read_node_.reset();
    std::int64_t now = 0, usable_since = 0, history = kHistoryTtl;
    const auto read_meta = [&](Statement& s) -> Result<void> {
        while (BUNRAKU_TRY(s.step())) {
            std::string_view name = s.text(0);
            (name == "generation"    ? now
             : name == "history_ttl" ? history
                                     : usable_since) = s.integer(1);
        }
        return {};
    };
    // On PostgreSQL, everything takes one round trip. The generation is read after the lock was
    // acquired.
    Statement meta =
        BUNRAKU_TRY(db_->prepare("SELECT name, value FROM store_meta"
                                 " WHERE name IN ('generation', 'usable_since', 'history_ttl')"));
    const auto begin_all = [&]() -> Result<Transaction> {
        if (!postgresql()) return Transaction::begin(*db_);
        Statement first = BUNRAKU_TRY(db_->prepare("BEGIN"));
        Statement lock = BUNRAKU_TRY(db_->prepare(kLockShared));
        std::optional<Statement> local, node;
        if (!durable) local.emplace(BUNRAKU_TRY(db_->prepare(kCommitLater)));
        if (!certname.empty()) node.emplace(BUNRAKU_TRY(node_statement(certname)));
        Transaction out = BUNRAKU_TRY(Transaction::begin_with(
            *db_, {&first, local ? &*local : nullptr, &lock, &meta, node ? &*node : nullptr}));
        if (node) {
            const bool found = BUNRAKU_TRY(node->step());
            read_node_.emplace(certname, found ? node_of(*node) : Node{});
        }
        return out;
    };
    Transaction transaction = BUNRAKU_TRY(begin_all());
    BUNRAKU_TRY_VOID(read_meta(meta));
    history_ttl_ms_ = history;
    if (!usable_with(usable_since)) {
        return base::failure(
            fmt::format("A newer program has migrated the store {}: upgrade this program",
                        db_->path()),
            static_cast<int>(Failure::Unavailable));
    }
    constexpr std::size_t kMaxKinds = 50000;
    if (kinds_.size() > kMaxKinds) forget();
    drop_removed(now);
    BUNRAKU_ASSERT(kinds_.size() == kind_numbers_.size());
    generation_ = now;
    return transaction;
}

Result<bool> Writer::run_alone(Statement& statement) {
    Statement first = BUNRAKU_TRY(db_->prepare("BEGIN"));
    Statement later = BUNRAKU_TRY(db_->prepare(kCommitLater));
    Statement lock = BUNRAKU_TRY(db_->prepare(kLockShared));
    Statement last = BUNRAKU_TRY(db_->prepare("COMMIT"));
    if (auto done = db_->run_together({&first, &later, &lock, &statement, &last}); !done) {
        (void)db_->execute("ROLLBACK");
        return std::unexpected(std::move(done).error());
    }
    return statement.step();
}

Result<void> Writer::sync() {
    if (!postgresql()) return {};
    // A commit that waits for the disk also waits for everything written before it.
    return db_->execute("UPDATE store_meta SET value = value + 1 WHERE name = 'synced'");
}

Result<Transaction> Writer::begin_removal() {
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(*db_));
    if (postgresql()) {
        BUNRAKU_TRY_VOID(db_->execute(fmt::format("SELECT {}", kExclusive)));
    }
    std::int64_t now = 0;
    {
        Statement s = BUNRAKU_TRY(
            db_->prepare("INSERT INTO store_meta (name, value) VALUES ('generation', 1)"
                         " ON CONFLICT (name) DO UPDATE SET value = store_meta.value + 1"
                         " RETURNING value"));
        if (BUNRAKU_TRY(s.step())) now = s.integer(0);
        BUNRAKU_TRY_VOID(s.run());
    }
    // If no other process has removed content, the cached ids are still valid except for those
    // removed now (see removed()). A caller that rolls back must call forget().
    drop_removed(now - 1);
    generation_ = now;
    return transaction;
}

Result<std::int64_t> Writer::next_search() {
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(*db_));
    if (postgresql()) {
        BUNRAKU_TRY_VOID(db_->execute(fmt::format("SELECT {}", kExclusive)));
    }
    BUNRAKU_TRY_VOID(
        db_->execute("INSERT INTO store_meta (name, value) VALUES ('search', 1)"
                     " ON CONFLICT (name) DO UPDATE SET value = store_meta.value + 1"));
    std::int64_t out = 0;
    {
        Statement s = BUNRAKU_TRY(db_->prepare(
            "SELECT sum(value) FROM store_meta WHERE name IN ('generation', 'search')"));
        if (BUNRAKU_TRY(s.step())) out = s.integer(0);
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return out;
}

void Writer::removed(RemovedContent content) {
    drop(content);
    if (removals_) removals_->add(generation_, std::move(content));
}

void Writer::drop_removed(std::int64_t until) {
    if (until == generation_) return;
    const auto removed = removals_ ? removals_->between(generation_, until) : std::nullopt;
    removed ? drop(*removed) : forget();
}

void Writer::drop(const RemovedContent& content) {
    const auto& [resource_ids, fact_ids, package_ids] = content;
    BUNRAKU_ASSERT(std::ranges::is_sorted(resource_ids) && std::ranges::is_sorted(fact_ids));
    BUNRAKU_ASSERT(std::ranges::is_sorted(package_ids));
    auto in = [](const std::vector<std::int64_t>& ids, std::int64_t id) {
        return std::binary_search(ids.begin(), ids.end(), id);
    };
    if (!resource_ids.empty()) {
        resources.erase_if([&](const ResourceRef& ref) { return in(resource_ids, ref.id); });
    }
    if (!fact_ids.empty()) {
        facts.erase_if([&](std::int64_t id) { return in(fact_ids, id); });
    }
    if (!package_ids.empty()) {
        packages.erase_if([&](std::int64_t id) { return in(package_ids, id); });
    }
}

Result<Statement> Writer::node_statement(std::string_view certname) {
    std::string sql =
        "SELECT id, deactivated, expired, latest_report_timestamp FROM certnames"
        " WHERE certname = ?";
    if (postgresql()) sql += " FOR UPDATE";
    Statement s = BUNRAKU_TRY(db_->prepare(sql));
    s.bind(certname);
    return s;
}

Writer::Node Writer::node_of(const Statement& s) {
    Node out;
    out.id = s.integer(0);
    if (!s.is_null(1)) out.deactivated = s.integer(1);
    if (!s.is_null(2)) out.expired = s.integer(2);
    if (!s.is_null(3)) out.latest_report_timestamp = s.integer(3);
    return out;
}

Result<Writer::Node> Writer::node(std::string_view certname, IfMissing missing) {
    Node out;
    // Returns a row that was read in advance. Other writers cannot change it, because it is locked.
    // This transaction can, so the row is used only once.
    const auto read = std::exchange(read_node_, std::nullopt);
    if (read && read->first == certname) {
        if (read->second.id != 0) return read->second;
    } else {
        Statement s = BUNRAKU_TRY(node_statement(certname));
        if (BUNRAKU_TRY(s.step())) return node_of(s);
    }
    if (missing == IfMissing::Skip) return out;
    {
        Statement s =
            BUNRAKU_TRY(db_->prepare("INSERT INTO certnames (certname) VALUES (?)"
                                     " ON CONFLICT (certname) DO NOTHING RETURNING id"));
        s.bind(certname);
        out.created = BUNRAKU_TRY(s.step());
        if (out.created) out.id = s.integer(0);
        // SQLite has inserted the row only when the statement is done.
        while (BUNRAKU_TRY(s.step())) {
        }
    }
    // Another server inserted the row first, and its row is used.
    if (!out.created) {
        out = BUNRAKU_TRY(node(certname, IfMissing::Skip));
        if (out.id == 0) {
            return base::failure("The node was removed meanwhile",
                                 static_cast<int>(Failure::Retry));
        }
    }
    return out;
}

Result<void> Writer::reactivate(const Node& node, std::int64_t timestamp) {
    BUNRAKU_ASSERT(node.id != 0);
    bool newer = (node.deactivated && node.deactivated < timestamp) ||
                 (node.expired && node.expired < timestamp);
    if (!newer) return {};
    Statement s = BUNRAKU_TRY(
        db_->prepare("UPDATE certnames SET deactivated = NULL, expired = NULL WHERE id = ?"));
    s.bind(node.id);
    return s.run_later();
}

Result<std::int64_t> Writer::named(const char* table,
                                   std::unordered_map<std::string, std::int64_t>& known,
                                   std::string_view name) {
    if (name.empty()) return 0;
    std::string key(name);
    auto found = known.find(key);
    if (found != known.end()) return found->second;
    std::int64_t id = 0;
    {
        Statement s =
            BUNRAKU_TRY(db_->prepare(fmt::format("SELECT id FROM {} WHERE name = ?", table)));
        s.bind(name);
        if (BUNRAKU_TRY(s.step())) id = s.integer(0);
    }
    if (id == 0) {
        Statement s = BUNRAKU_TRY(db_->prepare(
            fmt::format("INSERT INTO {} (name) VALUES (?)"
                        " ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
                        table)));
        s.bind(name);
        if (!BUNRAKU_TRY(s.step())) return base::failure("The name could not be stored");
        id = s.integer(0);
        while (BUNRAKU_TRY(s.step())) {
        }
    }
    if (known.size() > 10000) known.clear();
    known.emplace(std::move(key), id);
    return id;
}

Result<std::int64_t> Writer::environment(std::string_view name) {
    return named("environments", environments_, name);
}

Result<std::int64_t> Writer::producer(std::string_view name) {
    return named("producers", producers_, name);
}

}  // namespace bunraku::store
