// SPDX-License-Identifier: Apache-2.0
// The events of runs: of one run, the corrections of a node, the first failure of a resource.
#include <algorithm>
#include <fmt/format.h>

#include "store/engine/runs.h"

namespace bunraku::store {

namespace {

constexpr std::string_view kEventColumns =
    "ev.status, ev.resource_type, ev.resource_title, ev.property, ev.message, ev.file,"
    " ev.containing_class, ev.old_value, ev.new_value, ev.containment_path, ev.line, ev.timestamp,"
    " ev.corrective_change";

Result<std::vector<RunEvent>> read_events(Statement s) {
    std::vector<RunEvent> out;
    while (BUNRAKU_TRY(s.step())) {
        RunEvent e;
        int column = 0;
        for (auto* text : {&e.status, &e.type, &e.title, &e.property, &e.message, &e.file,
                           &e.containing_class, &e.old_value, &e.new_value, &e.path})
            *text = s.text(column++);
        e.line = s.integer(column++);
        e.time = s.integer(column++);
        e.corrective = s.boolean(column);
        out.push_back(std::move(e));
    }
    return out;
}

}  // namespace

Result<std::vector<RunEvent>> run_events(Database& db, const RunRow& run, std::size_t most) {
    auto s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT {} FROM resource_events ev WHERE ev.certname_id = ? AND"
                               " ev.report_id = ? ORDER BY ev.seq LIMIT ?",
                               kEventColumns)));
    s.bind(run.node).bind(run.id).bind(most);
    return read_events(std::move(s));
}

Result<std::vector<RunEvent>> run_events(Database& db, const RunRow& run, std::string_view status,
                                         std::size_t most) {
    auto s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT {} FROM resource_events ev WHERE ev.certname_id = ? AND"
                               " ev.report_id = ? AND ev.status = ? ORDER BY ev.seq LIMIT ?",
                               kEventColumns)));
    s.bind(run.node).bind(run.id).bind(status).bind(most);
    return read_events(std::move(s));
}

Result<std::vector<DriftRow>> drift_of_node(Database& db, std::int64_t node, std::int64_t since,
                                            std::size_t most) {
    // The newest correction of each property comes first, so the first row of each has its values.
    auto s = BUNRAKU_TRY(db.prepare(
        "SELECT ev.resource_type, ev.resource_title, coalesce(ev.property, ''), ev.old_value,"
        " ev.new_value, ev.timestamp, rp.hash FROM resource_events ev"
        " JOIN reports rp ON rp.id = ev.report_id WHERE ev.certname_id = ? AND ev.timestamp >= ?"
        " AND ev.corrective_change = 1 ORDER BY ev.timestamp DESC LIMIT 1000"));
    s.bind(node).bind(since);
    std::vector<DriftRow> out;
    while (BUNRAKU_TRY(s.step())) {
        const auto known = std::ranges::find_if(out, [&](const DriftRow& row) {
            return row.type == s.text(0) && row.title == s.text(1) && row.property == s.text(2);
        });
        if (known != out.end()) {
            ++known->times;
            continue;
        }
        DriftRow row;
        int column = 0;
        for (auto* text : {&row.type, &row.title, &row.property, &row.found, &row.set})
            *text = s.text(column++);
        row.last = s.integer(column++);
        row.report = s.blob(column);
        row.times = 1;
        out.push_back(std::move(row));
    }
    std::ranges::stable_sort(out, std::ranges::greater{}, &DriftRow::times);
    if (out.size() > most) out.resize(most);
    return out;
}

Result<std::optional<FirstFailure>> first_failure(Database& db, std::string_view type,
                                                  std::string_view title) {
    auto s = BUNRAKU_TRY(
        db.prepare("SELECT ev.timestamp, coalesce(rk.code_id, rk.configuration_version)"
                   " FROM resource_events ev JOIN reports rp ON rp.id = ev.report_id"
                   " JOIN report_kinds rk ON rk.id = rp.kind_id"
                   " WHERE ev.resource_type = ? AND ev.resource_title = ? AND ev.status = 'failure'"
                   " ORDER BY ev.timestamp LIMIT 1"));
    s.bind(type).bind(title);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    return FirstFailure{s.integer(0), std::string(s.text(1))};
}

Result<std::map<std::int64_t, std::string>> fact_values(Database& db, std::string_view name) {
    auto s = BUNRAKU_TRY(db.prepare(kFactValuesSql));
    s.bind(name);
    std::map<std::int64_t, std::string> out;
    constexpr std::size_t kMostValue = 512;  // bytes; longer values do not form groups
    while (BUNRAKU_TRY(s.step())) {
        if (s.text(1).size() <= kMostValue)
            out.insert_or_assign(s.integer(0), std::string(s.text(1)));
    }
    return out;
}

Result<std::map<std::int64_t, std::string>> class_values(Database& db, std::string_view prefix) {
    auto s = BUNRAKU_TRY(db.prepare(kClassValuesSql));
    const std::string below = std::string(prefix) + "::";
    s.bind(prefix).bind(below).bind(below);
    std::map<std::int64_t, std::string> out;
    while (BUNRAKU_TRY(s.step())) out.insert_or_assign(s.integer(0), std::string(s.text(1)));
    return out;
}

}  // namespace bunraku::store
