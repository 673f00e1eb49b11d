// SPDX-License-Identifier: Apache-2.0
#include "store/query/json_sql.h"

#include <fmt/format.h>

namespace bunraku::query {

// SQLite's own json_object() parses every JSON value again. json_text() (see
// store/db/query_functions.cc) only concatenates them.

namespace {

std::string pg_value(const Dialect& dialect, const JsonSql& m) {
    switch (m.kind) {
        case JsonSql::Bool: return fmt::format("({} <> 0)", m.sql);
        case JsonSql::Time: return dialect.time_text(m.sql);
        case JsonSql::Offset:
            return fmt::format(
                "(rtrim(rtrim(to_char(to_timestamp({} / 1000.0) AT TIME ZONE 'UTC',"
                " 'YYYY-MM-DD\"T\"HH24:MI:SS.MS'), '0'), '.') || '+00:00')",
                m.sql);
        case JsonSql::Hash: return dialect.hex(m.sql);
        default: return m.sql;
    }
}

}  // namespace

std::string json_object(const Dialect& dialect, std::initializer_list<JsonSql> members) {
    std::string out = dialect.postgresql() ? "json_build_object(" : "json_text('{";
    bool first = true;
    if (dialect.postgresql()) {
        for (const JsonSql& m : members) {
            if (!first) out += ", ";
            first = false;
            out += fmt::format("'{}', {}", m.name, pg_value(dialect, m));
        }
        return out + ")";
    }
    for (const JsonSql& m : members) {
        out += fmt::format("{}\"{}\":%{}", first ? "" : ",", m.name, static_cast<char>(m.kind));
        first = false;
    }
    out += "}'";
    for (const JsonSql& m : members) out += fmt::format(", {}", m.sql);
    return out + ")";
}

std::string json_ordered(const Dialect& dialect, std::string_view json) {
    return dialect.postgresql() ? std::string(json) : fmt::format("json_ordered({})", json);
}

std::string json_rows(const Dialect& dialect, std::initializer_list<JsonSql> members,
                      std::string_view from) {
    return fmt::format("(SELECT {}({}) FROM {})", dialect.postgresql() ? "json_agg" : "json_join",
                       json_object(dialect, members), from);
}

std::string json_array_rows(const Dialect& dialect, std::initializer_list<std::string_view> texts,
                            std::string_view from) {
    std::string row = dialect.postgresql() ? "json_build_array(" : "json_text('[";
    bool first = true;
    if (!dialect.postgresql()) {
        for (std::size_t i = 0; i < texts.size(); ++i) row += i ? ",%s" : "%s";
        row += "]', ";
    }
    for (std::string_view text : texts) {
        if (!first) row += ", ";
        first = false;
        row += text;
    }
    row += ")";
    return fmt::format("(SELECT {}({}) FROM {})", dialect.postgresql() ? "json_agg" : "json_join",
                       row, from);
}

}  // namespace bunraku::query
