// SPDX-License-Identifier: Apache-2.0
// The rows of a report: its kind, which the reports of a node share, and its texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/db/writer.h"

namespace bunraku::store {

/// What the reports of a node have in common (report_kinds).
struct ReportKind {
    std::int64_t environment = 0, producer = 0;  ///< ids; 0 means null
    std::int64_t report_format = 0;
    std::optional<bool> noop, noop_pending, corrective_change;
    std::optional<std::string> status;
    std::string puppet_version, configuration_version;
    /// Not part of hash(). A report whose catalog_uuid differs from that of its kind stores it
    /// itself.
    std::optional<std::string> catalog_uuid;
    std::optional<std::string> code_id, job_id, cached_catalog_status;
    std::string texts;  ///< the form of the texts; see ReportForm

    Digest hash() const;
};

struct ReportKindRef {
    std::int64_t id = 0;
    std::optional<std::string> catalog_uuid;
};

struct KnownReport {
    bool duplicate = false;             ///< the report is already stored
    std::optional<ReportKindRef> kind;  ///< nullopt if the node has no such kind
};
/// Looks up the report by its hash, and its kind. The node's row must be locked.
Result<KnownReport> find_report(Database& db, std::int64_t node, const Digest& hash,
                                const ReportKind& kind);
/// Stores a kind that the node does not have. The node's row must be locked.
Result<ReportKindRef> put_report_kind(Database& db, std::int64_t node, const ReportKind& kind);

/// Binds a {uuid} column.
void bind_uuid(const Database& db, Statement& s, const std::optional<std::string>& uuid);

/// Splits the metrics and logs of a report into the parts that are stored: the form, which repeats
/// and belongs to the kind, the numbers, and the remaining texts for report_data.
class ReportTexts {
public:
    /// The logs of a report without events repeat those of others.
    ReportTexts(std::string_view metrics, std::string_view logs, bool logs_repeat);
    const std::string& form() const { return form_; }
    const std::string& numbers() const { return numbers_; }
    /// Stores the row of report_data, if the report needs one.
    Result<void> store_rest(Database& db, std::int64_t report) const;

private:
    std::string form_, numbers_;
    std::string_view metrics_, logs_;  ///< empty if the form contains them
};

}  // namespace bunraku::store
