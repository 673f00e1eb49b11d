// The little of SQLite that the store needs: statements that reset themselves, errors as Results.
// Only this folder includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bunraku::store {

using base::Result;

class Database;

/// A prepared statement in use. Goes back to its database, reset, when it dies.
class Statement {
public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    Statement& bind(std::string_view text);
    Statement& bind(std::int64_t number);
    Statement& bind_blob(std::string_view bytes);
    Statement& bind_null();
    /// The text, or null where it is empty.
    Statement& bind_optional(std::string_view text);

    /// True: there is a row. False: done.
    Result<bool> step();
    /// Runs it to its end.
    Result<void> run();

    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    std::string_view text(int column) const;  ///< valid until the next step
    std::string_view blob(int column) const;

private:
    friend class Database;
    Statement(Database* db, sqlite3_stmt* raw, bool once = false)
        : db_(db), raw_(raw), once_(once) {}
    Database* db_;
    sqlite3_stmt* raw_;
    int next_ = 1;
    int failed_ = 0;
    bool once_;  ///< not kept: dies with this object
};

class Database {
public:
    static Result<std::unique_ptr<Database>> open(const std::string& path, bool read_only,
                                                  int busy_timeout_ms);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Prepared once for each text and kept. The text of a statement is always ours: values are
    /// bound.
    Result<Statement> prepare(std::string_view sql);
    /// For texts that come in many shapes: not kept.
    Result<Statement> prepare_once(std::string_view sql);
    Result<void> execute(const std::string& sql);
    std::int64_t last_id() const;
    std::int64_t changes() const;
    const std::string& path() const { return path_; }

    base::Error error(std::string_view doing, int code) const;

private:
    friend class Statement;
    Database() = default;
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const noexcept {
            return std::hash<std::string_view>{}(s);
        }
    };
    sqlite3* raw_ = nullptr;
    std::string path_;
    std::unordered_map<std::string, sqlite3_stmt*, TextHash, std::equal_to<>> cache_;
};

/// Rolls back unless committed. Takes the write lock at once, so that what it reads is still true
/// when it writes.
class Transaction {
public:
    static Result<Transaction> begin(Database& db);
    Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Result<void> commit();

private:
    explicit Transaction(Database* db) : db_(db) {}
    Database* db_;
};

}  // namespace bunraku::store
