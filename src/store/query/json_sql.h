// JSON made by the database: objects and arrays of rows inside one column.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "store/query/dialect.h"

namespace bunraku::query {

/// A member of an object: its name, how the SQL value is shown, the SQL expression.
struct JsonSql {
    enum Kind : char {
        Text = 's',
        Number = 'n',
        Bool = 'b',
        Time = 't',    ///< milliseconds -> "2001-01-02T03:04:05.678Z"
        Offset = 'o',  ///< the same as PostgreSQL writes it in JSON: "2001-01-02T03:04:05+00:00"
        Hash = 'x',    ///< bytes -> hexadecimal digits
        Json = 'j',
    };
    std::string_view name;
    Kind kind;
    std::string sql;
};

/// An expression that gives {"name": value, ..}.
std::string json_object(const Dialect& dialect, std::initializer_list<JsonSql> members);
/// JSON with the keys of objects in jsonb's order (shorter ones first), as clients know it.
std::string json_ordered(const Dialect& dialect, std::string_view json);
/// (SELECT [{..}, ..] FROM `from`); null without rows.
std::string json_rows(const Dialect& dialect, std::initializer_list<JsonSql> members,
                      std::string_view from);
/// (SELECT [["a", "b"], ..] FROM `from`) of texts; null without rows.
std::string json_array_rows(const Dialect& dialect, std::initializer_list<std::string_view> texts,
                            std::string_view from);

}  // namespace bunraku::query
