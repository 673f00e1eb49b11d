// SPDX-License-Identifier: Apache-2.0
// The entities that can be queried: the fields of each one, how they are read, and its relations to
// other entities. To add an entity, add a table in entities.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/query/dialect.h"

namespace bunraku::query {

enum class FieldType : std::uint8_t {
    Text,
    Bool,         ///< 0 and 1
    Number,       ///< integer
    Time,         ///< milliseconds since the epoch
    Hash,         ///< bytes, returned as hexadecimal digits
    TextArray,    ///< JSON array of strings
    Json,         ///< returned as stored, cannot be queried
    JsonText,     ///< JSON that is compared as a whole (old and new values of events)
    FactValue,    ///< JSON with `match` and `number` in adjacent columns
    FactPath,     ///< path of fact-contents, with typed elements
    EncodedPath,  ///< path of fact-paths
    Facts,        ///< all facts of a node as an object; dotted names select parts of it
    Parameters,   ///< parameters of a resource; dotted names select parts of them
};

struct NestedColumn {
    std::string_view name;
    FieldType type;
    std::string_view sql;
    std::string (*build)(const Dialect&) = nullptr;
};

/// Rows nested inside a row, returned as {"data": [..], "href": ..}. A separate query reads them,
/// because databases are slow at building JSON.
struct NestedRows {
    std::string_view key;                 ///< key of the row
    std::string (*href)(const Dialect&);  ///< href of the row, as text
    std::span<const NestedColumn> columns;
    /// Returns the part after the columns. It contains one placeholder, for the key.
    std::string (*from)(const Dialect&);
};

struct Field {
    enum Flag : std::uint8_t {
        Query = 1,
        Project = 2,
        Both = 3,
        Nullable = 4,
        Dotted = 8,  ///< "name.a.b" can be queried and projected
    };
    std::string_view name;
    FieldType type;
    std::uint8_t flags;
    std::string_view sql;        ///< if empty, `build` is used
    std::string_view need = {};  ///< alias that must be joined; may be empty
    /// Builds the SQL if it differs between backends.
    std::string (*build)(const Dialect&) = nullptr;
    /// The nested rows, if the field is a column of the result.
    const NestedRows* nested = nullptr;
    /// A subquery for the same value that needs no join. PostgreSQL computes it only for the rows
    /// of a sorted page.
    std::string_view late = {};

    bool query() const { return flags & Query; }
    bool project() const { return flags & Project; }
    bool nullable() const { return flags & Nullable; }
    bool dotted() const { return flags & Dotted; }
};

struct Join {
    std::string_view alias;
    std::string_view sql;
    std::string_view need = {};  ///< another alias that must be joined before
    /// True if the join is part of the entity's definition. Other joins are omitted if no field
    /// needs them.
    bool always = false;
    std::string (*build)(const Dialect&) = nullptr;
    /// Replaces `sql` on PostgreSQL if the query selects only newest reports.
    std::string_view newest = {};
};

/// A relation for ["subquery", entity, ..]: the columns that must be equal, separated by commas.
struct Relation {
    std::string_view entity;
    std::string_view local, foreign;
};

struct Entity {
    std::string_view name;   ///< for example "fact_contents"
    std::string_view shown;  ///< name in messages
    std::string_view from;   ///< for example "catalogs cat"
    std::span<const Join> joins;
    std::span<const Field> fields;
    std::span<const Relation> relations;
    std::string_view where = {};  ///< condition that always applies
    /// The column with certnames.id, if rows belong to nodes. Conditions such as node_state need
    /// it.
    std::string_view node = {};
    /// The same FROM clause, starting with the linked content (the join with that alias). SQLite
    /// uses it if all conditions refer to content.
    std::string_view content_alias = {};
    std::string_view content_first = {};
    /// The same FROM clause, starting with the nodes. Used for pages ordered by node if many rows
    /// match.
    std::string_view node_first = {};
    /// `content_first` for PostgreSQL, which would otherwise choose its own order. "{}" marks the
    /// position of the conditions on content.
    std::string_view content_fenced = {};
    /// The columns that identify a row, for entities with expensive columns. Those columns are then
    /// computed only for the rows of the page.
    std::string_view key = {};
    /// The number of rows that a row represents, if it can be more than one.
    std::string_view count = {};
    /// The condition that selects reports of agents, for entities that return only those by
    /// default.
    std::string_view agents = {};
    bool distinct = false;
    bool single = false;   ///< each row is returned as its single value (fact-names, logs, metrics)
    bool subquery = true;  ///< can be used inside other queries
    bool top = true;       ///< can be used in ["from", ..]
    /// The order of names in messages, if it differs from the order of the fields, which is the
    /// order in rows. Both are PuppetDB's.
    std::span<const std::string_view> listed = {};

    const Field* field(std::string_view name) const;
    const Join* join(std::string_view alias) const;
    const Relation* relation(std::string_view entity) const;
    /// Returns the names of the fields that have one of these flags, in the order of messages.
    std::vector<std::string_view> names(std::uint8_t flags) const;
};

/// Finds an entity by its name with underscores. Returns nullptr if it does not exist.
const Entity* find_entity(std::string_view name);
/// nodes with expires_facts, and factsets with package_inventory. A request parameter selects them,
/// not a name.
const Entity& nodes_with_expiration();
const Entity& factsets_with_packages();
/// The number of resources of each type for each node. It replaces "resources" in counting queries.
const Entity& resource_counts();
/// The number of reports of each status, type and environment for each node.
const Entity& report_counts();
/// The most important fields of the events of newest reports.
const Entity& newest_events();

/// Converts PuppetDB's spelling, such as catalog-inputs, to the name in tables, such as
/// catalog_inputs.
std::string entity_name_of(std::string_view name);

}  // namespace bunraku::query
