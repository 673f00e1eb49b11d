// SPDX-License-Identifier: Apache-2.0
// The SQL functions by which SQLite reads the short rows of reports.
#include <algorithm>
#include <sqlite3.h>
#include <string>
#include <string_view>

#include "store/db/report_texts.h"
#include "store/db/scalar_function.h"

namespace bunraku::store {

namespace {

std::string_view bytes_of_value(sqlite3_value* v) {
    const auto* p = static_cast<const char*>(sqlite3_value_blob(v));
    return {p ? p : "", static_cast<std::size_t>(sqlite3_value_bytes(v))};
}

void give(sqlite3_context* context, std::string_view text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Implements report_part(form, numbers, part, stored): returns the part of the form, or `stored`
/// (a column of report_data) if the form has none.
void report_part(sqlite3_context* context, int, sqlite3_value** argv) {
    if (sqlite3_value_type(argv[0]) == SQLITE_TEXT) {
        const auto part = static_cast<std::size_t>(std::max(sqlite3_value_int(argv[2]), 0));
        const std::string text =
            filled_report_part(bytes_of_value(argv[0]), bytes_of_value(argv[1]), part);
        if (!text.empty()) return give(context, text);
    }
    if (sqlite3_value_type(argv[3]) == SQLITE_BLOB) {
        const std::string text = decompressed_report_text(bytes_of_value(argv[3]));
        if (text.empty()) return sqlite3_result_error(context, "a damaged text of a report", -1);
        return give(context, text);
    }
    const std::string_view stored = bytes_of_value(argv[3]);
    if (!stored.empty()) give(context, stored);
}

void uuid_text(sqlite3_context* context, int, sqlite3_value** argv) {
    const std::string_view bytes = bytes_of_value(argv[0]);
    if (bytes.size() != 16) return;
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        const auto byte = static_cast<unsigned char>(bytes[i]);
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    give(context, out);
}

void uuid_blob(sqlite3_context* context, int, sqlite3_value** argv) {
    if (sqlite3_value_type(argv[0]) != SQLITE_TEXT) return;
    const std::string bytes = uuid_bytes(bytes_of_value(argv[0]));
    if (bytes.size() != 16) return sqlite3_result_error(context, "not a UUID", -1);
    sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

}  // namespace

void register_report_functions(sqlite3* db) {
    add_function(db, "report_part", 4, guarded<report_part>);
    add_function(db, "uuid_text", 1, guarded<uuid_text>);
    add_function(db, "uuid_blob", 1, guarded<uuid_blob>);
}

}  // namespace bunraku::store
