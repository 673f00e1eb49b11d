// SPDX-License-Identifier: Apache-2.0
// Reads the runs of nodes for the console: the latest run of each node, the runs of one node, and
// one run with its events. Unlike the entities of the query API, which follow PuppetDB, the rows
// contain whether a run corrected drift.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/database.h"

namespace bunraku::store {

enum class RunStatus : std::uint8_t { Unknown, Unchanged, Changed, Failed };

/// A run as its report describes it. Times are milliseconds since the epoch.
struct RunRow {
    std::int64_t id = 0;    ///< of the report; 0 if the node has no report
    std::int64_t node = 0;  ///< certnames.id
    std::string hash;       ///< bytes
    RunStatus status = RunStatus::Unknown;
    bool noop = false, noop_pending = false, corrective = false;
    std::int64_t start = 0, end = 0;  ///< by the clock of the agent
    std::int64_t received = 0;        ///< when the store received the report
    std::int64_t environment = 0;     ///< 0 if it is unknown
    std::string code;                 ///< code_id, or the version of the catalog

    std::string hash_text() const;  ///< hexadecimal, as in the API
};

/// An active node with its latest run. `run.environment` is that of the catalog or of the facts if
/// the node has no report.
struct NodeRow {
    std::string certname;
    RunRow run;
};

/// Returns all active nodes, sorted by name.
Result<std::vector<NodeRow>> active_nodes(Database& db);
/// Returns the node even if it is inactive, or nullopt if it is unknown.
Result<std::optional<NodeRow>> find_node(Database& db, std::string_view certname);
/// Returns the names of environments by id.
Result<std::map<std::int64_t, std::string>> environment_names(Database& db);
/// Returns agents' runs whose report has an id above `report`, in the order of their ids.
Result<std::vector<RunRow>> runs_after(Database& db, std::int64_t report, std::size_t most);
/// Returns the newest report id, or 0.
Result<std::int64_t> last_report_id(Database& db);
/// Returns the runs of a node that began before `before`, newest first.
Result<std::vector<RunRow>> runs_of_node(Database& db, std::int64_t node, std::int64_t before,
                                         std::size_t most);
/// Returns the number of stored runs of a node.
Result<std::int64_t> count_runs(Database& db, std::int64_t node);

/// The runs that ended within `kRunSlot` after `begin`.
struct RunCounts {
    std::int64_t begin = 0;
    std::int64_t failed = 0, corrected = 0, changed = 0, unchanged = 0;
    void add(const RunRow& run);
};
inline constexpr std::int64_t kRunSlot = 30LL * 60 * 1000;
/// Returns the counts of all runs that ended at `since` or later and whose report has at most the
/// id `last_report`, oldest first.
Result<std::vector<RunCounts>> run_counts(Database& db, std::int64_t since,
                                          std::int64_t last_report);

/// A run with the details that its page shows.
struct Run {
    RunRow row;
    std::string certname, environment, puppet_version, transaction_uuid, catalog_uuid,
        cached_catalog_status;
};
/// Returns nullopt if no report has this hash. `hash` is hexadecimal.
Result<std::optional<Run>> find_run(Database& db, std::string_view hash);

struct RunEvent {
    std::string status, type, title, property, message, file, containing_class;
    std::string old_value, new_value;  ///< JSON
    std::string path;                  ///< containment path, a JSON array
    std::int64_t line = 0;             ///< 0 if it is unknown
    std::int64_t time = 0;
    bool corrective = false;
};
/// Returns up to `most` events of a run in the order of the report.
Result<std::vector<RunEvent>> run_events(Database& db, const RunRow& run, std::size_t most);
/// Returns only those with this status, such as "failure".
Result<std::vector<RunEvent>> run_events(Database& db, const RunRow& run, std::string_view status,
                                         std::size_t most);

/// The logs and metrics of a run, as JSON arrays.
struct RunData {
    std::string logs = "[]", metrics = "[]";
};
Result<RunData> run_data(Database& db, std::int64_t report);

/// Changes of a node that corrected drift, by resource and property, the most frequent first.
struct DriftRow {
    std::string type, title, property, found, set;  ///< values as JSON, of the latest correction
    std::int64_t times = 0, last = 0;
    std::string report;  ///< bytes of the hash of the latest run
};
Result<std::vector<DriftRow>> drift_of_node(Database& db, std::int64_t node, std::int64_t since,
                                            std::size_t most);

/// The oldest stored failure of a resource.
struct FirstFailure {
    std::int64_t time = 0;
    std::string code;
};
Result<std::optional<FirstFailure>> first_failure(Database& db, std::string_view type,
                                                  std::string_view title);

/// The statements of the two functions below; a test checks their plans.
inline constexpr std::string_view kFactValuesSql =
    "SELECT ff.certname_id, f.value FROM facts f JOIN factset_facts ff ON ff.fact_id = f.id"
    " WHERE f.name = ?";
/// Resources are few compared with their uses, and found by the index on type and title.
inline constexpr std::string_view kClassValuesSql =
    "SELECT cr.certname_id, min(r.title) FROM resources r JOIN catalog_resources cr ON"
    " cr.resource_id = r.id WHERE r.type = 'Class' AND (r.title = ? OR substr(r.title, 1, "
    "length(?)) = ?)"
    " GROUP BY cr.certname_id";
/// Returns the JSON value of a fact of each node that has it, by certnames.id.
Result<std::map<std::int64_t, std::string>> fact_values(Database& db, std::string_view name);
/// Returns the first class of each node whose name is `prefix` or begins with it and "::", by
/// certnames.id. The prefix is written as in catalogs, such as "Role".
Result<std::map<std::int64_t, std::string>> class_values(Database& db, std::string_view prefix);
/// Returns the next run of the same node, or nullopt.
Result<std::optional<RunRow>> run_after(Database& db, const RunRow& run);

}  // namespace bunraku::store
