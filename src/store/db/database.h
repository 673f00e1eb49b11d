// One connection to a database, SQLite or PostgreSQL, behind one interface: statements with "?" for
// values, typed columns, transactions, errors as Results. Only this folder includes it.
//
// SQL is written once. Where the dialects differ, dialect.h has the words. Placeholders are "?" or
// "?1" ("??" is the operator "?" of PostgreSQL); texts of statements are ours, values are bound.
// Booleans are the numbers 0 and 1, times are milliseconds since the epoch in a bigint, hashes are
// bytes (BLOB, bytea), JSON is TEXT (SQLite) or jsonb (PostgreSQL), on both backends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/result.h"
#include "store/query/dialect.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bunraku::store {

using base::Result;

class Database;
struct PgConnection;
struct PgStatement;

using query::Backend;

/// What kind of trouble an error of this folder is; Error::code holds one of these.
enum class Failure : int {
    None = 0,
    Other = 7001,
    Retry,        ///< deadlock, serialization, locked for too long: the same again may work
    Unavailable,  ///< the connection is gone, or the server does not answer
    Full,         ///< no space left
    Constraint,   ///< a uniqueness or other rule was broken
    Query,        ///< the statement is at fault: a bad regular expression, a wrong type
    Timeout,      ///< cancelled: over its time limit, or interrupted
};
Failure failure_of(const base::Error& error);

/// A prepared statement in use. Goes back to its connection, reset, when it dies.
class Statement {
public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    Statement& bind(std::string_view text);
    Statement& bind(const char* text) { return bind(std::string_view(text)); }
    Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
    Statement& bind(std::int64_t number);
    Statement& bind(int number) { return bind(static_cast<std::int64_t>(number)); }
    Statement& bind(std::size_t number) { return bind(static_cast<std::int64_t>(number)); }
    Statement& bind(bool flag) { return bind(static_cast<std::int64_t>(flag)); }
    Statement& bind(double number);
    Statement& bind_blob(std::string_view bytes);
    Statement& bind_null();
    /// The text, or null where it is empty.
    Statement& bind_optional(std::string_view text);
    template <class T>
    Statement& bind(const std::optional<T>& value) {
        return value ? bind(*value) : bind_null();
    }
    /// PostgreSQL only: one parameter of type bigint[], text[] or bytea[].
    Statement& bind_array(std::span<const std::int64_t> numbers);
    Statement& bind_array(std::span<const std::string_view> texts);
    Statement& bind_blob_array(std::span<const std::string_view> blobs);

    /// True: there is a row. False: done.
    Result<bool> step();
    /// Runs it to its end.
    Result<void> run();
    /// Ready to be bound and run again.
    void reset();
    /// PostgreSQL: rows come as they are made, and are not collected first. No other statement of
    /// the connection may run until this one is done. SQLite always does so.
    void stream();

    int columns() const;
    std::string_view name(int column) const;
    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    bool boolean(int column) const { return integer(column) != 0; }
    /// Valid until the next step. Numbers as their text.
    std::string_view text(int column) const;
    std::string_view blob(int column) const;
    /// As SQLite has it, or as the column's type is in PostgreSQL.
    enum class Type { Null, Integer, Real, Text, Blob };
    Type type(int column) const;

private:
    friend class Database;
    Statement(Database* db, sqlite3_stmt* raw, bool once) : db_(db), raw_(raw), once_(once) {}
    Statement(Database* db, PgStatement* pg, bool once) : db_(db), pg_(pg), once_(once) {}
    Database* db_;
    sqlite3_stmt* raw_ = nullptr;
    PgStatement* pg_ = nullptr;
    int next_ = 1;
    int failed_ = 0;
    bool once_;  ///< not kept: dies with this object
};

class Database {
public:
    /// `where`: a file, or "postgresql://..." (libpq's URL).
    /// Where the URL names several hosts it is the one that takes writes, for reading too.
    static Result<std::unique_ptr<Database>> open(const std::string& where, bool read_only,
                                                  int busy_timeout_ms);
    /// For reading from any of the hosts, standbys too.
    static Result<std::unique_ptr<Database>> open_replica(const std::string& url);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Backend backend() const { return pg_ ? Backend::Postgresql : Backend::Sqlite; }
    bool postgresql() const { return pg_ != nullptr; }

    /// Prepared once for each text and kept.
    Result<Statement> prepare(std::string_view sql);
    /// For texts that come in many shapes: not kept.
    Result<Statement> prepare_once(std::string_view sql);
    /// Several statements, no values.
    Result<void> execute(const std::string& sql);
    /// PostgreSQL only: "COPY .. FROM STDIN" and its rows in text form.
    Result<void> copy_in(const std::string& sql, std::string_view rows);
    /// Rows changed by the last statement that ran.
    std::int64_t changes() const;
    /// Of SQLite's last INSERT; elsewhere use RETURNING.
    std::int64_t last_id() const;
    /// The file; of PostgreSQL the URL without its password.
    const std::string& path() const { return path_; }

    /// Statements running longer fail with Failure::Timeout; 0: no limit.
    Result<void> set_time_limit(std::int64_t milliseconds);
    /// PostgreSQL: whether statements from now on are planned once for all values, or for the
    /// values that are bound where that is worth it.
    Result<void> plan_for_any_values(bool any);
    bool plans_for_any_values() const;
    /// Ends the running statement; from any thread.
    void interrupt();
    /// False: the connection is lost and can only be thrown away.
    bool healthy() const;

    base::Error error(std::string_view doing, int code) const;

private:
    friend class Statement;
    Database();
    enum class Session { Write, Read, Replica };
    Result<void> open_postgresql(const std::string& url, Session kind);
    Result<Statement> prepare_postgresql(std::string_view sql, bool keep);
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const noexcept {
            return std::hash<std::string_view>{}(s);
        }
    };
    sqlite3* raw_ = nullptr;
    std::unique_ptr<PgConnection> pg_;
    std::string path_;
    std::int64_t limit_ms_ = 0;
    std::int64_t deadline_ = 0;
    std::unordered_map<std::string, sqlite3_stmt*, TextHash, std::equal_to<>> cache_;
    static int on_progress(void* self);
};

/// Rolls back unless committed.
class Transaction {
public:
    /// For writing. SQLite: takes the write lock at once, so that what it reads is still true when
    /// it writes. PostgreSQL: read committed.
    /// `statements`, where given, begin it in another way.
    static Result<Transaction> begin(Database& db, const std::string& statements = {});
    /// For reading: all statements see one moment.
    static Result<Transaction> begin_read(Database& db);
    Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Result<void> commit();

private:
    explicit Transaction(Database* db) : db_(db) {}
    Database* db_;
};

/// Part of a transaction that can be undone alone.
class Savepoint {
public:
    static Result<Savepoint> begin(Database& db);
    Savepoint(Savepoint&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    Savepoint& operator=(Savepoint&&) = delete;
    ~Savepoint();
    Result<void> release();

private:
    explicit Savepoint(Database* db) : db_(db) {}
    Database* db_;
};

bool is_postgresql_url(std::string_view where);

}  // namespace bunraku::store
