// Replacing a node's catalog: unchanged ones cost one comparison, changed ones their difference.
#include <fmt/format.h>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/diagnostic.h"
#include "catalog/content_hash.h"
#include "catalog/json_text.h"
#include "store/impl.h"

namespace bunraku::store {

namespace {

using catalog::Catalog;
using catalog::Digest;
using catalog::Relation;
using catalog::Resource;
using catalog::ResourceDigests;

std::string_view view(const Digest& d) {
    return {reinterpret_cast<const char*>(d.data()), d.size()};
}

struct EdgeRow {
    std::int64_t source, target;
    std::int64_t kind;
    bool operator==(const EdgeRow&) const = default;
};
struct EdgeHash {
    std::size_t operator()(const EdgeRow& e) const noexcept {
        auto h = static_cast<std::size_t>(e.source) * 0x9e3779b97f4a7c15ULL;
        h ^= static_cast<std::size_t>(e.target) * 0xc2b2ae3d27d4eb4fULL;
        return h ^ static_cast<std::size_t>(e.kind);
    }
};

/// Everything about a new catalog that can be known before the lock is taken.
struct Prepared {
    std::vector<std::uint32_t> kept;  ///< positions; plain virtual resources are not remembered
    std::vector<ResourceDigests> digests;  ///< by position
    std::vector<Relation> relations;
    Digest hash;
};

Result<Prepared> prepare(const Catalog& catalog, std::vector<Relation> relations) {
    Prepared out;
    out.relations = std::move(relations);
    std::unordered_set<std::string> seen;
    std::string scratch;
    out.digests.reserve(catalog.resources.size());
    for (std::uint32_t i = 0; i < catalog.resources.size(); ++i) {
        const Resource& r = catalog.resources[i];
        out.digests.push_back(catalog::resource_digests(r, scratch));
        if (r.virtual_ && !r.exported) continue;
        if (!seen.insert(r.ref.to_string()).second) {
            return base::failure(
                fmt::format("The catalog of {} holds {} twice", catalog.name, r.ref.to_string()));
        }
        out.kept.push_back(i);
    }
    out.hash = catalog::catalog_hash(catalog, out.digests, out.relations, true);
    return out;
}

class Replacement {
public:
    Replacement(Database& db, std::int64_t node, const Catalog& catalog, const Prepared& prepared)
        : db_(db), node_(node), catalog_(catalog), prepared_(prepared) {}

    Result<void> run(ReplaceReport& report) {
        ids_.assign(catalog_.resources.size(), 0);
        BUNRAKU_TRY_VOID(load());
        for (std::uint32_t i : prepared_.kept) BUNRAKU_TRY_VOID(put(i, report));
        // Edges before the resources that are gone: their numbers may not be taken anew yet.
        BUNRAKU_TRY_VOID(put_edges(report));
        for (const auto& [ref, row] : stored_) {
            Statement s = BUNRAKU_TRY(db_.prepare("DELETE FROM resources WHERE id = ?"));
            s.bind(row.id);
            BUNRAKU_TRY_VOID(s.run());
            ++report.deleted;
        }
        return {};
    }

    std::string order() const {
        std::vector<std::int64_t> numbers;
        numbers.reserve(prepared_.kept.size());
        for (std::uint32_t i : prepared_.kept) numbers.push_back(ids_[i]);
        return pack_numbers(numbers);
    }

    std::string containment() const {
        std::vector<std::int64_t> rank(catalog_.resources.size(), -1), numbers;
        for (std::size_t i = 0; i < prepared_.kept.size(); ++i) {
            rank[prepared_.kept[i]] = static_cast<std::int64_t>(i);
        }
        for (const catalog::Edge& e : catalog_.edges) {
            if (e.source >= rank.size() || e.target >= rank.size()) continue;
            if (rank[e.source] < 0 || rank[e.target] < 0) continue;
            numbers.push_back(rank[e.source]);
            numbers.push_back(rank[e.target]);
        }
        return pack_numbers(numbers);
    }

private:
    struct Row {
        std::int64_t id;
        std::string hash;
        bool exported;
    };

    Result<void> load() {
        Statement s = BUNRAKU_TRY(db_.prepare(
            "SELECT id, type, title, row_hash, exported FROM resources WHERE node_id = ?"));
        s.bind(node_);
        while (BUNRAKU_TRY(s.step())) {
            std::string ref = fmt::format("{}[{}]", s.text(1), s.text(2));
            stored_.emplace(std::move(ref),
                            Row{s.integer(0), std::string(s.blob(3)), s.integer(4) != 0});
        }
        return {};
    }

    Result<std::int64_t> params_id(const Resource& r, const Digest& content) {
        {
            Statement s =
                BUNRAKU_TRY(db_.prepare("SELECT id FROM resource_params_cache WHERE hash = ?"));
            s.bind_blob(view(content));
            if (BUNRAKU_TRY(s.step())) return s.integer(0);
        }
        // In the order they were declared: what comes back should look like what went in.
        std::string json = "{";
        for (const catalog::Parameter& p : r.parameters) {
            if (p.value.is_undef()) continue;
            if (json.size() > 1) json += ',';
            catalog::append_json_string(json, p.name);
            json += ':';
            catalog::append_json_value(json, p.value, catalog::ValueForm::Exact);
        }
        json += '}';
        Statement s = BUNRAKU_TRY(
            db_.prepare("INSERT INTO resource_params_cache (hash, parameters) VALUES (?, ?)"));
        s.bind_blob(view(content)).bind(json);
        BUNRAKU_TRY_VOID(s.run());
        return db_.last_id();
    }

    Result<void> put(std::uint32_t i, ReplaceReport& report) {
        const Resource& r = catalog_.resources[i];
        const ResourceDigests& digests = prepared_.digests[i];
        auto found = stored_.find(r.ref.to_string());
        std::int64_t old = 0;
        bool was_exported = false;
        if (found != stored_.end()) {
            old = found->second.id;
            was_exported = found->second.exported;
            bool same = found->second.hash == view(digests.row);
            stored_.erase(found);
            if (same) {
                ids_[i] = old;
                return {};
            }
        }
        std::int64_t params = BUNRAKU_TRY(params_id(r, digests.content));
        Statement s = BUNRAKU_TRY(db_.prepare(
            old ? "UPDATE resources SET params_id = ?, row_hash = ?, exported = ?, virtual = ?,"
                  " file = ?, line = ?, kind = ?, tags = ?, aliases = ? WHERE id = ?"
                : "INSERT INTO resources (params_id, row_hash, exported, virtual, file, line,"
                  " kind, tags, aliases, node_id, type, title)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
        s.bind(params).bind_blob(view(digests.row));
        s.bind(std::int64_t{r.exported}).bind(std::int64_t{r.virtual_}).bind_optional(r.file);
        r.line > 0 ? s.bind(std::int64_t{r.line}) : s.bind_null();
        s.bind_optional(r.kind).bind(strings_to_json(r.tags));
        r.aliases.empty() ? s.bind_null() : s.bind(strings_to_json(r.aliases));
        if (old) {
            s.bind(old);
        } else {
            s.bind(node_).bind(r.ref.type).bind(r.ref.title);
        }
        BUNRAKU_TRY_VOID(s.run());
        ++(old ? report.updated : report.inserted);
        ids_[i] = old ? old : db_.last_id();
        if (was_exported) BUNRAKU_TRY_VOID(forget_export(ids_[i]));
        if (r.exported) BUNRAKU_TRY_VOID(remember_export(ids_[i], r));
        return {};
    }

    Result<void> forget_export(std::int64_t id) {
        for (std::string_view sql : {"DELETE FROM exported_tags WHERE resource_id = ?",
                                     "DELETE FROM exported_params WHERE resource_id = ?"}) {
            Statement s = BUNRAKU_TRY(db_.prepare(sql));
            s.bind(id);
            BUNRAKU_TRY_VOID(s.run());
        }
        return {};
    }

    Result<void> remember_export(std::int64_t id, const Resource& r) {
        for (const std::string& tag : r.tags) {
            Statement s = BUNRAKU_TRY(db_.prepare(
                "INSERT OR IGNORE INTO exported_tags (tag, resource_id) VALUES (?, ?)"));
            s.bind(tag).bind(id);
            BUNRAKU_TRY_VOID(s.run());
        }
        for (const catalog::Parameter& p : r.parameters) {
            // Nobody may find out a secret by asking for it.
            if (p.value.is_undef() || p.value.is(value::Kind::Sensitive)) continue;
            BUNRAKU_TRY_VOID(remember_value(id, p.name, p.value, 0));
            if (!p.value.is_array()) continue;
            for (const catalog::Value& item : p.value.as_array()) {
                BUNRAKU_TRY_VOID(remember_value(id, p.name, item, 1));
            }
        }
        return {};
    }

    Result<void> remember_value(std::int64_t id, const std::string& name, const catalog::Value& v,
                                std::int64_t member) {
        Statement s = BUNRAKU_TRY(
            db_.prepare("INSERT OR IGNORE INTO exported_params (name, value, member, resource_id)"
                        " VALUES (?, ?, ?, ?)"));
        s.bind(name).bind(match_text(v)).bind(member).bind(id);
        return s.run();
    }

    Result<void> put_edges(ReplaceReport& report) {
        std::unordered_set<EdgeRow, EdgeHash> stored;
        {
            Statement s = BUNRAKU_TRY(
                db_.prepare("SELECT source_id, target_id, kind FROM edges WHERE node_id = ?"));
            s.bind(node_);
            while (BUNRAKU_TRY(s.step())) {
                stored.insert({s.integer(0), s.integer(1), s.integer(2)});
            }
        }
        for (const Relation& e : prepared_.relations) {
            EdgeRow row{ids_[e.source], ids_[e.target], static_cast<std::int64_t>(e.kind)};
            if (row.source == 0 || row.target == 0 || stored.erase(row) > 0) continue;
            Statement s = BUNRAKU_TRY(
                db_.prepare("INSERT OR IGNORE INTO edges (node_id, source_id, target_id, kind)"
                            " VALUES (?, ?, ?, ?)"));
            s.bind(node_).bind(row.source).bind(row.target).bind(row.kind);
            BUNRAKU_TRY_VOID(s.run());
            ++report.edges_inserted;
        }
        for (const EdgeRow& row : stored) {
            Statement s =
                BUNRAKU_TRY(db_.prepare("DELETE FROM edges WHERE node_id = ? AND source_id = ?"
                                        " AND target_id = ? AND kind = ?"));
            s.bind(node_).bind(row.source).bind(row.target).bind(row.kind);
            BUNRAKU_TRY_VOID(s.run());
            ++report.edges_deleted;
        }
        return {};
    }

    Database& db_;
    std::int64_t node_;
    const Catalog& catalog_;
    const Prepared& prepared_;
    std::unordered_map<std::string, Row> stored_;  ///< what no new resource has taken over yet
    std::vector<std::int64_t> ids_;                ///< resources.id by position
};

Result<std::int64_t> environment_id(Database& db, std::string_view name) {
    if (name.empty()) return 0;
    {
        Statement s = BUNRAKU_TRY(db.prepare("SELECT id FROM environments WHERE name = ?"));
        s.bind(name);
        if (BUNRAKU_TRY(s.step())) return s.integer(0);
    }
    Statement s = BUNRAKU_TRY(db.prepare("INSERT INTO environments (name) VALUES (?)"));
    s.bind(name);
    BUNRAKU_TRY_VOID(s.run());
    return db.last_id();
}

void bind_metadata(Statement& s, const Catalog& c, const catalog::WireEnvelope& envelope,
                   std::int64_t producer_timestamp, std::int64_t environment) {
    s.bind(c.version).bind(std::int64_t{c.version_is_number});
    s.bind(std::int64_t{c.catalog_format});
    environment ? s.bind(environment) : s.bind_null();
    s.bind_optional(c.code_id).bind_optional(c.catalog_uuid);
    for (const auto* text : {&envelope.transaction_uuid, &envelope.job_id, &envelope.producer}) {
        *text ? s.bind(std::string_view(**text)) : s.bind_null();
    }
    s.bind(producer_timestamp).bind(now_ms());
    s.bind(strings_to_json(c.classes)).bind(strings_to_json(c.tags));
}

/// Parameter sets that lost a user may have lost the last one. Once those are many, look.
Result<void> count_stale(Database& db, std::size_t n, bool* many) {
    *many = false;
    if (n == 0) return {};
    Statement s = BUNRAKU_TRY(
        db.prepare("INSERT INTO counters (name, value) VALUES ('stale_params', ?1)"
                   " ON CONFLICT (name) DO UPDATE SET value = value + ?1 RETURNING value"));
    s.bind(static_cast<std::int64_t>(n));
    if (BUNRAKU_TRY(s.step())) *many = s.integer(0) > 20000;
    return {};
}

}  // namespace

Result<ReplaceReport> Store::Impl::replace(std::string_view certname,
                                           std::int64_t producer_timestamp, const Catalog& catalog,
                                           const catalog::WireEnvelope& envelope,
                                           std::vector<Relation> relations) {
    if (certname.empty()) return base::failure("A catalog without a certname cannot be stored");
    Prepared prepared;
    try {
        prepared = BUNRAKU_TRY(prepare(catalog, std::move(relations)));
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
    ReplaceReport report;
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(*db));
    std::int64_t node = BUNRAKU_TRY(node_id(certname, true));
    bool known = false, same = false;
    {
        Statement s = BUNRAKU_TRY(
            db->prepare("SELECT hash, producer_timestamp FROM catalogs WHERE node_id = ?"));
        s.bind(node);
        if (BUNRAKU_TRY(s.step())) {
            if (s.integer(1) > producer_timestamp) {
                report.outcome = Outcome::Obsolete;
                return report;
            }
            known = true;
            same = s.blob(0) == view(prepared.hash);
        }
    }
    {
        Statement s =
            BUNRAKU_TRY(db->prepare("UPDATE nodes SET deactivated = NULL, expired = NULL"
                                    " WHERE id = ?1 AND (deactivated < ?2 OR expired < ?2)"));
        s.bind(node).bind(producer_timestamp);
        BUNRAKU_TRY_VOID(s.run());
    }
    std::int64_t environment = BUNRAKU_TRY(environment_id(*db, catalog.environment));
    if (same) {
        report.outcome = Outcome::Unchanged;
        Statement s = BUNRAKU_TRY(
            db->prepare("UPDATE catalogs SET version = ?, version_is_number = ?,"
                        " catalog_format = ?, environment_id = ?, code_id = ?, catalog_uuid = ?,"
                        " transaction_uuid = ?, job_id = ?, producer = ?, producer_timestamp = ?,"
                        " stored_at = ?, classes = ?, tags = ? WHERE node_id = ?"));
        bind_metadata(s, catalog, envelope, producer_timestamp, environment);
        s.bind(node);
        BUNRAKU_TRY_VOID(s.run());
    } else {
        Replacement replacement(*db, node, catalog, prepared);
        BUNRAKU_TRY_VOID(replacement.run(report));
        Statement s = BUNRAKU_TRY(db->prepare(
            "INSERT OR REPLACE INTO catalogs (version, version_is_number, catalog_format,"
            " environment_id, code_id, catalog_uuid, transaction_uuid, job_id, producer,"
            " producer_timestamp, stored_at, classes, tags, node_id, hash, resource_order,"
            " containment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
        bind_metadata(s, catalog, envelope, producer_timestamp, environment);
        s.bind(node).bind_blob(view(prepared.hash)).bind_blob(replacement.order());
        s.bind_blob(replacement.containment());
        BUNRAKU_TRY_VOID(s.run());
        bool many = false;
        if (known) BUNRAKU_TRY_VOID(count_stale(*db, report.updated + report.deleted, &many));
        if (many) BUNRAKU_TRY(collect_garbage());
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return report;
}

Result<ReplaceReport> Store::replace_catalog(std::string_view certname,
                                             std::int64_t producer_timestamp,
                                             const Catalog& catalog,
                                             const catalog::WireEnvelope& envelope,
                                             const catalog::Naming& naming) {
    std::vector<Relation> relations = BUNRAKU_TRY(catalog::relations(catalog, naming));
    return impl_->replace(certname, producer_timestamp, catalog, envelope, std::move(relations));
}

Result<ReplaceReport> Store::replace_catalog(const catalog::WireCatalog& wire) {
    // Versions without a timestamp count as sent when they arrive.
    std::int64_t at =
        wire.envelope.has_producer_timestamp ? wire.envelope.producer_timestamp : now_ms();
    return impl_->replace(wire.catalog.name, at, wire.catalog, wire.envelope, wire.relations);
}

}  // namespace bunraku::store
