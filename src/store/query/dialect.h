// SPDX-License-Identifier: Apache-2.0
// SQL fragments that differ between SQLite and PostgreSQL. The arguments are SQL expressions of
// this program, never user input.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bunraku::query {

enum class Backend { Sqlite, Postgresql };

/// Names of the relationships in catalogs.edges; the value there is an index into this array.
inline constexpr std::array<std::string_view, 5> kEdgeKinds = {"contains", "before", "required-by",
                                                               "notifies", "subscription-of"};

class Dialect {
public:
    explicit Dialect(Backend backend) : pg_(backend == Backend::Postgresql) {}
    bool postgresql() const { return pg_; }

    // --- Table definitions
    /// Replaces {id} {int} {small} {real} {text} {json} {jsontext} {blob} {uuid} {rowless} in a
    /// script.
    /// Lines that begin with "sqlite:" or "pg:" remain only for that backend.
    std::string tables(std::string_view script) const;

    // --- Values
    /// Returns a placeholder whose bound text is JSON.
    std::string_view json_value() const { return pg_ ? "?::jsonb" : "?"; }
    /// Converts a hash column to lower-case hexadecimal text.
    std::string hex(std::string_view blob) const;
    /// Converts a {uuid} column to text.
    std::string uuid_text(std::string_view uuid) const;
    /// Returns the text of JSON (a column of type {json}).
    std::string json_text(std::string_view json) const;
    /// Returns the text of a jsonb column without the blanks that PostgreSQL writes.
    std::string compact_json_text(std::string_view json) const;

    /// Converts a {jsontext} column to JSON that can be compared, sorted and accessed.
    std::string as_jsonb(std::string_view json) const;

    // --- Conditions
    /// Tests whether `text` matches the regular expression `pattern` (PostgreSQL's "~"; in SQLite
    /// the function regexp(), which the query engine registers).
    std::string matches(std::string_view text, std::string_view pattern) const;
    /// Tests whether the JSON array of strings `json` contains `text`.
    std::string array_has(std::string_view json, std::string_view text) const;
    /// Tests whether any element of the JSON array of strings `json` matches.
    std::string array_matches(std::string_view json, std::string_view pattern) const;
    /// Returns the member of a JSON object at the key expression `key`, as JSON. The result is SQL
    /// null if the member does not exist.
    std::string member(std::string_view json, std::string_view key) const;

    // --- Columns as tables
    /// Returns the edges of a catalog for FROM, after the alias `catalog`. The table `alias` has
    /// the columns source, target (resources.id) and kind (see kEdgeKinds).
    std::string edges(std::string_view catalog, std::string_view alias) const;
    /// Returns the elements of a JSON array for FROM, as `alias`(value), as text.
    std::string elements(std::string_view json, std::string_view alias) const;

    /// Formats a time column as "YYYY-MM-DDTHH:MI:SS.mmmZ".
    std::string time_text(std::string_view milliseconds) const;

private:
    bool pg_;
};

}  // namespace bunraku::query
