#include "store/garbage.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "store/impl.h"

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

Result<void> for_each_id(Database& db, std::string_view sql, const std::vector<std::int64_t>& all) {
    Statement s = BUNRAKU_TRY(db.prepare(sql));
    for (std::int64_t id : all) {
        s.bind(id);
        BUNRAKU_TRY_VOID(s.run());
        s.reset();
    }
    return {};
}

Result<bool> any(Database& db, std::string_view sql, std::int64_t id) {
    Statement s = BUNRAKU_TRY(db.prepare(sql));
    s.bind(id);
    return s.step();
}

/// What a node had becomes a candidate, then its links go.
Result<void> unlink_all(Database& db, std::string_view table, std::string_view column,
                        std::int64_t node, int kind) {
    {
        Statement s = BUNRAKU_TRY(
            db.prepare(fmt::format("INSERT INTO gc_candidates (kind, id) SELECT {}, {} FROM {}"
                                   " WHERE certname_id = ? ON CONFLICT DO NOTHING",
                                   kind, column, table)));
        s.bind(node);
        BUNRAKU_TRY_VOID(s.run());
    }
    Statement s =
        BUNRAKU_TRY(db.prepare(fmt::format("DELETE FROM {} WHERE certname_id = ?", table)));
    s.bind(node);
    return s.run();
}

Result<void> purge(Writer& writer, std::int64_t node) {
    Database& db = writer.db();
    BUNRAKU_TRY_VOID(unlink_all(db, "catalog_resources", "resource_id", node, kGcResources));
    BUNRAKU_TRY_VOID(unlink_all(db, "factset_facts", "fact_id", node, kGcFacts));
    BUNRAKU_TRY_VOID(unlink_all(db, "certname_packages", "package_id", node, kGcPackages));
    for (const char* table : {"resource_events", "catalog_input_contents"}) {
        Statement s =
            BUNRAKU_TRY(db.prepare(fmt::format("DELETE FROM {} WHERE certname_id = ?", table)));
        s.bind(node);
        BUNRAKU_TRY_VOID(s.run());
    }
    // The rest goes by itself: it refers to the node.
    Statement s = BUNRAKU_TRY(db.prepare("DELETE FROM certnames WHERE id = ?"));
    s.bind(node);
    return s.run();
}

}  // namespace

Result<bool> purge_node(Writer& writer, std::string_view certname) {
    Writer::Node node = BUNRAKU_TRY(writer.node(certname, false));
    if (node.id == 0) return false;
    BUNRAKU_TRY_VOID(purge(writer, node.id));
    return true;
}

Result<ContentRemoval> remove_content(Writer& writer, std::size_t limit) {
    Database& db = writer.db();
    struct Candidate {
        std::int64_t kind, id;
    };
    std::vector<Candidate> candidates;
    auto read = [&]() -> Result<void> {
        candidates.clear();
        Statement s =
            BUNRAKU_TRY(db.prepare("SELECT kind, id FROM gc_candidates ORDER BY kind, id LIMIT ?"));
        s.bind(limit);
        while (BUNRAKU_TRY(s.step())) candidates.push_back({s.integer(0), s.integer(1)});
        return {};
    };
    // Without candidates nobody is disturbed.
    BUNRAKU_TRY_VOID(read());
    if (candidates.empty()) return ContentRemoval{};
    Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
    BUNRAKU_TRY_VOID(read());
    ContentRemoval out;
    out.more = candidates.size() == limit;
    std::vector<std::int64_t> resources, facts, packages, parameters;
    for (const Candidate& c : candidates) {
        bool used = true;
        switch (c.kind) {
            case kGcResources:
                used = BUNRAKU_TRY(
                    any(db, "SELECT 1 FROM catalog_resources WHERE resource_id = ? LIMIT 1", c.id));
                if (!used) resources.push_back(c.id);
                break;
            case kGcFacts:
                used = BUNRAKU_TRY(
                    any(db, "SELECT 1 FROM factset_facts WHERE fact_id = ? LIMIT 1", c.id));
                if (!used) facts.push_back(c.id);
                break;
            case kGcPackages:
                used = BUNRAKU_TRY(
                    any(db, "SELECT 1 FROM certname_packages WHERE package_id = ? LIMIT 1", c.id));
                if (!used) packages.push_back(c.id);
                break;
            default: break;
        }
    }
    for (std::int64_t id : resources) {
        Statement s =
            BUNRAKU_TRY(db.prepare("DELETE FROM resources WHERE id = ? RETURNING parameters_id"));
        s.bind(id);
        while (BUNRAKU_TRY(s.step())) parameters.push_back(s.integer(0));
    }
    std::sort(parameters.begin(), parameters.end());
    parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
    BUNRAKU_TRY_VOID(for_each_id(db, "DELETE FROM exported_tags WHERE resource_id = ?", resources));
    BUNRAKU_TRY_VOID(
        for_each_id(db, "DELETE FROM exported_params WHERE resource_id = ?", resources));
    BUNRAKU_TRY_VOID(for_each_id(db,
                                 "DELETE FROM parameters WHERE id = ? AND NOT EXISTS"
                                 " (SELECT 1 FROM resources WHERE parameters_id = parameters.id)",
                                 parameters));
    BUNRAKU_TRY_VOID(for_each_id(db, "DELETE FROM fact_leaves WHERE fact_id = ?", facts));
    BUNRAKU_TRY_VOID(for_each_id(db, "DELETE FROM facts WHERE id = ?", facts));
    BUNRAKU_TRY_VOID(for_each_id(db, "DELETE FROM packages WHERE id = ?", packages));
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("DELETE FROM gc_candidates WHERE kind = ? AND id = ?"));
        for (const Candidate& c : candidates) {
            s.bind(c.kind).bind(c.id);
            BUNRAKU_TRY_VOID(s.run());
            s.reset();
        }
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    // They came in order.
    writer.removed(resources, facts, packages);
    out.removed = resources.size() + facts.size() + packages.size();
    return out;
}

Result<std::size_t> expire_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                 std::size_t limit) {
    if (lifetimes.node_ttl_ms <= 0) return 0;
    Database& db = writer.db();
    std::int64_t before = now - lifetimes.node_ttl_ms;
    // Nothing newer is known of the node; facts count only where they may expire.
    std::vector<std::int64_t> stale =
        BUNRAKU_TRY(ids(db,
                        "SELECT n.id FROM certnames n LEFT JOIN catalogs c ON c.certname_id = n.id"
                        " LEFT JOIN factsets f ON f.certname_id = n.id"
                        " WHERE n.deactivated IS NULL AND n.expired IS NULL"
                        " AND coalesce(n.facts_expire, 1) = 1"
                        " AND (c.certname_id IS NOT NULL OR f.certname_id IS NOT NULL OR"
                        " n.latest_report_timestamp IS NOT NULL)"
                        " AND coalesce(c.producer_timestamp, 0) < ?"
                        " AND coalesce(f.producer_timestamp, 0) < ?"
                        " AND coalesce(n.latest_report_timestamp, 0) < ? LIMIT ?",
                        {before, before, before, static_cast<std::int64_t>(limit)}));
    if (stale.empty()) return 0;
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    std::size_t done = 0;
    Statement s = BUNRAKU_TRY(db.prepare(
        "UPDATE certnames SET expired = ? WHERE id = ? AND expired IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM catalogs c WHERE c.certname_id = certnames.id"
        " AND c.producer_timestamp >= ?) AND NOT EXISTS"
        " (SELECT 1 FROM factsets f WHERE f.certname_id = certnames.id"
        " AND f.producer_timestamp >= ?) AND coalesce(latest_report_timestamp, 0) < ?"));
    for (std::int64_t id : stale) {
        s.bind(now).bind(id).bind(before).bind(before).bind(before);
        BUNRAKU_TRY_VOID(s.run());
        s.reset();
        ++done;
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return done;
}

Result<std::size_t> purge_nodes(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                std::size_t limit) {
    if (lifetimes.node_purge_ttl_ms <= 0) return 0;
    Database& db = writer.db();
    std::int64_t before = now - lifetimes.node_purge_ttl_ms;
    constexpr std::string_view kGone =
        "SELECT id FROM certnames WHERE (deactivated < ? OR expired < ?) LIMIT ?";
    auto some = static_cast<std::int64_t>(limit);
    if (BUNRAKU_TRY(ids(db, kGone, {before, before, some})).empty()) return 0;
    Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
    std::vector<std::int64_t> gone = BUNRAKU_TRY(ids(db, kGone, {before, before, some}));
    for (std::int64_t id : gone) BUNRAKU_TRY_VOID(purge(writer, id));
    BUNRAKU_TRY_VOID(transaction.commit());
    return gone.size();
}

Result<std::size_t> purge_reports(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                  std::size_t limit) {
    if (lifetimes.report_ttl_ms <= 0) return 0;
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    struct Old {
        std::int64_t id, node;
    };
    std::vector<Old> old;
    {
        Statement s = BUNRAKU_TRY(
            db.prepare("SELECT id, certname_id FROM reports WHERE producer_timestamp < ? LIMIT ?"));
        s.bind(now - lifetimes.report_ttl_ms).bind(limit);
        while (BUNRAKU_TRY(s.step())) old.push_back({s.integer(0), s.integer(1)});
    }
    if (old.empty()) return 0;
    Statement events = BUNRAKU_TRY(
        db.prepare("DELETE FROM resource_events WHERE certname_id = ? AND report_id = ?"));
    Statement report = BUNRAKU_TRY(db.prepare("DELETE FROM reports WHERE id = ?"));
    Statement latest = BUNRAKU_TRY(
        db.prepare("UPDATE certnames SET latest_report_id = NULL, latest_report_timestamp = NULL"
                   " WHERE id = ? AND latest_report_id = ?"));
    for (const Old& o : old) {
        latest.bind(o.node).bind(o.id);
        BUNRAKU_TRY_VOID(latest.run());
        latest.reset();
        events.bind(o.node).bind(o.id);
        BUNRAKU_TRY_VOID(events.run());
        events.reset();
        report.bind(o.id);
        BUNRAKU_TRY_VOID(report.run());
        report.reset();
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return old.size();
}

Result<std::size_t> purge_events(Writer& writer, const Lifetimes& lifetimes, std::int64_t now,
                                 std::size_t limit) {
    if (lifetimes.resource_events_ttl_ms <= 0) return 0;
    Database& db = writer.db();
    // Whole days in UTC, as PuppetDB counts.
    std::int64_t before = (now - lifetimes.resource_events_ttl_ms) / kDay * kDay;
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    Statement s = BUNRAKU_TRY(db.prepare(
        "DELETE FROM resource_events WHERE (certname_id, report_id, seq) IN"
        " (SELECT certname_id, report_id, seq FROM resource_events WHERE timestamp < ? LIMIT ?)"));
    s.bind(before).bind(limit);
    BUNRAKU_TRY_VOID(s.run());
    auto removed = static_cast<std::size_t>(db.changes());
    BUNRAKU_TRY_VOID(transaction.commit());
    return removed;
}

Result<std::size_t> purge_names(Writer& writer, std::size_t limit) {
    Database& db = writer.db();
    constexpr std::string_view kUnused[] = {
        "DELETE FROM fact_paths WHERE id IN (SELECT p.id FROM fact_paths p WHERE NOT EXISTS"
        " (SELECT 1 FROM fact_leaves l WHERE l.path_id = p.id) LIMIT ?)",
        "DELETE FROM environments WHERE id IN (SELECT e.id FROM environments e WHERE NOT EXISTS"
        " (SELECT 1 FROM catalogs x WHERE x.environment_id = e.id) AND NOT EXISTS"
        " (SELECT 1 FROM factsets x WHERE x.environment_id = e.id) AND NOT EXISTS"
        " (SELECT 1 FROM reports x WHERE x.environment_id = e.id) LIMIT ?)",
        "DELETE FROM producers WHERE id IN (SELECT e.id FROM producers e WHERE NOT EXISTS"
        " (SELECT 1 FROM catalogs x WHERE x.producer_id = e.id) AND NOT EXISTS"
        " (SELECT 1 FROM factsets x WHERE x.producer_id = e.id) AND NOT EXISTS"
        " (SELECT 1 FROM reports x WHERE x.producer_id = e.id) LIMIT ?)"};
    std::size_t removed = 0;
    for (std::string_view sql : kUnused) {
        Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
        {
            Statement s = BUNRAKU_TRY(db.prepare(sql));
            s.bind(limit);
            BUNRAKU_TRY_VOID(s.run());
            removed += static_cast<std::size_t>(db.changes());
        }
        BUNRAKU_TRY_VOID(transaction.commit());
        writer.forget();
    }
    return removed;
}

}  // namespace bunraku::store
