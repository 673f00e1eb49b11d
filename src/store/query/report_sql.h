// SPDX-License-Identifier: Apache-2.0
// SQL that reads the metrics and logs of reports, which are stored in parts
// (store/db/report_texts.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/query/dialect.h"

namespace bunraku::query {

/// The texts of a report, in their order in report_kinds.texts.
enum class ReportText : std::uint8_t { Metrics, Logs };

/// Returns a scalar subquery with the JSON of the text. `report` is the alias of a row of
/// `reports`.
std::string report_text_sql(const Dialect& dialect, ReportText text, std::string_view report);

}  // namespace bunraku::query
