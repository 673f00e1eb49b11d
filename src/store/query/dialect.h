// Where the SQL of SQLite and of PostgreSQL differs: fragments by backend. The texts given in are
// SQL expressions of ours, never what a user wrote.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bunraku::query {

enum class Backend { Sqlite, Postgresql };

/// catalogs.edges has the relationship as one of these.
inline constexpr std::array<std::string_view, 5> kEdgeKinds = {"contains", "before", "required-by",
                                                               "notifies", "subscription-of"};

class Dialect {
public:
    explicit Dialect(Backend backend) : pg_(backend == Backend::Postgresql) {}
    bool postgresql() const { return pg_; }

    // --- words of table definitions
    /// Replaces {id} {int} {small} {real} {text} {json} {jsontext} {blob} {rowless} in a script;
    /// lines that begin with "sqlite:" or "pg:" stay for that backend only.
    std::string tables(std::string_view script) const;

    // --- values
    /// A placeholder whose bound text is JSON.
    std::string_view json_value() const { return pg_ ? "?::jsonb" : "?"; }
    /// A hash column as lower-case hexadecimal text.
    std::string hex(std::string_view blob) const;
    /// The text of JSON (a column of type {json}).
    std::string json_text(std::string_view json) const;
    /// The text of a jsonb column without the blanks that PostgreSQL writes.
    std::string compact_json_text(std::string_view json) const;

    /// A {jsontext} column as JSON that can be compared, sorted and looked into.
    std::string as_jsonb(std::string_view json) const;

    // --- conditions
    /// `text` matches the regular expression `pattern` (PostgreSQL's "~"; the function regexp() in
    /// SQLite, which the query engine registers).
    std::string matches(std::string_view text, std::string_view pattern) const;
    /// The JSON array of strings `json` has the element `text`.
    std::string array_has(std::string_view json, std::string_view text) const;
    /// Any element of the JSON array of strings `json` matches.
    std::string array_matches(std::string_view json, std::string_view pattern) const;
    /// The member of a JSON object by the key expression `key`, as JSON; SQL null where absent.
    std::string member(std::string_view json, std::string_view key) const;

    // --- tables out of columns
    /// For FROM behind the catalog `catalog` (an alias): its edges as `alias` with the columns
    /// source, target (resources.id) and kind (see kEdgeKinds).
    std::string edges(std::string_view catalog, std::string_view alias) const;
    /// For FROM: the elements of a JSON array as `alias`(value), as text.
    std::string elements(std::string_view json, std::string_view alias) const;

    /// "YYYY-MM-DDTHH:MI:SS.mmmZ" of a time column.
    std::string time_text(std::string_view milliseconds) const;

private:
    bool pg_;
};

}  // namespace bunraku::query
