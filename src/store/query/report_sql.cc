// SPDX-License-Identifier: Apache-2.0
#include "store/query/report_sql.h"

#include <fmt/format.h>

namespace bunraku::query {

std::string report_text_sql(const Dialect& dialect, ReportText text, std::string_view report) {
    const auto part = static_cast<int>(text);
    const std::string_view column = text == ReportText::Metrics ? "metrics" : "logs";
    std::string value;
    if (dialect.postgresql()) {
        // The hexadecimal digits of `numbers` are its characters, except for a to d and f.
        value = fmt::format(
            "coalesce(nullif(split_part((SELECT string_agg(drp.piece || coalesce(drp.number, ''),"
            " '' ORDER BY drp.n) FROM unnest(string_to_array(drk.texts, chr(1)),"
            " string_to_array(translate(encode({0}.numbers, 'hex'), 'abcdf', '.-:T,'), ','))"
            " WITH ORDINALITY AS drp (piece, number, n)), chr(2), {1}), '')::jsonb, drd.{2})",
            report, part + 1, column);
    } else {
        value = fmt::format("report_part(drk.texts, {}.numbers, {}, drd.{})", report, part, column);
    }
    return fmt::format(
        "(SELECT {0} FROM report_kinds drk LEFT JOIN report_data drd ON drd.report_id = {1}.id"
        " WHERE drk.id = {1}.kind_id)",
        value, report);
}

}  // namespace bunraku::query
