// SPDX-License-Identifier: Apache-2.0
// Compiles a query's syntax tree to SQL. Values are always bound and never part of the text, so
// that queries of the same shape share a prepared statement.
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
/// Placeholder for the values in the rows of CompiledQuery::lists and their counts, which are known
/// only after these rows were read.
struct Listed {
    enum Part : std::uint8_t { Packed, Numbers, Counts } part = Packed;
    bool operator==(const Listed&) const = default;
};
using BoundValue = std::variant<std::int64_t, double, std::string, Blob, Listed>;

/// SQL text with its values in the order of the placeholders.
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
    /// Appends a placeholder and its value.
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

/// Selects only the newest event of each resource of a node between two times.
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
    std::optional<std::int64_t> time_limit_ms;          ///< limit of this query; 0 means none
    std::optional<std::string> summarize_by, count_by;  ///< parameters of event counts
    Ast counts_filter;
};

/// The output format of a column.
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

/// A query that runs once for each row, with the row's key.
struct NestedQuery {
    std::string sql;
    std::vector<OutputColumn> columns;
};

/// A query for the immutable content that rows share. Content is read once per id and then cached
/// (see ContentRows).
struct ContentQuery {
    /// With more rows, the plan would use too much memory.
    static constexpr std::int64_t kMostRows = 20000;
    Sql rows;         ///< the id and the other columns; returns at most kMostRows + 1 rows
    std::string sql;  ///< the id and the content columns of the ids in a bigint[]
    std::vector<bool> of_content;  ///< one entry for each of CompiledQuery::columns
};

/// Another statement for the same rows. It is faster if many rows match the conditions of a page,
/// because it reads the nodes in order until the page is full. Other such plans are faster if few
/// rows match.
struct AlternativePlan {
    static constexpr std::int64_t kMany = 5000;
    /// Time limit on SQLite, because all matching rows may belong to the last nodes.
    static constexpr std::int64_t kTimeoutMs = 150;
    Sql probe;  ///< counts the matching rows, at most kMany
    Sql sql;
    bool if_many = false;  ///< use the plan if many rows match; otherwise, if few match
};

struct CompiledQuery {
    Sql sql;
    /// Selects rows with one packed list of numbers each, which are counted first.
    std::optional<Sql> lists;
    std::optional<AlternativePlan> alternative;
    std::optional<ContentQuery> content;  ///< alternative plan for a few rows
    std::vector<OutputColumn> columns;
    std::vector<NestedQuery> nested;
    Sql count;            ///< counts the rows without paging, if requested
    bool single = false;  ///< each row is returned as its single value
    bool bare = false;    ///< the result is the value of the first row
    /// In event counts, columns from here on are returned inside "subject".
    std::string subject_type;
    std::size_t subject_from = 0;
    bool explain = false;
    /// True if one plan suits all bound values (PostgreSQL). Otherwise the planner considers the
    /// values.
    bool any_values = false;
};

/// The parts of ["from", entity, query?, paging..]. Its paging applies where `options` has none.
struct FromQuery {
    std::string entity;  ///< with underscores
    Ast query;           ///< null means all rows
};
FromQuery parse_from(const Ast& ast, QueryOptions& options);

/// Compiles a query. Throws QueryError if it is invalid. `query` refers to rows of `entity` and
/// does not contain "from".
CompiledQuery compile_query(std::string_view entity, const Ast& query, const QueryOptions& options,
                            Backend backend);

/// Adds a condition to a query, inside its projection. Endpoints use it to restrict users' queries.
Ast add_criteria(Ast condition, Ast query);
/// Restricts a query to active nodes, unless it contains a condition on the node state.
Ast restrict_to_active(Ast query);
/// Converts a complete ["from", ..] for the root endpoint: restricts it to active nodes if the
/// entity belongs to nodes.
Ast root_query(Ast from);

/// Formats names like PuppetDB: 'a', 'b', and 'c'.
std::string list_names(const std::vector<std::string_view>& names);

}  // namespace bunraku::query
