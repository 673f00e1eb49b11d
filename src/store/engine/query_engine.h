// Runs compiled queries: connections to read from, statements, rows as JSON text piece by piece.
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
    std::int64_t time_limit_ms = 600'000;  ///< of a query that does not say its own; 0: none
    std::int64_t longest_ms = 0;           ///< no query may take longer; 0: none
    int busy_timeout_ms = 20'000;
    std::int64_t many_rows = query::AlternativePlan::kMany;  ///< see there
    sys::Runtime* runtime = &sys::machine();
    /// Where questions go while it is near enough; null: to `where`.
    std::shared_ptr<const ReplicaWatch> replica;
};

class QueryEngine;

/// An answer under way: the connection is its own until it dies.
class QueryCursor {
public:
    ~QueryCursor();
    QueryCursor(const QueryCursor&) = delete;
    QueryCursor& operator=(const QueryCursor&) = delete;

    /// Appends the next rows as part of one JSON text ("[{..},{..}]"), some tens of kilobytes at a
    /// time. False: that was all. The first call has been made when the cursor comes: what fails on
    /// the first row fails before an answer is begun.
    Result<bool> next(std::string& out);
    /// Rows without paging, where that was asked for.
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
    std::optional<Transaction> transaction_;  ///< where nested rows must be of the same moment
    std::optional<Statement> statement_;
    query::CompiledQuery query_;
    std::optional<ContentRows> content_;
    std::optional<std::int64_t> total_;
    std::string first_;  ///< what the first call gave
    bool pretty_ = false, started_ = false, done_ = false, first_taken_ = false;
    std::size_t rows_ = 0;
};

/// For many threads.
class QueryEngine {
public:
    /// `where` as Database::open has it; the schema is there already.
    explicit QueryEngine(std::string where, QueryEngineOptions options = {});
    ~QueryEngine();

    Backend backend() const { return backend_; }

    /// Compiles, binds, and gets the first rows. Throws QueryError for what is wrong with the
    /// query; a Result's error is the store's own.
    Result<std::unique_ptr<QueryCursor>> start(std::string_view entity, const query::Ast& query,
                                               const query::QueryOptions& options,
                                               bool pretty = false);
    /// The whole answer at once.
    Result<std::string> run(std::string_view entity, const query::Ast& query,
                            const query::QueryOptions& options = {}, bool pretty = false);
    /// ["from", ..] or PQL text, only active nodes unless it says otherwise: what the root endpoint
    /// and puppetdb_query() do. Gives a JSON array.
    Result<std::string> run_root(const query::Ast& from, query::QueryOptions options = {},
                                 bool pretty = false);
    Result<std::string> run_text(std::string_view pql_or_ast);

    /// Whether something of that kind is known: "node", "catalog", "factset", "report",
    /// "environment", "producer".
    Result<bool> exists(std::string_view kind, std::string_view id);
    /// How many different resources (type, title and parameters) are stored; of those that nothing
    /// uses any more, some may be counted.
    Result<std::int64_t> distinct_resources();
    /// Only checks: throws QueryError.
    void check(std::string_view entity, const query::Ast& query,
               const query::QueryOptions& options) const;

private:
    friend struct QueryCursor::Lease;
    /// One that plans so already, if there is any (see Database::plan_for_any_values).
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
    std::unique_ptr<QueryEngine> standby_;            ///< asks the replica
    std::shared_ptr<const ReplicaWatch> standby_of_;  ///< this one does
    std::vector<std::size_t> shapes_;                 ///< hashes of statements seen lately
    bool seen_before(std::string_view sql);
};

/// As PuppetDB pretty-prints: { "a" : 1 }, objects over several lines, arrays in one.
std::string pretty_json(std::string_view compact);
void append_pretty_json(std::string& out, std::string_view compact);

}  // namespace bunraku::store
