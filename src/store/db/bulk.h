// Many rows into one table: on SQLite one prepared statement run for each; on PostgreSQL a COPY, or
// where rows may be there already one statement with an array a column.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/database.h"

namespace bunraku::store {

class Bulk {
public:
    enum class Type { Text, Json, JsonText, Integer, Real, Blob };
    struct Column {
        std::string_view name;
        Type type;
    };
    /// `suffix`: "ON CONFLICT DO NOTHING", or nothing; on PostgreSQL also "RETURNING ..".
    Bulk(Database& db, std::string_view table, std::vector<Column> columns,
         std::string_view suffix = "");

    /// PostgreSQL: called with each row that the suffix returns.
    Bulk& returned(std::function<void(Statement&)> each) {
        each_ = std::move(each);
        return *this;
    }
    Bulk& text(std::string_view value);
    Bulk& optional(std::string_view value);  ///< null where empty
    Bulk& blob(std::string_view bytes);
    Bulk& integer(std::int64_t number);
    Bulk& real(double number);
    Bulk& null();
    /// After the last column of a row.
    Result<void> end_row();
    /// SQLite: the id of the row that end_row has just made.
    std::int64_t last_id() const { return db_.last_id(); }
    /// After the last row.
    Result<void> flush();

private:
    Result<void> open();
    bool copies() const { return db_.postgresql() && suffix_.empty(); }
    void put(std::string_view text, bool null);
    Database& db_;
    std::string_view table_;
    std::vector<Column> columns_;
    std::string_view suffix_;
    std::optional<Statement> statement_;
    std::vector<std::string> arrays_;  ///< PostgreSQL: the text of each column's array
    std::string copied_;               ///< PostgreSQL: the rows of a COPY
    std::function<void(Statement&)> each_;
    std::size_t column_ = 0, rows_ = 0, bytes_ = 0;
    Result<void> opened_;
};

/// The links of one node: `table` (certname_id, `column`).
Result<std::vector<std::int64_t>> linked_ids(Database& db, std::string_view table,
                                             std::string_view column, std::int64_t node);
Result<void> add_links(Database& db, std::string_view table, std::string_view column,
                       std::int64_t node, std::span<const std::int64_t> ids);
/// What is unlinked becomes a candidate for the garbage collector, as `kind`, lost at `lost_at`.
Result<void> remove_links(Database& db, std::string_view table, std::string_view column,
                          std::int64_t node, std::span<const std::int64_t> ids, int kind,
                          std::int64_t lost_at = 0);

}  // namespace bunraku::store
