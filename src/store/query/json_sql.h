// SPDX-License-Identifier: Apache-2.0
// SQL that builds JSON in the database: objects, and arrays of rows inside one column.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "store/query/dialect.h"

namespace bunraku::query {

/// A member of an object: its name, the output format of the SQL value, and the SQL expression.
struct JsonSql {
    enum Kind : char {
        Text = 's',
        Number = 'n',
        Bool = 'b',
        Time = 't',    ///< milliseconds -> "2001-01-02T03:04:05.678Z"
        Offset = 'o',  ///< the same in PostgreSQL's JSON format: "2001-01-02T03:04:05+00:00"
        Hash = 'x',    ///< bytes -> hexadecimal digits
        Json = 'j',
    };
    std::string_view name;
    Kind kind;
    std::string sql;
};

/// Returns an expression for {"name": value, ..}.
std::string json_object(const Dialect& dialect, std::initializer_list<JsonSql> members);
/// Returns JSON with keys in jsonb's order (shorter ones first), which clients expect.
std::string json_ordered(const Dialect& dialect, std::string_view json);
/// Returns (SELECT [{..}, ..] FROM `from`), which is null if the selection is empty.
std::string json_rows(const Dialect& dialect, std::initializer_list<JsonSql> members,
                      std::string_view from);
/// Returns (SELECT [["a", "b"], ..] FROM `from`) for texts, which is null if the selection is
/// empty.
std::string json_array_rows(const Dialect& dialect, std::initializer_list<std::string_view> texts,
                            std::string_view from);

}  // namespace bunraku::query
