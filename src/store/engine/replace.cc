// SPDX-License-Identifier: Apache-2.0
// Replaces a node's catalog with one compiled in this process. An unchanged catalog costs one
// comparison, a changed one costs its difference.
#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"
#include "store/engine/catalog_rows.h"
#include "store/engine/impl.h"
#include "store/engine/tags.h"

namespace bunraku::store {

namespace {

using catalog::Catalog;
using catalog::Relation;
using catalog::Resource;

/// The parts of a new catalog that are computed before the lock is taken.
struct Prepared {
    /// index into `rows` for each resource; -1 if it is not stored
    std::vector<std::int64_t> position;
    std::vector<ResourceRow> rows;
    std::vector<PackedEdge> edges;
};

/// Returns the parameters in order of declaration (`exact`), or sorted and without secrets.
std::string parameters_json(const Resource& r, bool exact) {
    std::vector<const catalog::Parameter*> all;
    for (const catalog::Parameter& p : r.parameters) {
        if (p.value.is_undef()) continue;
        // A query must not reveal a secret.
        if (!exact && p.value.is(value::Kind::Sensitive)) continue;
        all.push_back(&p);
    }
    if (!exact) {
        std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; });
    }
    std::string json = "{";
    for (const catalog::Parameter* p : all) {
        if (json.size() > 1) json += ',';
        codec::append_json_string(json, p->name);
        json += ':';
        if (exact) {
            catalog::append_json_value(json, p->value, catalog::ValueForm::Exact);
        } else {
            catalog::append_json_parameter(json, p->name, p->value, catalog::ValueForm::Stringified,
                                           true);
        }
    }
    return json + "}";
}

Result<ResourceRow> row_of(const Resource& r, Secrets* secrets) {
    ResourceRow row;
    row.type = r.ref.type;
    row.title = r.ref.title;
    row.exported = r.exported;
    row.virtual_ = r.virtual_;
    if (!r.file.empty()) row.file = r.file;
    if (r.line > 0) row.line = r.line;
    row.tags = strings_to_json(r.tags);
    row.parameters = parameters_json(r, false);
    row.exact = parameters_json(r, true);
    if (row.exact == row.parameters) row.exact.clear();
    row.kind = r.kind;
    if (!r.aliases.empty()) row.aliases = strings_to_json(r.aliases);
    BUNRAKU_TRY_VOID(row.hash(secrets));
    return row;
}

Result<Prepared> prepare(const Catalog& catalog, const std::vector<Relation>& relations,
                         Secrets* secrets) {
    Prepared out;
    std::unordered_set<std::string> seen;
    out.position.assign(catalog.resources.size(), -1);
    for (std::size_t i = 0; i < catalog.resources.size(); ++i) {
        const Resource& r = catalog.resources[i];
        if (r.virtual_ && !r.exported) continue;
        if (!seen.insert(r.ref.to_string()).second) {
            return base::failure(fmt::format("The catalog of {} contains {} twice", catalog.name,
                                             r.ref.to_string()));
        }
        out.position[i] = static_cast<std::int64_t>(out.rows.size());
        out.rows.push_back(BUNRAKU_TRY(row_of(r, secrets)));
    }
    BUNRAKU_ASSERT(out.rows.size() == seen.size() &&
                   out.position.size() == catalog.resources.size());
    for (const Relation& e : relations) {
        std::int64_t source = out.position.at(e.source), target = out.position.at(e.target);
        if (source < 0 || target < 0) continue;
        out.edges.push_back({source, target, static_cast<std::int64_t>(e.kind)});
    }
    BUNRAKU_ASSERT(out.edges.size() <= relations.size());
    std::sort(out.edges.begin(), out.edges.end());
    out.edges.erase(std::unique(out.edges.begin(), out.edges.end()), out.edges.end());
    return out;
}

std::string containment(const Catalog& catalog, const std::vector<std::int64_t>& position) {
    std::vector<std::int64_t> numbers;
    for (const catalog::Edge& e : catalog.edges) {
        if (e.source >= position.size() || e.target >= position.size()) continue;
        if (position[e.source] < 0 || position[e.target] < 0) continue;
        numbers.push_back(position[e.source]);
        numbers.push_back(position[e.target]);
    }
    BUNRAKU_ASSERT(numbers.size() % 2 == 0);
    return pack_numbers(numbers);
}

/// The columns of catalog_agent_data other than the resource ids.
struct AgentData {
    std::string order, containment, classes, tags;
    std::int64_t version_is_number, format;
};

Result<bool> same_agent_data(Database& db, std::int64_t node, const AgentData& data) {
    Statement s =
        BUNRAKU_TRY(db.prepare("SELECT resource_order, containment FROM catalog_agent_data"
                               " WHERE certname_id = ?"));
    s.bind(node);
    if (!BUNRAKU_TRY(s.step())) return false;
    return s.blob(0) == data.order && s.blob(1) == data.containment;
}

Result<void> put_agent_data(Database& db, std::int64_t node, const AgentData& data) {
    Statement s = BUNRAKU_TRY(db.prepare(
        "INSERT INTO catalog_agent_data (certname_id, version_is_number, catalog_format, classes,"
        " tags, resource_order, containment) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (certname_id) DO UPDATE SET version_is_number = excluded.version_is_number,"
        " catalog_format = excluded.catalog_format, classes = excluded.classes,"
        " tags = excluded.tags, resource_order = excluded.resource_order,"
        " containment = excluded.containment"));
    s.bind(node).bind(data.version_is_number).bind(data.format).bind(data.classes);
    s.bind(data.tags).bind_blob(data.order).bind_blob(data.containment);
    return s.run_later();
}

Result<ReplaceReport> replace_prepared(Writer& writer, std::string_view certname,
                                       std::int64_t producer_timestamp, const Catalog& catalog,
                                       const catalog::WireEnvelope& envelope, Prepared& prepared) {
    ReplaceReport report;
    Database& db = writer.db();
    Writer::Node node = BUNRAKU_TRY(writer.node(certname, Writer::IfMissing::Create));
    Digest stored_hash{};
    bool known = false;
    {
        Statement s = BUNRAKU_TRY(
            db.prepare("SELECT hash, producer_timestamp FROM catalogs WHERE certname_id = ?"));
        s.bind(node.id);
        if (BUNRAKU_TRY(s.step())) {
            if (s.integer(1) > producer_timestamp) {
                report.outcome = Outcome::Obsolete;
                return report;
            }
            known = true;
            stored_hash = digest_from(s.blob(0));
        }
    }
    BUNRAKU_TRY_VOID(writer.reactivate(node, producer_timestamp));
    CatalogRow row;
    row.version = catalog.version;
    row.environment = catalog.environment;
    row.producer = envelope.producer.value_or("");
    row.transaction_uuid = envelope.transaction_uuid;
    if (!catalog.catalog_uuid.empty()) row.catalog_uuid = catalog.catalog_uuid;
    if (!catalog.code_id.empty()) row.code_id = catalog.code_id;
    row.job_id = envelope.job_id;
    row.producer_timestamp = producer_timestamp;
    row.received = now_ms();

    auto refs = BUNRAKU_TRY(store_resources(writer, prepared.rows));
    BUNRAKU_ASSERT(refs.size() == prepared.rows.size());
    std::vector<std::int64_t> order;
    order.reserve(refs.size());
    for (const auto& ref : refs) order.push_back(ref.id);
    AgentData data{pack_numbers(order),
                   containment(catalog, prepared.position),
                   strings_to_json(catalog.classes),
                   strings_to_json(catalog.tags),
                   catalog.version_is_number,
                   catalog.catalog_format};
    Digest hash = content_hash(certname, refs, prepared.edges);
    bool same = known && hash == stored_hash && BUNRAKU_TRY(same_agent_data(db, node.id, data));
    if (same) {
        report.outcome = Outcome::Unchanged;
        BUNRAKU_TRY_VOID(renew_catalog(writer, node.id, row));
    } else {
        CatalogChange change =
            BUNRAKU_TRY(store_content(writer, node.id, refs, prepared.edges, hash, row));
        // A changed resource counts as one deletion and one insertion, which are reported as an
        // update.
        report.updated = std::min(change.inserted, change.deleted);
        report.inserted = change.inserted - report.updated;
        report.deleted = change.deleted - report.updated;
        BUNRAKU_ASSERT(report.inserted == 0 || report.deleted == 0);
    }
    BUNRAKU_TRY_VOID(put_agent_data(db, node.id, data));
    return report;
}

}  // namespace

Result<ReplaceReport> replace_catalog(Writer& writer, std::string_view certname,
                                      std::int64_t producer_timestamp, const Catalog& catalog,
                                      const catalog::WireEnvelope& envelope,
                                      const std::vector<Relation>& relations) {
    try {
        Prepared prepared = BUNRAKU_TRY(prepare(catalog, relations, writer.secrets().get()));
        return replace_prepared(writer, certname, producer_timestamp, catalog, envelope, prepared);
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

Result<ReplaceReport> Store::Impl::replace(std::string_view certname,
                                           std::int64_t producer_timestamp, const Catalog& catalog,
                                           const catalog::WireEnvelope& envelope,
                                           const std::vector<Relation>& relations) {
    if (certname.empty()) return base::failure("A catalog without a certname cannot be stored");
    Prepared prepared;
    try {
        prepared = BUNRAKU_TRY(prepare(catalog, relations, writer->secrets().get()));
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
    Transaction transaction = BUNRAKU_TRY(writer->begin());
    auto report =
        replace_prepared(*writer, certname, producer_timestamp, catalog, envelope, prepared);
    if (report) {
        auto done = transaction.commit();
        if (!done) report = std::unexpected(std::move(done).error());
    }
    if (!report) writer->forget();
    return report;
}

Result<ReplaceReport> Store::replace_catalog(std::string_view certname,
                                             std::int64_t producer_timestamp,
                                             const Catalog& catalog,
                                             const catalog::WireEnvelope& envelope,
                                             const catalog::Naming& naming) {
    std::vector<Relation> relations = BUNRAKU_TRY(catalog::relations(catalog, naming));
    return impl_->replace(certname, producer_timestamp, catalog, envelope, relations);
}

Result<ReplaceReport> Store::replace_catalog(const catalog::WireCatalog& wire) {
    // Versions without a timestamp use the time of arrival.
    std::int64_t at =
        wire.envelope.has_producer_timestamp ? wire.envelope.producer_timestamp : now_ms();
    return impl_->replace(wire.catalog.name, at, wire.catalog, wire.envelope, wire.relations);
}

}  // namespace bunraku::store
