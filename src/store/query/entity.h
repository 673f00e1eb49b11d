// What can be asked: one table an entity, its fields, how they are read, and which entities it
// leads to. Adding an entity is adding a table in entities.cc.
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
    Number,       ///< whole
    Time,         ///< milliseconds since the epoch
    Hash,         ///< bytes, shown as hexadecimal digits
    TextArray,    ///< JSON array of strings
    Json,         ///< shown as it is, not asked
    JsonText,     ///< JSON that is compared as a whole (old and new values of events)
    FactValue,    ///< JSON with its `match` and `number` beside it
    FactPath,     ///< path of fact-contents: typed elements
    EncodedPath,  ///< path of fact-paths
    Facts,        ///< all facts of a node as an object; dotted names lead into it
    Parameters,   ///< parameters of a resource; dotted names lead into them
};

struct NestedColumn {
    std::string_view name;
    FieldType type;
    std::string_view sql;
    std::string (*build)(const Dialect&) = nullptr;
};

/// Rows shown inside a row, as {"data": [..], "href": ..}: asked for by themselves, since databases
/// are slow at putting JSON together.
struct NestedRows {
    std::string_view key;                 ///< of the row
    std::string (*href)(const Dialect&);  ///< of the row; a text
    std::span<const NestedColumn> columns;
    /// What follows the columns; has one placeholder, for the key.
    std::string (*from)(const Dialect&);
};

struct Field {
    enum Flag : std::uint8_t {
        Query = 1,
        Project = 2,
        Both = 3,
        Nullable = 4,
        Dotted = 8,  ///< "name.a.b" may be asked and projected
    };
    std::string_view name;
    FieldType type;
    std::uint8_t flags;
    std::string_view sql;        ///< empty: see `build`
    std::string_view need = {};  ///< the alias that must be joined; empty: none beyond FROM
    /// For what differs between backends.
    std::string (*build)(const Dialect&) = nullptr;
    /// The same where it is a column of the answer.
    const NestedRows* nested = nullptr;

    bool query() const { return flags & Query; }
    bool project() const { return flags & Project; }
    bool nullable() const { return flags & Nullable; }
    bool dotted() const { return flags & Dotted; }
};

struct Join {
    std::string_view alias;
    std::string_view sql;
    std::string_view need = {};  ///< another alias that must stand before
    /// Part of what the entity means; the others are left out where no field needs them.
    bool always = false;
    std::string (*build)(const Dialect&) = nullptr;
};

/// How ["subquery", entity, ..] ties two entities: equal columns, comma separated.
struct Relation {
    std::string_view entity;
    std::string_view local, foreign;
};

struct Entity {
    std::string_view name;   ///< "fact_contents"
    std::string_view shown;  ///< as messages call it
    std::string_view from;   ///< "catalogs cat"
    std::span<const Join> joins;
    std::span<const Field> fields;
    std::span<const Relation> relations;
    std::string_view where = {};  ///< always
    /// The column with certnames.id, where rows belong to nodes: node_state and the like need it.
    std::string_view node = {};
    /// The same FROM, beginning with what rows link to (a join of that alias): for SQLite, where
    /// conditions speak of nothing else.
    std::string_view content_alias = {};
    std::string_view content_first = {};
    /// The same, beginning with the nodes: for pages in their order, where many rows suit.
    std::string_view node_first = {};
    /// `content_first` for PostgreSQL, which would choose an order itself. "{}" is where the
    /// conditions on content go.
    std::string_view content_fenced = {};
    /// What tells rows apart, where some columns are dear to make: of a page, only its own rows'
    /// are made then.
    std::string_view key = {};
    /// Where a row stands for several: how many.
    std::string_view count = {};
    bool reports = false;  ///< shows reports of agents unless asked for others
    bool distinct = false;
    bool single = false;   ///< rows are shown as their only value (fact-names, logs, metrics)
    bool subquery = true;  ///< may be asked inside other queries
    bool top = true;       ///< may be asked by ["from", ..]
    /// The order of names in messages where it differs from that of the fields, which is the order
    /// in which rows show them; both are PuppetDB's.
    std::span<const std::string_view> listed = {};

    const Field* field(std::string_view name) const;
    const Join* join(std::string_view alias) const;
    const Relation* relation(std::string_view entity) const;
    /// Names of the fields that have one of these flags, as messages list them.
    std::vector<std::string_view> names(std::uint8_t flags) const;
};

/// By its name with underscores; nullptr: there is none.
const Entity* find_entity(std::string_view name);
/// nodes with expires_facts, factsets with package_inventory: asked by parameter, not by name.
const Entity& nodes_with_expiration();
const Entity& factsets_with_packages();
/// How many resources of each type each node has: "resources" for questions that only count.
const Entity& resource_counts();
/// How many reports of each status, type and environment each node has.
const Entity& report_counts();
/// The events of newest reports, in few words.
const Entity& newest_events();

/// PuppetDB writes catalog-inputs where tables have catalog_inputs.
std::string entity_name_of(std::string_view name);

}  // namespace bunraku::query
