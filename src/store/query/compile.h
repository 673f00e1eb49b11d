// From a query's syntax tree to SQL. Values are always bound, never written into the text, so that
// queries of one shape share a prepared statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/query/ast.h"
#include "store/query/entity.h"

namespace bunraku::query {

struct Blob {
    std::string bytes;
    bool operator==(const Blob&) const = default;
};
/// What CompiledQuery::lists holds, and how often: known once those are read.
struct Listed {
    enum Part : std::uint8_t { Packed, Numbers, Counts } part = Packed;
    bool operator==(const Listed&) const = default;
};
using BoundValue = std::variant<std::int64_t, double, std::string, Blob, Listed>;

/// SQL with its values, in the order of the placeholders.
struct Sql {
    std::string text;
    std::vector<BoundValue> values;
    Sql() = default;
    Sql(std::string_view t) : text(t) {}        // NOLINT: fragments are texts
    Sql(const char* t) : text(t) {}             // NOLINT
    Sql(std::string t) : text(std::move(t)) {}  // NOLINT
    Sql& operator<<(std::string_view more) {
        text += more;
        return *this;
    }
    Sql& operator<<(const char* more) { return *this << std::string_view(more); }
    Sql& operator<<(const std::string& more) { return *this << std::string_view(more); }
    Sql& operator<<(const Sql& more) {
        text += more.text;
        values.insert(values.end(), more.values.begin(), more.values.end());
        return *this;
    }
    /// A placeholder and its value.
    Sql& bind(BoundValue value) {
        text += '?';
        values.push_back(std::move(value));
        return *this;
    }
};

struct OrderTerm {
    std::string field;
    bool descending = false;
};

/// Only the newest event of each resource of a node between two times.
struct DistinctResources {
    std::int64_t start = 0, end = 0;  ///< milliseconds since the epoch
};

struct QueryOptions {
    std::vector<OrderTerm> order_by;
    std::optional<std::int64_t> limit, offset;
    bool include_total = false;
    bool explain = false;
    bool include_facts_expiration = false;
    bool include_package_inventory = false;
    std::optional<DistinctResources> distinct;
    std::optional<std::int64_t> time_limit_ms;          ///< of this query; 0: none
    std::optional<std::string> summarize_by, count_by;  ///< of the event counts
    Ast counts_filter;
};

/// How a column of a row is shown.
struct OutputColumn {
    enum Kind : std::uint8_t {
        Text,
        Bool,
        Number,
        Time,
        Hash,
        Json,
        Nested,  ///< rows of `nested`; the column is "KEY HREF"
    };
    std::string name;
    Kind kind;
    std::size_t nested = 0;
};

/// Asked once for each row, with its key.
struct NestedQuery {
    std::string sql;
    std::vector<OutputColumn> columns;
};

/// What rows have in common with others and never changes, by an id: asked for once, then
/// remembered (see ContentRows).
struct ContentQuery {
    /// More rows are not worth the memory that they take together.
    static constexpr std::int64_t kMostRows = 20000;
    Sql rows;         ///< the id and the other columns; of one row more than kMostRows at most
    std::string sql;  ///< the id and the columns, of the ids in a bigint[]
    std::vector<bool> of_content;  ///< for each of CompiledQuery::columns
};

/// Another statement for the same rows, quicker where many rows suit the conditions of a page (it
/// goes through the nodes in order until the page is full), or where few do.
struct AlternativePlan {
    static constexpr std::int64_t kMany = 5000;
    /// SQLite gives up after so long: what suits may all be of nodes at the end.
    static constexpr std::int64_t kTimeoutMs = 150;
    Sql probe;  ///< how many rows suit, kMany at most
    Sql sql;
    bool if_many = false;  ///< else: if few
};

struct CompiledQuery {
    Sql sql;
    /// Rows with one list of numbers each (packed), which are counted first.
    std::optional<Sql> lists;
    std::optional<AlternativePlan> alternative;
    std::optional<ContentQuery> content;  ///< another way to the same rows, where they are few
    std::vector<OutputColumn> columns;
    std::vector<NestedQuery> nested;
    Sql count;            ///< the number of rows without paging, where it was asked for
    bool single = false;  ///< rows are shown as their only value
    bool bare = false;    ///< the answer is the first row's value itself
    /// Event counts: columns from here on are shown inside "subject".
    std::string subject_type;
    std::size_t subject_from = 0;
    bool explain = false;
    /// One plan is good for whatever values are bound (PostgreSQL); else they are looked at.
    bool any_values = false;
};

/// ["from", entity, query?, paging..] taken apart. Paging inside counts where `options` has none.
struct FromQuery {
    std::string entity;  ///< with underscores
    Ast query;           ///< null: all
};
FromQuery parse_from(const Ast& ast, QueryOptions& options);

/// Throws QueryError. `query` is about rows of `entity`, without "from".
CompiledQuery compile_query(std::string_view entity, const Ast& query, const QueryOptions& options,
                            Backend backend);

/// Adds a condition to a query, inside its projection: the way endpoints narrow what users ask.
Ast add_criteria(Ast condition, Ast query);
/// Only active nodes, unless the query says something about that itself.
Ast restrict_to_active(Ast query);
/// A whole ["from", ..] as the root endpoint takes it: only active nodes where there are nodes.
Ast root_query(Ast from);

/// 'a', 'b', and 'c': how PuppetDB lists names.
std::string list_names(const std::vector<std::string_view>& names);

}  // namespace bunraku::query
