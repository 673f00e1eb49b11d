// SPDX-License-Identifier: Apache-2.0
#include "store/engine/garbage.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "store/db/source_locations.h"
#include "store/engine/impl.h"
#include "store/engine/undeclared.h"

namespace bunraku::store {

namespace {

constexpr std::int64_t kDay = 86400LL * 1000;

Result<std::vector<std::int64_t>> ids(Database& db, std::string_view sql,
                                      std::initializer_list<std::int64_t> values) {
    Statement s = BUNRAKU_TRY(db.prepare(sql));
    for (std::int64_t v : values) s.bind(v);
    std::vector<std::int64_t> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(s.integer(0));
    return out;
}

/// Runs `statement` for the rows whose `column` is one of `all`.
Result<void> for_ids(Database& db, std::string_view statement, std::string_view column,
                     const std::vector<std::int64_t>& all, std::string_view rest = "") {
    if (all.empty()) return {};
    if (db.postgresql()) {
        Statement s = BUNRAKU_TRY(
            db.prepare(fmt::format("{} WHERE {} = ANY (?::bigint[]){}", statement, column, rest)));
        s.bind_array(all);
        return s.run();
    }
    Statement s =
        BUNRAKU_TRY(db.prepare(fmt::format("{} WHERE {} = ?{}", statement, column, rest)));
    for (std::int64_t id : all) {
        s.bind(id);
        BUNRAKU_TRY_VOID(s.run());
        s.reset();
    }
    return {};
}

/// Returns the members of `all` to which no row of `table` refers. Input and result are sorted.
Result<std::vector<std::int64_t>> unlinked(Database& db, std::string_view table,
                                           std::string_view column,
                                           const std::vector<std::int64_t>& all) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(all));
    std::vector<std::int64_t> out;
    if (all.empty()) return out;
    if (db.postgresql()) {
        Statement s = BUNRAKU_TRY(
            db.prepare(fmt::format("SELECT w.id FROM unnest(?::bigint[]) AS w (id) WHERE NOT EXISTS"
                                   " (SELECT 1 FROM {} l WHERE l.{} = w.id) ORDER BY w.id",
                                   table, column)));
        s.bind_array(all);
        while (BUNRAKU_TRY(s.step())) out.push_back(s.integer(0));
        return out;
    }
    Statement s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT 1 FROM {} WHERE {} = ? LIMIT 1", table, column)));
    for (std::int64_t id : all) {
        s.bind(id);
        if (!BUNRAKU_TRY(s.step())) out.push_back(id);
        s.reset();
    }
    return out;
}

struct OldReport {
    std::int64_t id, node, kind;
};

/// Reads the first reports of a query (id, certname_id, kind_id, event_count). Stops when they have
/// about `kEvents` events in total.
Result<std::vector<OldReport>> some_reports(Statement& s) {
    constexpr std::int64_t kEvents = 5000;
    std::vector<OldReport> out;
    std::int64_t events = 0;
    while (events < kEvents && BUNRAKU_TRY(s.step())) {
        out.push_back({s.integer(0), s.integer(1), s.integer(2)});
        events += s.integer(3);
    }
    s.reset();
    return out;
}

/// Removes those of the kinds that no report has any more.
Result<void> delete_report_kinds(Database& db, const std::vector<OldReport>& gone) {
    constexpr std::string_view kUnused =
        "NOT EXISTS (SELECT 1 FROM reports r WHERE r.certname_id = report_kinds.certname_id"
        " AND r.kind_id = report_kinds.id)";
    std::vector<std::int64_t> kinds;
    for (const OldReport& o : gone) kinds.push_back(o.kind);
    std::ranges::sort(kinds);
    kinds.erase(std::ranges::unique(kinds).begin(), kinds.end());
    if (!db.postgresql()) {
        return for_ids(db, "DELETE FROM report_kinds", "id", kinds,
                       fmt::format(" AND {}", kUnused));
    }
    Statement unused = BUNRAKU_TRY(db.prepare(
        fmt::format("SELECT id FROM report_kinds WHERE id = ANY (?::bigint[]) AND {}", kUnused)));
    unused.bind_array(kinds);
    kinds.clear();
    while (BUNRAKU_TRY(unused.step())) kinds.push_back(unused.integer(0));
    if (kinds.empty()) return {};
    // A writer that uses a kind holds the lock of the node until its report is stored.
    Statement lock = BUNRAKU_TRY(
        db.prepare("SELECT c.id FROM certnames c WHERE c.id IN (SELECT k.certname_id FROM"
                   " report_kinds k WHERE k.id = ANY (?::bigint[])) ORDER BY c.id FOR UPDATE"));
    lock.bind_array(kinds);
    BUNRAKU_TRY_VOID(lock.run());
    return for_ids(db, "DELETE FROM report_kinds", "id", kinds, fmt::format(" AND {}", kUnused));
}

Result<void> delete_reports(Database& db, const std::vector<OldReport>& old) {
    std::vector<std::int64_t> reports, nodes;
    for (const OldReport& o : old) {
        reports.push_back(o.id);
        nodes.push_back(o.node);
    }
    BUNRAKU_ASSERT(reports.size() == old.size() && nodes.size() == old.size());
    if (db.postgresql()) {
        // Nodes are locked first and in a fixed order, because a worker holds the lock of at most
        // one of them.
        Statement latest = BUNRAKU_TRY(db.prepare(
            "UPDATE certnames SET latest_report_id = NULL, latest_report_timestamp = NULL"
            " WHERE id IN (SELECT id FROM certnames WHERE id = ANY (?::bigint[]) AND"
            " latest_report_id = ANY (?::bigint[]) ORDER BY id FOR UPDATE)"
            " AND latest_report_id = ANY (?::bigint[])"));
        latest.bind_array(nodes).bind_array(reports).bind_array(reports);
        BUNRAKU_TRY_VOID(latest.run());
        Statement events = BUNRAKU_TRY(
            db.prepare("DELETE FROM resource_events e USING unnest(?::bigint[], ?::bigint[])"
                       " AS w (node, report) WHERE e.certname_id = w.node"
                       " AND e.report_id = w.report"));
        events.bind_array(nodes).bind_array(reports);
        BUNRAKU_TRY_VOID(events.run());
        BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM latest_events", "certname_id", nodes,
                                 " AND NOT EXISTS (SELECT 1 FROM certnames c WHERE c.id ="
                                 " certname_id AND c.latest_report_id = report_id)"));
        BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM reports", "id", reports));
        return delete_report_kinds(db, old);
    }
    Statement events = BUNRAKU_TRY(
        db.prepare("DELETE FROM resource_events WHERE certname_id = ? AND report_id = ?"));
    Statement latest = BUNRAKU_TRY(
        db.prepare("UPDATE certnames SET latest_report_id = NULL, latest_report_timestamp = NULL"
                   " WHERE id = ? AND latest_report_id = ?"));
    Statement newest = BUNRAKU_TRY(
        db.prepare("DELETE FROM latest_events WHERE certname_id = ? AND report_id = ?"));
    for (const OldReport& o : old) {
        latest.bind(o.node).bind(o.id);
        BUNRAKU_TRY_VOID(latest.run());
        latest.reset();
        events.bind(o.node).bind(o.id);
        BUNRAKU_TRY_VOID(events.run());
        events.reset();
        newest.bind(o.node).bind(o.id);
        BUNRAKU_TRY_VOID(newest.run());
        newest.reset();
    }
    BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM reports", "id", reports));
    return delete_report_kinds(db, old);
}

/// Returns some of the node's reports. Returns none if only a few are left, which are removed
/// together with the node. The row must be locked.
Result<std::vector<OldReport>> many_reports_of(Database& db, std::int64_t node) {
    constexpr std::size_t kFew = 20;
    Statement s =
        BUNRAKU_TRY(db.prepare("SELECT id, certname_id, kind_id, event_count FROM reports WHERE "
                               "certname_id = ? LIMIT 500"));
    s.bind(node);
    std::vector<OldReport> out = BUNRAKU_TRY(some_reports(s));
    if (out.size() < kFew) out.clear();
    return out;
}

/// Makes the node's content a candidate for the garbage collector, then removes its links.
Result<void> unlink_all(Database& db, std::string_view table, std::string_view column,
                        std::int64_t node, int kind) {
    {
        Statement s = BUNRAKU_TRY(
            db.prepare(fmt::format("INSERT INTO gc_candidates (kind, id) SELECT {}, {} FROM {}"
                                   " WHERE certname_id = ? ORDER BY {} ON CONFLICT DO NOTHING",
                                   kind, column, table, column)));
        s.bind(node);
        BUNRAKU_TRY_VOID(s.run());
    }
    Statement s =
        BUNRAKU_TRY(db.prepare(fmt::format("DELETE FROM {} WHERE certname_id = ?", table)));
    s.bind(node);
    return s.run();
}

Result<void> purge(Writer& writer, std::int64_t node) {
    BUNRAKU_ASSERT(node != 0);
    Database& db = writer.db();
    BUNRAKU_TRY_VOID(unlink_all(db, "catalog_resources", "resource_id", node, kGcResources));
    BUNRAKU_TRY_VOID(unlink_all(db, "factset_facts", "fact_id", node, kGcFacts));
    BUNRAKU_TRY_VOID(unlink_all(db, "certname_packages", "package_id", node, kGcPackages));
    for (const char* table : {"resource_events", "latest_events", "catalog_input_contents",
                              "catalog_types", "report_counts"}) {
        Statement s =
            BUNRAKU_TRY(db.prepare(fmt::format("DELETE FROM {} WHERE certname_id = ?", table)));
        s.bind(node);
        BUNRAKU_TRY_VOID(s.run());
    }
    // The deletion cascades to all rows that refer to the node. It may remove kinds of reports
    // before the reports, which the triggers then cannot count.
    Statement s = BUNRAKU_TRY(db.prepare("DELETE FROM certnames WHERE id = ?"));
    s.bind(node);
    return s.run();
}

}  // namespace

Result<bool> purge_node(Writer& writer, std::string_view certname) {
    Writer::Node node = BUNRAKU_TRY(writer.node(certname, Writer::IfMissing::Skip));
    if (node.id == 0) return false;
    BUNRAKU_TRY_VOID(purge(writer, node.id));
    return true;
}

namespace {

/// Content that may be unused: a kind such as kGcResources, and the id.
struct Candidate {
    std::int64_t kind, id;
    auto operator<=>(const Candidate&) const = default;
};

/// Reads at most `limit` candidates. Resources of earlier catalogs are retained as long as those
/// catalogs, so resources that were lost after `until` are left out.
Result<std::vector<Candidate>> read_candidates(Database& db, std::size_t limit,
                                               std::int64_t until) {
    std::vector<Candidate> out;
    Statement old =
        BUNRAKU_TRY(db.prepare("SELECT kind, id FROM gc_candidates WHERE kind = ? AND lost_at <= ?"
                               " ORDER BY lost_at LIMIT ?"));
    old.bind(static_cast<int>(kGcResources)).bind(until).bind(limit);
    while (BUNRAKU_TRY(old.step())) out.push_back({old.integer(0), old.integer(1)});
    std::sort(out.begin(), out.end());
    if (out.size() >= limit) return out;
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT kind, id FROM gc_candidates WHERE kind > ? ORDER BY kind, id LIMIT ?"));
    s.bind(static_cast<int>(kGcResources)).bind(limit - out.size());
    while (BUNRAKU_TRY(s.step())) out.push_back({s.integer(0), s.integer(1)});
    return out;
}

/// Deletes resources with their rows for exports, and the sets of parameters that no other resource
/// has.
Result<void> delete_resources(Database& db, const std::vector<std::int64_t>& resources) {
    std::vector<std::int64_t> parameters;
    if (db.postgresql() && !resources.empty()) {
        Statement s = BUNRAKU_TRY(db.prepare(
            "DELETE FROM resources WHERE id = ANY (?::bigint[]) RETURNING parameters_id"));
        s.bind_array(resources);
        while (BUNRAKU_TRY(s.step())) parameters.push_back(s.integer(0));
    } else if (!resources.empty()) {
        Statement s =
            BUNRAKU_TRY(db.prepare("DELETE FROM resources WHERE id = ? RETURNING parameters_id"));
        for (std::int64_t id : resources) {
            s.bind(id);
            while (BUNRAKU_TRY(s.step())) parameters.push_back(s.integer(0));
            s.reset();
        }
    }
    std::sort(parameters.begin(), parameters.end());
    parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
    BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM exported_tags", "resource_id", resources));
    BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM exported_params", "resource_id", resources));
    BUNRAKU_TRY_VOID(
        for_ids(db, "DELETE FROM parameters", "id", parameters,
                " AND NOT EXISTS (SELECT 1 FROM resources WHERE parameters_id = parameters.id)"));
    return for_ids(db, "DELETE FROM parameter_values", "parameters_id", parameters,
                   " AND NOT EXISTS (SELECT 1 FROM parameters p WHERE p.id ="
                   " parameter_values.parameters_id)");
}

}  // namespace

Result<ContentRemoval> remove_content(Writer& writer, std::size_t limit, std::int64_t until) {
    BUNRAKU_ASSERT(limit > 0);
    Database& db = writer.db();
    // Without candidates, no lock is taken.
    if (BUNRAKU_TRY(read_candidates(db, limit, until)).empty()) return ContentRemoval{};
    Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
    const std::vector<Candidate> candidates = BUNRAKU_TRY(read_candidates(db, limit, until));
    ContentRemoval out;
    out.more = candidates.size() == limit;
    std::vector<std::int64_t> seen[4];  // by kind, in sorted order
    for (const Candidate& c : candidates) {
        if (c.kind >= 0 && c.kind < 4) seen[c.kind].push_back(c.id);
    }
    std::vector<std::int64_t> resources =
        BUNRAKU_TRY(unlinked(db, "catalog_resources", "resource_id", seen[kGcResources]));
    std::vector<std::int64_t> facts =
        BUNRAKU_TRY(unlinked(db, "factset_facts", "fact_id", seen[kGcFacts]));
    std::vector<std::int64_t> packages =
        BUNRAKU_TRY(unlinked(db, "certname_packages", "package_id", seen[kGcPackages]));
    BUNRAKU_ASSERT(resources.size() <= seen[kGcResources].size() &&
                   facts.size() <= seen[kGcFacts].size());
    BUNRAKU_ASSERT(packages.size() <= seen[kGcPackages].size());
    BUNRAKU_TRY_VOID(delete_resources(db, resources));
    BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM fact_leaves", "fact_id", facts));
    BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM facts", "id", facts));
    BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM packages", "id", packages));
    for (int kind : {kGcResources, kGcFacts, kGcPackages}) {
        BUNRAKU_TRY_VOID(for_ids(db, "DELETE FROM gc_candidates", "id", seen[kind],
                                 fmt::format(" AND kind = {}", kind)));
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    BUNRAKU_ASSERT(std::ranges::is_sorted(resources));
    out.removed = resources.size() + facts.size() + packages.size();
    writer.removed({std::move(resources), std::move(facts), std::move(packages)});
    return out;
}

namespace {

/// Nodes that have nothing newer than ?1, by the rules of PuppetDB 7.12 (expire-stale-nodes). A
/// node whose collectors are stored before its first catalog counts as new.
constexpr std::string_view kStale =
    "n.deactivated IS NULL AND n.expired IS NULL"
    " AND (n.latest_report_timestamp IS NULL OR n.latest_report_timestamp < ?1)"
    " AND (n.facts_expire_updated IS NULL"
    " OR (n.facts_expire = 1 AND n.facts_expire_updated < ?1))"
    " AND NOT EXISTS (SELECT 1 FROM catalogs c"
    " WHERE c.certname_id = n.id AND c.producer_timestamp >= ?1)"
    " AND NOT EXISTS (SELECT 1 FROM factsets f"
    " WHERE f.certname_id = n.id AND f.producer_timestamp >= ?1)"
    " AND NOT EXISTS (SELECT 1 FROM catalog_inputs i"
    " WHERE i.certname_id = n.id AND i.producer_timestamp >= ?1)"
    " AND (EXISTS (SELECT 1 FROM catalogs c WHERE c.certname_id = n.id)"
    " OR NOT EXISTS (SELECT 1 FROM exported_collections x WHERE x.certname_id = n.id))";

/// Returns the start of the day (UTC) that was `ttl` ago, because PuppetDB removes reports and
/// events by whole days.
std::int64_t day_before(std::int64_t now, std::int64_t ttl) { return (now - ttl) / kDay * kDay; }

}  // namespace

Result<GcStep> expire_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                            std::size_t limit) {
    if (lifetimes.node_ttl_ms <= 0) return GcStep{};
    Database& db = writer.db();
    const std::int64_t before = now - lifetimes.node_ttl_ms;
    const std::vector<std::int64_t> stale =
        BUNRAKU_TRY(ids(db, fmt::format("SELECT n.id FROM certnames n WHERE {} LIMIT ?2", kStale),
                        {before, static_cast<std::int64_t>(limit)}));
    if (stale.empty()) return GcStep{};
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    std::size_t done = 0;
    Statement s = BUNRAKU_TRY(db.prepare(
        fmt::format("UPDATE certnames AS n SET expired = ?2 WHERE n.id = ?3 AND {}", kStale)));
    for (std::int64_t id : stale) {
        s.bind(before).bind(now).bind(id);
        BUNRAKU_TRY_VOID(s.run());
        done += static_cast<std::size_t>(db.changes());
        s.reset();
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return GcStep{done, stale.size() == limit};
}

Result<GcStep> purge_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                           std::size_t limit) {
    if (lifetimes.node_purge_ttl_ms <= 0) return GcStep{};
    Database& db = writer.db();
    std::int64_t before = now - lifetimes.node_purge_ttl_ms;
    std::vector<std::int64_t> old = BUNRAKU_TRY(
        ids(db, "SELECT id FROM certnames WHERE (deactivated < ? OR expired < ?) LIMIT ?",
            {before, before, static_cast<std::int64_t>(limit)}));
    if (old.empty()) return GcStep{};
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    // A writer locks the row of its node. A node that was reactivated meanwhile is not removed.
    std::vector<std::int64_t> gone;
    std::string lock = "SELECT id FROM certnames WHERE id = ? AND (deactivated < ? OR expired < ?)";
    if (db.postgresql()) lock += " FOR UPDATE";
    for (std::int64_t id : old) {
        if (!BUNRAKU_TRY(ids(db, lock, {id, before, before})).empty()) gone.push_back(id);
    }
    for (std::int64_t id : gone) {
        std::vector<OldReport> reports = BUNRAKU_TRY(many_reports_of(db, id));
        if (reports.empty()) continue;
        BUNRAKU_TRY_VOID(delete_reports(db, reports));
        BUNRAKU_TRY_VOID(transaction.commit());
        return GcStep{0, true};
    }
    BUNRAKU_ASSERT(gone.size() <= old.size());
    for (std::int64_t id : gone) BUNRAKU_TRY_VOID(purge(writer, id));
    BUNRAKU_TRY_VOID(transaction.commit());
    return GcStep{gone.size(), old.size() == limit};
}

Result<GcStep> purge_reports_of(Writer& writer, std::string_view certname) {
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    Writer::Node node = BUNRAKU_TRY(writer.node(certname, Writer::IfMissing::Skip));
    if (node.id == 0) return GcStep{};
    std::vector<OldReport> reports = BUNRAKU_TRY(many_reports_of(db, node.id));
    if (reports.empty()) return GcStep{};
    BUNRAKU_TRY_VOID(delete_reports(db, reports));
    BUNRAKU_TRY_VOID(transaction.commit());
    return GcStep{reports.size(), true};
}

Result<GcStep> purge_reports(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                             std::size_t limit) {
    if (lifetimes.report_ttl_ms <= 0) return GcStep{};
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    std::vector<OldReport> old;
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("SELECT id, certname_id, kind_id, event_count FROM reports"
                                   " WHERE producer_timestamp < ? LIMIT ?"));
        s.bind(day_before(now, lifetimes.report_ttl_ms)).bind(limit);
        old = BUNRAKU_TRY(some_reports(s));
    }
    if (old.empty()) return GcStep{};
    BUNRAKU_TRY_VOID(delete_reports(db, old));
    BUNRAKU_TRY_VOID(transaction.commit());
    return GcStep{old.size(), true};
}

Result<GcStep> purge_events(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                            std::size_t limit) {
    // An event may be older than its report.
    const std::int64_t ttl = lifetimes.resource_events_ttl_ms > 0 ? lifetimes.resource_events_ttl_ms
                                                                  : lifetimes.report_ttl_ms;
    if (ttl <= 0) return GcStep{};
    Database& db = writer.db();
    const std::int64_t before = day_before(now, ttl);
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    Statement s = BUNRAKU_TRY(db.prepare(
        db.postgresql()
            ? "DELETE FROM resource_events WHERE ctid = ANY (ARRAY"
              " (SELECT ctid FROM resource_events WHERE timestamp < ? LIMIT ?))"
            : "DELETE FROM resource_events WHERE (certname_id, report_id, seq) IN"
              " (SELECT certname_id, report_id, seq FROM resource_events WHERE timestamp < ?"
              " LIMIT ?)"));
    s.bind(before).bind(limit);
    BUNRAKU_TRY_VOID(s.run());
    auto removed = static_cast<std::size_t>(db.changes());
    if (removed < limit) {
        // latest_events has only a few rows per node.
        Statement newest = BUNRAKU_TRY(db.prepare("DELETE FROM latest_events WHERE timestamp < ?"));
        newest.bind(before);
        BUNRAKU_TRY_VOID(newest.run());
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return GcStep{removed, removed == limit};
}

Result<GcStep> purge_versions(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                              std::size_t limit) {
    // The newest of the old versions was still valid at the start of the retention period.
    std::int64_t before = now - lifetimes.catalog_history_ttl_ms;
    const bool all = lifetimes.catalog_history_ttl_ms <= 0;
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    std::size_t removed = 0, most = 0;
    for (std::string_view table : {"catalog_versions", "factset_versions"}) {
        const std::string newer =
            all ? ""
                : fmt::format(
                      " AND EXISTS (SELECT 1 FROM {} n WHERE n.certname_id = v.certname_id"
                      " AND n.valid_from > v.valid_from AND n.valid_from <= ?)",
                      table);
        Statement s = BUNRAKU_TRY(db.prepare(
            fmt::format("DELETE FROM {0} WHERE (certname_id, valid_from) IN (SELECT v.certname_id,"
                        " v.valid_from FROM {0} v WHERE v.valid_from < ?{1} LIMIT ?)",
                        table, newer)));
        s.bind(all ? INT64_MAX : before);
        if (!all) s.bind(before);
        s.bind(limit);
        BUNRAKU_TRY_VOID(s.run());
        const auto gone = static_cast<std::size_t>(db.changes());
        removed += gone;
        most = std::max(most, gone);
    }
    const std::size_t closed = BUNRAKU_TRY(purge_undeclared(db, all ? INT64_MAX : before, limit));
    removed += closed;
    most = std::max(most, closed);
    BUNRAKU_TRY_VOID(transaction.commit());
    return GcStep{removed, most == limit};
}

namespace {

/// A table of sets to which rows of another table refer (store/hashed_sets.h).
struct SetTable {
    std::string_view table, members, id, users;
    std::vector<std::int64_t> UnusedNames::* unused;
};
constexpr SetTable kSetTables[] = {
    {"tag_sets", "tag_set_members", "tag_set_id", "resources", &UnusedNames::tag_sets},
    {"fact_name_sets", "fact_name_set_members", "name_set_id", "factsets", &UnusedNames::name_sets},
    {"kind_sets", "kind_set_members", "kind_set_id", "catalogs", &UnusedNames::kind_sets},
};

/// Returns the condition that is true for an unused row of the set table.
std::string unused_set(const SetTable& set) {
    return fmt::format("NOT EXISTS (SELECT 1 FROM {0} u WHERE u.{1} = {2}.id)", set.users, set.id,
                       set.table);
}

}  // namespace

Result<std::int64_t> begin_search(Writer& writer) { return writer.next_search(); }

Result<UnusedNames> unused_names(Database& reader, std::size_t limit, std::int64_t generation) {
    UnusedNames out;
    out.generation = generation;
    auto some = static_cast<std::int64_t>(limit);
    std::vector<std::int64_t> newest =
        BUNRAKU_TRY(ids(reader, "SELECT coalesce(max(id), 0) FROM report_kinds", {}));
    out.newest_kind = newest.empty() ? 0 : newest[0];
    out.paths = BUNRAKU_TRY(ids(reader,
                                "SELECT p.id FROM fact_paths p WHERE NOT EXISTS"
                                " (SELECT 1 FROM fact_leaves l WHERE l.path_id = p.id) LIMIT ?",
                                {some}));
    for (const SetTable& set : kSetTables) {
        out.*set.unused = BUNRAKU_TRY(ids(
            reader, fmt::format("SELECT id FROM {} WHERE {} LIMIT ?", set.table, unused_set(set)),
            {some}));
    }
    auto unused = [&](std::string_view name) {
        return ids(reader,
                   fmt::format("SELECT e.id FROM {0}s e WHERE NOT EXISTS"
                               " (SELECT 1 FROM catalogs x WHERE x.{0}_id = e.id) AND NOT EXISTS"
                               " (SELECT 1 FROM factsets x WHERE x.{0}_id = e.id) AND NOT EXISTS"
                               " (SELECT 1 FROM report_kinds x WHERE x.{0}_id = e.id) LIMIT ?",
                               name),
                   {some});
    };
    out.places = BUNRAKU_TRY(unused_source_locations(reader, limit));
    out.environments = BUNRAKU_TRY(unused("environment"));
    out.producers = BUNRAKU_TRY(unused("producer"));
    return out;
}

Result<std::size_t> purge_names(Writer& writer, const UnusedNames& names) {
    if (names.empty()) return 0;
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
    std::size_t removed = 0;
    auto remove = [&](std::string_view table, const std::vector<std::int64_t>& all,
                      const std::string& unless) -> Result<void> {
        Statement s = BUNRAKU_TRY(
            db.prepare(fmt::format("DELETE FROM {} WHERE id = ? AND {}", table, unless)));
        for (std::int64_t id : all) {
            s.bind(id);
            BUNRAKU_TRY_VOID(s.run());
            removed += static_cast<std::size_t>(db.changes());
            s.reset();
        }
        return {};
    };
    BUNRAKU_TRY_VOID(
        remove("fact_paths", names.paths,
               "NOT EXISTS (SELECT 1 FROM fact_leaves l WHERE l.path_id = fact_paths.id)"));
    for (const SetTable& set : kSetTables) {
        const std::vector<std::int64_t>& all = names.*set.unused;
        BUNRAKU_TRY_VOID(remove(set.table, all, unused_set(set)));
        BUNRAKU_TRY_VOID(for_ids(db, fmt::format("DELETE FROM {}", set.members), set.id, all,
                                 fmt::format(" AND NOT EXISTS (SELECT 1 FROM {0} s WHERE s.id ="
                                             " {1}.{2})",
                                             set.table, set.members, set.id)));
    }
    // Lists that were written since the search may use a location again. All others have been read.
    if (!names.places.empty()) {
        const std::vector<std::int64_t> places =
            BUNRAKU_TRY(still_unused_source_locations(db, names.places, names.generation));
        BUNRAKU_TRY_VOID(remove("places", places, "TRUE"));
    }
    for (auto [name, all] :
         {std::pair{"environment", &names.environments}, std::pair{"producer", &names.producers}}) {
        BUNRAKU_TRY_VOID(
            remove(fmt::format("{}s", name), *all,
                   fmt::format("NOT EXISTS (SELECT 1 FROM catalogs x WHERE x.{0}_id = {0}s.id) AND"
                               " NOT EXISTS (SELECT 1 FROM factsets x WHERE x.{0}_id = {0}s.id) AND"
                               " NOT EXISTS (SELECT 1 FROM report_kinds x WHERE x.id > {1} AND"
                               " x.{0}_id = {0}s.id)",
                               name, names.newest_kind)));
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    writer.forget();
    return removed;
}

}  // namespace bunraku::store
