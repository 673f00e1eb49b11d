// SPDX-License-Identifier: Apache-2.0
#include "store/engine/runs.h"

#include <fmt/format.h>

#include "core/codec/hex.h"
#include "store/query/report_sql.h"

namespace bunraku::store {

namespace {

/// The columns that read_run() reads.
constexpr std::string_view kRunColumns =
    "rp.id, rp.certname_id, rp.hash, rk.status, rk.noop, rk.noop_pending, rk.corrective_change,"
    " rp.start_time, rp.end_time, coalesce(rk.environment_id, 0),"
    " coalesce(rk.code_id, rk.configuration_version), rp.receive_time";
constexpr int kRunColumnCount = 12;
constexpr std::string_view kRuns = "reports rp LEFT JOIN report_kinds rk ON rk.id = rp.kind_id";

RunStatus status_of(std::string_view text) {
    if (text == "unchanged") return RunStatus::Unchanged;
    if (text == "changed") return RunStatus::Changed;
    return text == "failed" ? RunStatus::Failed : RunStatus::Unknown;
}

RunRow read_run(const Statement& s, int first = 0) {
    RunRow out;
    out.id = s.integer(first);
    out.node = s.integer(first + 1);
    out.hash = s.blob(first + 2);
    out.status = status_of(s.text(first + 3));
    out.noop = s.boolean(first + 4);
    out.noop_pending = s.boolean(first + 5);
    out.corrective = s.boolean(first + 6);
    out.start = s.integer(first + 7);
    out.end = s.integer(first + 8);
    out.environment = s.integer(first + 9);
    out.code = s.text(first + 10);
    out.received = s.integer(first + 11);
    return out;
}

Result<std::vector<RunRow>> read_runs(Statement s) {
    std::vector<RunRow> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(read_run(s));
    return out;
}

/// Reads rows of kRunColumns, the name of the node, its id and its environment.
NodeRow read_node(const Statement& s) {
    NodeRow out;
    if (!s.is_null(0)) out.run = read_run(s);
    out.certname = s.text(kRunColumnCount);
    out.run.node = s.integer(kRunColumnCount + 1);
    if (out.run.environment == 0) out.run.environment = s.integer(kRunColumnCount + 2);
    return out;
}

std::string nodes_query(std::string_view rest) {
    return fmt::format(
        "SELECT {}, c.certname, c.id, CASE WHEN rk.environment_id IS NULL THEN coalesce("
        "(SELECT cat.environment_id FROM catalogs cat WHERE cat.certname_id = c.id),"
        " (SELECT fs.environment_id FROM factsets fs WHERE fs.certname_id = c.id), 0) ELSE 0 END"
        " FROM certnames c LEFT JOIN reports rp ON rp.id = c.latest_report_id"
        " LEFT JOIN report_kinds rk ON rk.id = rp.kind_id {}",
        kRunColumns, rest);
}

}  // namespace

std::string RunRow::hash_text() const { return codec::to_hex(hash); }

Result<std::vector<NodeRow>> active_nodes(Database& db) {
    auto s = BUNRAKU_TRY(db.prepare(
        nodes_query("WHERE c.deactivated IS NULL AND c.expired IS NULL ORDER BY c.certname")));
    std::vector<NodeRow> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(read_node(s));
    return out;
}

Result<std::optional<NodeRow>> find_node(Database& db, std::string_view certname) {
    auto s = BUNRAKU_TRY(db.prepare(nodes_query("WHERE c.certname = ?")));
    s.bind(certname);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    return read_node(s);
}

Result<std::map<std::int64_t, std::string>> environment_names(Database& db) {
    auto s = BUNRAKU_TRY(db.prepare("SELECT id, name FROM environments"));
    std::map<std::int64_t, std::string> out;
    while (BUNRAKU_TRY(s.step())) out.emplace(s.integer(0), s.text(1));
    return out;
}

Result<std::vector<RunRow>> runs_after(Database& db, std::int64_t report, std::size_t most) {
    auto s = BUNRAKU_TRY(db.prepare(
        fmt::format("SELECT {} FROM {} WHERE rp.id > ? AND rp.plan IS NULL ORDER BY rp.id LIMIT ?",
                    kRunColumns, kRuns)));
    s.bind(report).bind(most);
    return read_runs(std::move(s));
}

Result<std::int64_t> last_report_id(Database& db) {
    auto s = BUNRAKU_TRY(db.prepare("SELECT max(id) FROM reports"));
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

Result<std::vector<RunRow>> runs_of_node(Database& db, std::int64_t node, std::int64_t before,
                                         std::size_t most) {
    auto s =
        BUNRAKU_TRY(db.prepare(fmt::format("SELECT {} FROM {} WHERE rp.certname_id = ? AND"
                                           " rp.producer_timestamp < ? AND rp.plan IS NULL"
                                           " ORDER BY rp.producer_timestamp DESC LIMIT ?",
                                           kRunColumns, kRuns)));
    s.bind(node).bind(before).bind(most);
    return read_runs(std::move(s));
}

Result<std::optional<RunRow>> run_after(Database& db, const RunRow& run) {
    auto s = BUNRAKU_TRY(db.prepare(
        fmt::format("SELECT {} FROM {} WHERE rp.certname_id = ? AND rp.producer_timestamp >"
                    " (SELECT producer_timestamp FROM reports WHERE id = ?) AND rp.plan IS NULL"
                    " ORDER BY rp.producer_timestamp LIMIT 1",
                    kRunColumns, kRuns)));
    s.bind(run.node).bind(run.id);
    auto runs = BUNRAKU_TRY(read_runs(std::move(s)));
    if (runs.empty()) return std::nullopt;
    return std::move(runs.front());
}

Result<std::int64_t> count_runs(Database& db, std::int64_t node) {
    auto s =
        BUNRAKU_TRY(db.prepare("SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM "
                               "report_counts WHERE certname_id = ? AND"
                               " report_type = 'agent'"));
    s.bind(node);
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

void RunCounts::add(const RunRow& run) {
    if (run.status == RunStatus::Failed) {
        ++failed;
    } else if (run.status == RunStatus::Changed) {
        ++(run.corrective ? corrected : changed);
    } else {
        ++unchanged;
    }
}

Result<std::vector<RunCounts>> run_counts(Database& db, std::int64_t since,
                                          std::int64_t last_report) {
    auto s = BUNRAKU_TRY(db.prepare(fmt::format(
        "SELECT rp.end_time / {} AS slot, rk.status, coalesce(rk.corrective_change, 0), count(*)"
        " FROM {} WHERE rp.end_time >= ? AND rp.id <= ? AND rp.plan IS NULL GROUP BY 1, 2, 3"
        " ORDER BY 1",
        kRunSlot, kRuns)));
    s.bind(since).bind(last_report);
    std::vector<RunCounts> out;
    while (BUNRAKU_TRY(s.step())) {
        const auto begin = s.integer(0) * kRunSlot;
        if (out.empty() || out.back().begin != begin) out.push_back({.begin = begin});
        auto& slot = out.back();
        const auto status = status_of(s.text(1));
        const auto number = s.integer(3);
        if (status == RunStatus::Failed) {
            slot.failed += number;
        } else if (status == RunStatus::Changed) {
            (s.boolean(2) ? slot.corrected : slot.changed) += number;
        } else {
            slot.unchanged += number;
        }
    }
    return out;
}

Result<std::optional<Run>> find_run(Database& db, std::string_view hash) {
    const auto bytes = codec::from_hex(hash);
    if (!bytes || bytes->empty()) return std::nullopt;
    const query::Dialect dialect(db.backend());
    auto s = BUNRAKU_TRY(db.prepare(fmt::format(
        "SELECT {}, c.certname, env.name, rk.puppet_version, {}, {}, rk.cached_catalog_status"
        " FROM {} JOIN certnames c ON c.id = rp.certname_id"
        " LEFT JOIN environments env ON env.id = rk.environment_id WHERE rp.hash = ?",
        kRunColumns, dialect.uuid_text("rp.transaction_uuid"),
        dialect.uuid_text("coalesce(rp.catalog_uuid, rk.catalog_uuid)"), kRuns)));
    s.bind_blob(*bytes);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    Run out;
    out.row = read_run(s);
    int column = kRunColumnCount;
    for (auto* text : {&out.certname, &out.environment, &out.puppet_version, &out.transaction_uuid,
                       &out.catalog_uuid, &out.cached_catalog_status})
        *text = s.text(column++);
    return out;
}

Result<RunData> run_data(Database& db, std::int64_t report) {
    const query::Dialect dialect(db.backend());
    auto s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT {}, {} FROM reports rp WHERE rp.id = ?",
                               query::report_text_sql(dialect, query::ReportText::Logs, "rp"),
                               query::report_text_sql(dialect, query::ReportText::Metrics, "rp"))));
    s.bind(report);
    RunData out;
    if (BUNRAKU_TRY(s.step())) {
        out.logs = s.text(0);
        out.metrics = s.text(1);
    }
    return out;
}

}  // namespace bunraku::store
