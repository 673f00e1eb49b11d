// SPDX-License-Identifier: Apache-2.0
// The metrics and logs of reports, split into a form that the reports of a node share and the
// numbers of each report. docs/design/0265-compact-reports.md describes the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;

namespace bunraku::store {

/// Splits JSON texts. The form contains U+0001 instead of each number that may differ, and U+0002
/// between two texts. Neither character occurs in JSON.
class ReportForm {
public:
    /// The characters of a text that belong to the numbers.
    enum class Numbers : std::uint8_t {
        Fractions,  ///< numbers with a fraction: durations
        All,        ///< all numbers
        Texts,      ///< all numbers, and digits inside strings: times and measured values
    };
    /// Adds a text. Returns false, without adding anything, if it is not JSON.
    bool add(std::string_view json, Numbers numbers);
    const std::string& form() const { return form_; }
    /// Returns the numbers, two characters a byte.
    std::string packed() const;

private:
    void gap(std::string_view number);
    std::string form_, numbers_;
    std::size_t parts_ = 0;
};

/// Returns a text of a form, with the numbers inserted, or an empty text if the form has fewer
/// texts.
std::string filled_report_part(std::string_view form, std::string_view packed, std::size_t part);

/// Compresses a text with zlib, for SQLite. PostgreSQL compresses by itself.
std::string compressed_report_text(std::string_view text);
/// Decompresses it. Returns an empty text if the input is damaged.
std::string decompressed_report_text(std::string_view compressed);

/// Returns the 16 bytes of a UUID with hyphens. Returns fewer if it is not one.
std::string uuid_bytes(std::string_view text);

/// Registers report_part(), uuid_text() and uuid_blob() with SQLite.
void register_report_functions(sqlite3* db);

}  // namespace bunraku::store
