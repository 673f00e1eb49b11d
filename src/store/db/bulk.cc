// SPDX-License-Identifier: Apache-2.0
#include "store/db/bulk.h"

#include <charconv>
#include <fmt/format.h>

#include "core/base/assert.h"

namespace bunraku::store {

namespace {

/// The type of the array of a column's values.
std::string_view array_type(Bulk::Type type) {
    if (type == Bulk::Type::Integer) return "bigint[]";
    return type == Bulk::Type::Real ? "double precision[]" : "text[]";
}

std::string_view cast(Bulk::Type type) {
    switch (type) {
        case Bulk::Type::Json: return "::jsonb";
        case Bulk::Type::JsonText: return "::json";
        case Bulk::Type::Blob: return "::bytea";
        case Bulk::Type::Integer:
        case Bulk::Type::Real:
        case Bulk::Type::Text: break;
    }
    return "";
}

void append_escaped(std::string& out, std::string_view text) {
    std::size_t from = 0;
    for (std::size_t at; (at = text.find_first_of("\"\\", from)) != std::string_view::npos;) {
        out.append(text, from, at - from);
        out += '\\';
        out += text[at];
        from = at + 1;
    }
    out.append(text, from);
}

/// Appends a field in the text format of COPY.
void append_field(std::string& out, std::string_view text) {
    std::size_t from = 0;
    constexpr std::string_view kSpecial = "\\\t\n\r";
    for (std::size_t at; (at = text.find_first_of(kSpecial, from)) != std::string_view::npos;) {
        out.append(text, from, at - from);
        out += '\\';
        out += text[at] == '\t' ? 't' : text[at] == '\n' ? 'n' : text[at] == '\r' ? 'r' : '\\';
        from = at + 1;
    }
    out.append(text, from);
}

constexpr std::size_t kMaxBytes = 4 << 20;  ///< Size limit of one statement.
/// COPY needs two round trips and is parsed each time. From this number of rows on, it is cheaper.
constexpr std::size_t kCopied = 100;

}  // namespace

Bulk::Bulk(Database& db, std::string_view table, std::vector<Column> columns,
           std::string_view suffix)
    : db_(db), table_(table), columns_(std::move(columns)), suffix_(suffix) {
    BUNRAKU_ASSERT(!columns_.empty());
}

void Bulk::put(std::string_view text, bool null) {
    bytes_ += text;
    fields_.push_back({static_cast<std::uint32_t>(bytes_.size()), null});
}

Result<void> Bulk::open() {
    BUNRAKU_ASSERT(!statement_);
    std::string sql = fmt::format("INSERT INTO {} (", table_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (i > 0) sql += ", ";
        sql += columns_[i].name;
    }
    if (db_.postgresql()) {
        sql += ") SELECT ";
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            sql += fmt::format("{}c{}{}", i ? ", " : "", i, cast(columns_[i].type));
        }
        sql += " FROM unnest(";
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            sql += fmt::format("{}?::{}", i ? ", " : "", array_type(columns_[i].type));
        }
        sql += ") AS r (";
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            sql += fmt::format("{}c{}", i ? ", " : "", i);
        }
        sql += ")";
    } else {
        sql += ") VALUES (";
        for (std::size_t i = 0; i < columns_.size(); ++i) sql += i ? ", ?" : "?";
        sql += ")";
    }
    if (!suffix_.empty()) {
        sql += ' ';
        sql += suffix_;
    }
    statement_.emplace(BUNRAKU_TRY(db_.prepare(sql)));
    return {};
}

Bulk& Bulk::text(std::string_view value) {
    if (db_.postgresql()) {
        put(value, false);
        return *this;
    }
    if (!statement_) opened_ = open();
    if (opened_) statement_->bind(value);
    return *this;
}

Bulk& Bulk::optional(std::string_view value) { return value.empty() ? null() : text(value); }

Bulk& Bulk::blob(std::string_view bytes) {
    if (db_.postgresql()) {
        static constexpr char kHex[] = "0123456789abcdef";
        std::string hex = "\\x";
        for (char c : bytes) {
            auto byte = static_cast<unsigned char>(c);
            hex += kHex[byte >> 4];
            hex += kHex[byte & 15];
        }
        put(hex, false);
        return *this;
    }
    if (!statement_) opened_ = open();
    if (opened_) statement_->bind_blob(bytes);
    return *this;
}

Bulk& Bulk::integer(std::int64_t number) {
    if (db_.postgresql()) {
        char digits[24];
        char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        put({digits, static_cast<std::size_t>(end - digits)}, false);
        return *this;
    }
    if (!statement_) opened_ = open();
    if (opened_) statement_->bind(number);
    return *this;
}

Bulk& Bulk::real(double number) {
    if (db_.postgresql()) {
        put(fmt::format("{}", number), false);
        return *this;
    }
    if (!statement_) opened_ = open();
    if (opened_) statement_->bind(number);
    return *this;
}

Bulk& Bulk::null() {
    if (db_.postgresql()) {
        put({}, true);
        return *this;
    }
    if (!statement_) opened_ = open();
    if (opened_) statement_->bind_null();
    return *this;
}

Result<void> Bulk::end_row() {
    if (!db_.postgresql()) {
        if (!opened_) return opened_;
        BUNRAKU_ASSERT(statement_.has_value());
        BUNRAKU_TRY_VOID(statement_->run());
        statement_->reset();
        return {};
    }
    BUNRAKU_ASSERT(fields_.size() % columns_.size() == 0);
    return bytes_.size() > kMaxBytes ? flush() : Result<void>{};
}

Result<void> Bulk::flush() {
    if (fields_.empty()) return {};
    BUNRAKU_ASSERT(db_.postgresql() && fields_.size() % columns_.size() == 0);
    const bool copies = suffix_.empty() && fields_.size() / columns_.size() >= kCopied;
    auto done = copies ? copy_rows() : insert_rows();
    bytes_.clear();
    fields_.clear();
    return done;
}

Result<void> Bulk::copy_rows() {
    std::string sql = fmt::format("COPY {} (", table_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (i > 0) sql += ", ";
        sql += columns_[i].name;
    }
    std::string rows;
    rows.reserve(bytes_.size() + 2 * fields_.size());
    std::size_t begin = 0, column = 0;
    for (const Field& field : fields_) {
        if (field.null) {
            rows += "\\N";
        } else {
            append_field(rows, std::string_view(bytes_).substr(begin, field.end - begin));
        }
        begin = field.end;
        column = (column + 1) % columns_.size();
        rows += column == 0 ? '\n' : '\t';
    }
    return db_.copy_in(sql + ") FROM STDIN", rows);
}

Result<void> Bulk::insert_rows() {
    if (!statement_) BUNRAKU_TRY_VOID(open());
    std::string array;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        const bool quoted = array_type(columns_[column].type) == "text[]";
        array = "{";
        for (std::size_t i = column; i < fields_.size(); i += columns_.size()) {
            if (i > column) array += ',';
            const std::size_t begin = i == 0 ? 0 : fields_[i - 1].end;
            const auto text = std::string_view(bytes_).substr(begin, fields_[i].end - begin);
            if (fields_[i].null) {
                array += "NULL";
            } else if (quoted) {
                array += '"';
                append_escaped(array, text);
                array += '"';
            } else {
                array += text;
            }
        }
        array += '}';
        statement_->bind(array);
    }
    if (!each_) return statement_->run_later();
    while (BUNRAKU_TRY(statement_->step())) each_(*statement_);
    statement_->reset();
    return {};
}

Result<std::vector<std::int64_t>> linked_ids(Database& db, std::string_view table,
                                             std::string_view column, std::int64_t node) {
    Statement s = BUNRAKU_TRY(db.prepare(
        fmt::format("SELECT {} FROM {} WHERE certname_id = ? ORDER BY {}", column, table, column)));
    s.bind(node);
    std::vector<std::int64_t> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(s.integer(0));
    return out;
}

Result<void> add_links(Database& db, std::string_view table, std::string_view column,
                       std::int64_t node, std::span<const std::int64_t> ids) {
    if (ids.empty()) return {};
    if (db.postgresql()) {
        BUNRAKU_ASSERT(node != 0);
        // The lock on the node's row ensures that no other writer adds links to it.
        Bulk rows(db, table, {{"certname_id", Bulk::Type::Integer}, {column, Bulk::Type::Integer}});
        for (std::int64_t id : ids) {
            rows.integer(node).integer(id);
            BUNRAKU_TRY_VOID(rows.end_row());
        }
        return rows.flush();
    }
    Statement s = BUNRAKU_TRY(db.prepare(
        fmt::format("INSERT OR IGNORE INTO {} (certname_id, {}) VALUES (?, ?)", table, column)));
    for (std::int64_t id : ids) {
        s.bind(node).bind(id);
        BUNRAKU_TRY_VOID(s.run());
        s.reset();
    }
    return {};
}

Result<void> remove_links(Database& db, std::string_view table, std::string_view column,
                          std::int64_t node, std::span<const std::int64_t> ids, int kind,
                          std::int64_t lost_at) {
    if (ids.empty()) return {};
    BUNRAKU_ASSERT(node != 0 && lost_at >= 0);
    // The last loss decides how long the content is retained.
    const std::string later =
        lost_at > 0 ? "ON CONFLICT (kind, id) DO UPDATE SET lost_at = excluded.lost_at"
                      " WHERE gc_candidates.lost_at < excluded.lost_at"
                    : "ON CONFLICT (kind, id) DO NOTHING";
    if (db.postgresql()) {
        {
            Statement s = BUNRAKU_TRY(
                db.prepare(fmt::format("DELETE FROM {} WHERE certname_id = ? AND {} = ANY"
                                       " (?::bigint[])",
                                       table, column)));
            s.bind(node).bind_array(ids);
            BUNRAKU_TRY_VOID(s.run_later());
        }
        Statement s =
            BUNRAKU_TRY(db.prepare("INSERT INTO gc_candidates (kind, id, lost_at)"
                                   " SELECT ?, unnest(?::bigint[]), ? " +
                                   later));
        s.bind(kind).bind_array(ids).bind(lost_at);
        return s.run_later();
    }
    Statement remove = BUNRAKU_TRY(
        db.prepare(fmt::format("DELETE FROM {} WHERE certname_id = ? AND {} = ?", table, column)));
    Statement candidate = BUNRAKU_TRY(
        db.prepare("INSERT INTO gc_candidates (kind, id, lost_at) VALUES (?, ?, ?) " + later));
    for (std::int64_t id : ids) {
        remove.bind(node).bind(id);
        BUNRAKU_TRY_VOID(remove.run());
        remove.reset();
        candidate.bind(kind).bind(id).bind(lost_at);
        BUNRAKU_TRY_VOID(candidate.run());
        candidate.reset();
    }
    return {};
}

}  // namespace bunraku::store
