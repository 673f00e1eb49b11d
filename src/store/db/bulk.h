// SPDX-License-Identifier: Apache-2.0
// Insertion of many rows into one table. SQLite runs one prepared statement per row. PostgreSQL
// uses COPY for many rows, and one statement with an array per column for few of them, and where
// rows may exist already.
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
    /// `suffix` is "ON CONFLICT DO NOTHING" or empty. On PostgreSQL it may also contain
    /// "RETURNING ..".
    Bulk(Database& db, std::string_view table, std::vector<Column> columns,
         std::string_view suffix = "");

    /// Sets the function that is called with each row that the suffix returns. PostgreSQL only.
    Bulk& returned(std::function<void(Statement&)> each) {
        each_ = std::move(each);
        return *this;
    }
    Bulk& text(std::string_view value);
    Bulk& optional(std::string_view value);  ///< null if `value` is empty
    Bulk& blob(std::string_view bytes);
    Bulk& integer(std::int64_t number);
    Bulk& real(double number);
    Bulk& null();
    /// Ends a row; called after its last column.
    Result<void> end_row();
    /// Returns the id of the row that end_row() inserted last. SQLite only.
    std::int64_t last_id() const { return db_.last_id(); }
    /// Writes the buffered rows; called after the last row. Unless rows are returned, PostgreSQL
    /// may write them later (see Statement::run_later()).
    Result<void> flush();

private:
    /// A buffered value, which ends at this offset of `bytes_`.
    struct Field {
        std::uint32_t end;
        bool null;
    };
    Result<void> open();
    void put(std::string_view text, bool null);
    Result<void> copy_rows();
    Result<void> insert_rows();
    Database& db_;
    std::string_view table_;
    std::vector<Column> columns_;
    std::string_view suffix_;
    std::optional<Statement> statement_;
    std::string bytes_;  ///< values of the buffered rows (PostgreSQL)
    std::vector<Field> fields_;
    std::function<void(Statement&)> each_;
    Result<void> opened_;
};

/// Returns the ids that `node` is linked to in `table` (certname_id, `column`).
Result<std::vector<std::int64_t>> linked_ids(Database& db, std::string_view table,
                                             std::string_view column, std::int64_t node);
Result<void> add_links(Database& db, std::string_view table, std::string_view column,
                       std::int64_t node, std::span<const std::int64_t> ids);
/// Removes links. The unlinked content becomes a candidate for the garbage collector, with the kind
/// `kind` and the time of loss `lost_at`.
Result<void> remove_links(Database& db, std::string_view table, std::string_view column,
                          std::int64_t node, std::span<const std::int64_t> ids, int kind,
                          std::int64_t lost_at = 0);

}  // namespace bunraku::store
