// SPDX-License-Identifier: Apache-2.0
// One connection to an SQLite or PostgreSQL database behind a common interface: statements with "?"
// for values, typed columns, transactions, errors as Results. Only this folder includes it.
//
// SQL is written once for both backends; dialect.h has the parts that differ. Placeholders are "?"
// or "?1" ("??" is the operator "?" of PostgreSQL). The text of a statement never contains user
// input; all values are bound. Both backends use these types: booleans are the numbers 0 and 1,
// times are milliseconds since the epoch in a bigint, hashes are bytes (BLOB, bytea), JSON is TEXT
// (SQLite) or jsonb (PostgreSQL).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
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

/// The kind of an error of this folder, stored in Error::code.
enum class Failure : int {
    None = 0,
    Other = 7001,
    Retry,        ///< deadlock, serialization failure or lock timeout; a retry may succeed
    Unavailable,  ///< the connection is lost, or the server does not answer
    Full,         ///< no space left
    Constraint,   ///< a unique or other constraint was violated
    /// the statement is invalid, for example a bad regular expression or a wrong type
    Query,
    Timeout,  ///< cancelled by the time limit or by an interrupt
};
Failure failure_of(const base::Error& error);

/// A prepared statement in use. Its destructor resets it and returns it to its connection.
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
    /// Binds the text, or null if it is empty.
    Statement& bind_optional(std::string_view text);
    template <class T>
    Statement& bind(const std::optional<T>& value) {
        return value ? bind(*value) : bind_null();
    }
    /// Binds one parameter of type bigint[], text[] or bytea[]. PostgreSQL only.
    Statement& bind_array(std::span<const std::int64_t> numbers);
    Statement& bind_array(std::span<const std::string_view> texts);
    Statement& bind_blob_array(std::span<const std::string_view> blobs);

    /// Advances to the next row. Returns false if no row is left.
    Result<bool> step();
    /// Runs the statement to its end.
    Result<void> run();
    /// Runs the statement with the connection's next one in a round trip, or at the latest when the
    /// transaction is committed, which then returns its error. The statement can be bound and run
    /// again. SQLite runs it at once, and so does PostgreSQL outside of a transaction.
    Result<void> run_later();
    /// Prepares the statement to be bound and run again.
    void reset();
    /// Makes PostgreSQL return rows as it produces them, instead of collecting them first. No other
    /// statement of the connection may run until this one is done. SQLite always works this way.
    void stream();

    int columns() const;
    std::string_view name(int column) const;
    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    bool boolean(int column) const { return integer(column) != 0; }
    /// Returns the column as text, numbers included. The view is valid until the next step.
    std::string_view text(int column) const;
    std::string_view blob(int column) const;
    /// The value's type in SQLite, or the column's type in PostgreSQL.
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
    bool once_;  ///< not cached; finalized with this object
};

/// Limits how long a connection waits for a PostgreSQL server that does not answer.
struct WaitLimits {
    /// After a stop request, no connection is opened, and statements wait for at most one more
    /// second.
    std::stop_token stop = {};
    /// The time to connect to a host, in seconds. 0 means connect_timeout of the URL.
    int connect_s = 0;
};

class Database {
public:
    enum class Access : std::uint8_t { Read, ReadWrite };
    /// Opens a database. `where` is a file or a libpq URL ("postgresql://..."). If the URL names
    /// several hosts, the connection uses the one that accepts writes, for reading too.
    static Result<std::unique_ptr<Database>> open(const std::string& where, Access access,
                                                  int busy_timeout_ms,
                                                  const WaitLimits& limits = {});
    /// Opens a connection for reading from any of the hosts, including standbys.
    static Result<std::unique_ptr<Database>> open_replica(const std::string& url,
                                                          const WaitLimits& limits = {});
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Backend backend() const { return pg_ ? Backend::Postgresql : Backend::Sqlite; }
    bool postgresql() const { return pg_ != nullptr; }

    /// Prepares a statement, or returns the cached one with this text.
    Result<Statement> prepare(std::string_view sql);
    /// Prepares a statement without caching it, for texts that vary a lot.
    Result<Statement> prepare_once(std::string_view sql);
    /// Runs several statements without parameters.
    Result<void> execute(const std::string& sql);
    /// Reports whether run_together() needs only one round trip. Depends on the version of libpq.
    bool pipelines() const;
    /// Runs the statements in this order, after those that wait, in one round trip. Their rows are
    /// read with step().
    /// After an error, the statements that follow do not run. PostgreSQL only.
    Result<void> run_together(std::initializer_list<Statement*> statements);
    /// Runs "COPY .. FROM STDIN" with rows in text format. PostgreSQL only.
    Result<void> copy_in(const std::string& sql, std::string_view rows);
    /// Returns the number of rows that the last statement changed.
    std::int64_t changes() const;
    /// Returns the row id of SQLite's last INSERT. On PostgreSQL, use RETURNING instead.
    std::int64_t last_id() const;
    /// Returns the path of the file, or the URL without its password on PostgreSQL.
    const std::string& path() const { return path_; }

    /// Sets a time limit for statements, which then fail with Failure::Timeout; 0 means no limit.
    Result<void> set_time_limit(std::int64_t milliseconds);
    /// Sets how PostgreSQL plans later statements: once for all values, or for the bound values
    /// where that pays off.
    Result<void> plan_for_any_values(bool any);
    bool plans_for_any_values() const;
    /// Cancels the running statement. May be called from any thread.
    void interrupt();
    /// Returns false if the connection is lost and must be discarded.
    bool healthy() const;

    base::Error error(std::string_view doing, int code) const;

private:
    friend class Statement;
    friend class Transaction;
    friend class Savepoint;
    Database();
    enum class Session { Write, Read, Replica };
    Result<void> open_postgresql(const std::string& url, Session kind, const WaitLimits& limits);
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

/// A transaction. Its destructor rolls back unless it was committed.
class Transaction {
public:
    /// Begins a transaction that writes. SQLite takes the write lock at once, so that what the
    /// transaction reads is still true when it writes. PostgreSQL uses read committed. If
    /// `statements` is not empty, it replaces the usual BEGIN.
    static Result<Transaction> begin(Database& db, const std::string& statements = {});
    /// Begins a transaction with statements that run in one round trip. The first one is BEGIN.
    /// PostgreSQL only.
    static Result<Transaction> begin_with(Database& db,
                                          std::initializer_list<Statement*> statements);
    /// Begins a read-only transaction, in which all statements see the same snapshot.
    static Result<Transaction> begin_read(Database& db);
    Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Result<void> commit();

private:
    explicit Transaction(Database* db) : db_(db) {}
    Database* db_;
};

/// A part of a transaction that can be rolled back separately.
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
