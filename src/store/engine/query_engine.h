// SPDX-License-Identifier: Apache-2.0
// Runs compiled queries on read-only connections, and returns the rows as JSON text in chunks.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/executor.h"
#include "store/db/database.h"
#include "store/db/replica.h"
#include "store/engine/query_content.h"
#include "store/query/compile.h"

namespace bunraku::store {

struct QueryEngineOptions {
    std::size_t connections = 10;
    std::int64_t time_limit_ms = 600'000;  ///< default limit of a query; 0 means none
    std::int64_t longest_ms = 0;           ///< limit for all queries; 0 means none
    int busy_timeout_ms = 20'000;
    WaitLimits limits = {};
    std::int64_t many_rows = query::AlternativePlan::kMany;  ///< see AlternativePlan::kMany
    sys::Runtime* runtime = &sys::machine();
    /// The standby that runs queries while it is current enough. If null, `where` runs all queries.
    std::shared_ptr<const ReplicaWatch> replica;
};

class QueryEngine;

/// A query in progress. It owns its connection until it is destroyed.
class QueryCursor {
public:
    ~QueryCursor();
    QueryCursor(const QueryCursor&) = delete;
    QueryCursor& operator=(const QueryCursor&) = delete;

    /// Appends the next rows as part of one JSON text ("[{..},{..}]"), some tens of kilobytes at a
    /// time. Returns false at the end. The first rows are read before start() returns, so an error
    /// in the first row is reported before the response begins.
    Result<bool> next(std::string& out);
    /// Returns the number of rows without paging, if it was requested.
    std::optional<std::int64_t> total() const { return total_; }

private:
    friend class QueryEngine;
    struct Lease;
    QueryCursor() = default;
    Result<bool> fill(std::string& out);
    Result<void> write_row(std::string& out);
    Result<void> write_nested(std::string& out, std::string_view key,
                              const query::NestedQuery& nested);

    std::unique_ptr<Lease> lease_;
    /// set if nested rows must be read from the same snapshot
    std::optional<Transaction> transaction_;
    std::optional<Statement> statement_;
    query::CompiledQuery query_;
    std::optional<ContentRows> content_;
    std::optional<std::int64_t> total_;
    std::string first_;  ///< rows that start() read
    bool pretty_ = false, started_ = false, done_ = false, first_taken_ = false;
    std::size_t rows_ = 0;
};

/// Compiles and runs queries. Thread-safe.
class QueryEngine {
public:
    /// `where` is the same as in Database::open. The schema must exist already.
    explicit QueryEngine(std::string where, QueryEngineOptions options = {});
    ~QueryEngine();

    Backend backend() const { return backend_; }

    /// Compiles a query, binds its values and reads the first rows. Throws QueryError for an
    /// invalid query. A Result's error means that the store failed.
    Result<std::unique_ptr<QueryCursor>> start(std::string_view entity, const query::Ast& query,
                                               const query::QueryOptions& options,
                                               bool pretty = false);
    /// Runs a query and returns the whole result.
    Result<std::string> run(std::string_view entity, const query::Ast& query,
                            const query::QueryOptions& options = {}, bool pretty = false);
    /// Runs ["from", ..] or PQL text on active nodes, unless the query selects others. The root
    /// endpoint and puppetdb_query() use it. Returns a JSON array.
    Result<std::string> run_root(const query::Ast& from, query::QueryOptions options = {},
                                 bool pretty = false);
    Result<std::string> run_text(std::string_view pql_or_ast);

    /// Reports whether an object of that kind exists: "node", "catalog", "factset", "report",
    /// "environment", "producer".
    Result<bool> exists(std::string_view kind, std::string_view id);
    /// Returns the number of stored resources that differ in type, title and parameters. Some
    /// unused resources may be counted too.
    Result<std::int64_t> distinct_resources();
    /// Returns the number of resources that active nodes no longer declare, as listed by default.
    Result<std::int64_t> undeclared_resources();
    /// Validates a query. Throws QueryError if it is invalid.
    void check(std::string_view entity, const query::Ast& query,
               const query::QueryOptions& options) const;

private:
    friend struct QueryCursor::Lease;
    class Beginning;
    /// Takes a connection, preferably one with the same planning mode (see
    /// Database::plan_for_any_values()).
    Result<std::unique_ptr<Database>> take(bool any_values);
    void give_back(std::unique_ptr<Database> db);
    void drop_idle();
    Result<void> near_enough(Database& db) const;
    std::int64_t limit_of(const query::QueryOptions& options) const;

    std::string where_;
    QueryEngineOptions options_;
    Backend backend_;
    std::mutex mutex_;
    sys::Condition freed_{*options_.runtime};
    std::vector<std::unique_ptr<Database>> idle_;
    std::size_t open_ = 0;
    ContentCache contents_;
    std::unique_ptr<QueryEngine> standby_;            ///< runs queries on the standby
    std::shared_ptr<const ReplicaWatch> standby_of_;  ///< set if this engine queries the standby
    std::vector<std::size_t> shapes_;                 ///< hashes of recent statements
    bool seen_before(std::string_view sql);
};

/// Formats JSON like PuppetDB: { "a" : 1 }, objects over several lines, arrays on one line.
std::string pretty_json(std::string_view compact);
void append_pretty_json(std::string& out, std::string_view compact);

}  // namespace bunraku::store
