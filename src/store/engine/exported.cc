// SPDX-License-Identifier: Apache-2.0
// Converts stored rows back to resources: the results of collectors, and a node's newest catalog.
#include <fmt/format.h>
#include <unordered_map>

#include "core/base/diagnostic.h"
#include "store/db/bulk.h"
#include "store/db/secrets.h"
#include "store/engine/impl.h"
#include "store/engine/query.h"
#include "store/query/dialect.h"

namespace bunraku::store {

namespace {

using catalog::Resource;

/// Returns the columns that read_resource() expects from `at` on: title, file, line, kind, tags,
/// aliases, exported, virtual, parameters, encrypted parameters, and the hash that their encryption
/// is bound to.
std::string columns(const Database& db) {
    // The parameters are returned as text on both backends.
    return fmt::format(
        "r.title, r.file, r.line, r.kind, r.tags, r.aliases, r.exported, r.virtual,"
        " coalesce(p.exact, {}), p.sealed, p.hash",
        Dialect(db.backend()).json_text("p.parameters"));
}

Result<void> read_resource(const Statement& s, int at, base::Arena& arena,
                           const value::TypedFactory& make_typed, Secrets* secrets, Resource& out) {
    out.ref.title = s.text(at);
    out.file = s.text(at + 1);
    out.line = static_cast<int>(s.integer(at + 2));
    out.kind = s.text(at + 3);
    out.tags = strings_from_json(s.text(at + 4));
    if (!s.is_null(at + 5)) out.aliases = strings_from_json(s.text(at + 5));
    out.exported = s.integer(at + 6) != 0;
    out.virtual_ = s.integer(at + 7) != 0;
    std::string opened;
    if (secrets && !s.is_null(at + 9)) {
        const std::string place(s.blob(at + 10));
        auto text = secrets->open(std::string(s.blob(at + 9)), place);
        if (!text) {
            return base::failure(
                fmt::format("Could not read the Sensitive parameters of {}[{}]: {}", out.ref.type,
                            out.ref.title, text.error().message));
        }
        opened = std::move(*text);
    }
    catalog::Value data = BUNRAKU_TRY(
        value::parse_json(arena, opened.empty() ? s.text(at + 8) : std::string_view(opened)));
    if (!data.is_hash()) return {};
    out.parameters.reserve(data.as_hash().size());
    for (const value::Entry& e : data.as_hash()) {
        out.parameters.push_back(
            {std::string(e.key.as_string()), catalog::restore_value(arena, e.value, make_typed)});
    }
    return {};
}

/// Selects `what` from the exported resources, ordered by exporter and title.
Result<Statement> select_exported(Database& db, const std::string& what, std::string_view type,
                                  const catalog::CollectorQuery* query, std::string_view except) {
    SqlCondition condition;
    if (query) condition = BUNRAKU_TRY(to_sql(*query));
    // The unary plus keeps SQLite from scanning all exports of a type if a better index is
    // available.
    const char* plus = condition.selective && !db.postgresql() ? "+" : "";
    std::string sql = fmt::format(
        "SELECT n.certname, r.row_hash{} FROM resources r"
        " JOIN catalog_resources l ON l.resource_id = r.id"
        " JOIN certnames n ON n.id = l.certname_id"
        " JOIN parameters p ON p.id = r.parameters_id"
        " WHERE {}r.type = ? AND {}r.exported = 1 AND n.certname <> ?"
        " AND n.deactivated IS NULL AND n.expired IS NULL{}{} ORDER BY n.certname, r.title",
        what, plus, plus, condition.sql.empty() ? "" : " AND ", condition.sql);
    Statement s = BUNRAKU_TRY(query ? db.prepare_once(sql) : db.prepare(sql));
    s.bind(type).bind(except);
    for (const auto& value : condition.values) {
        std::visit([&](const auto& v) { s.bind(v); }, value);
    }
    return s;
}

Result<std::vector<catalog::ExportedResource>> find(Database& db, Secrets* secrets,
                                                    std::string_view type,
                                                    const catalog::CollectorQuery* query,
                                                    std::string_view except, base::Arena& arena,
                                                    const value::TypedFactory& make_typed) {
    Statement s = BUNRAKU_TRY(select_exported(db, ", " + columns(db), type, query, except));
    std::vector<catalog::ExportedResource> out;
    while (BUNRAKU_TRY(s.step())) {
        catalog::ExportedResource found;
        found.certname = s.text(0);
        found.hash = s.blob(1);
        found.resource.ref.type = type;
        BUNRAKU_TRY_VOID(read_resource(s, 2, arena, make_typed, secrets, found.resource));
        out.push_back(std::move(found));
    }
    return out;
}

Result<std::optional<StoredCatalog>> newest(Database& db, Secrets* secrets,
                                            std::string_view certname,
                                            const value::TypedFactory& make_typed) {
    StoredCatalog out;
    catalog::Catalog& c = out.catalog;
    c.arena = std::make_shared<base::Arena>();
    std::vector<std::int64_t> order, containment;
    std::int64_t node = 0;
    bool compiled_here = false;
    {
        Statement s = BUNRAKU_TRY(db.prepare(
            "SELECT c.certname_id, c.version, a.version_is_number, a.catalog_format, e.name,"
            " c.code_id, c.catalog_uuid, c.transaction_uuid, c.job_id, p.name,"
            " c.producer_timestamp, a.classes, a.tags, a.resource_order, a.containment"
            " FROM catalogs c JOIN certnames n ON n.id = c.certname_id"
            " LEFT JOIN environments e ON e.id = c.environment_id"
            " LEFT JOIN producers p ON p.id = c.producer_id"
            " LEFT JOIN catalog_agent_data a ON a.certname_id = c.certname_id"
            " WHERE n.certname = ?"));
        s.bind(certname);
        if (!BUNRAKU_TRY(s.step())) return std::nullopt;
        node = s.integer(0);
        c.name = certname;
        c.version = s.text(1);
        c.environment = s.text(4);
        c.code_id = s.text(5);
        c.catalog_uuid = s.text(6);
        if (!s.is_null(7)) out.envelope.transaction_uuid = s.text(7);
        if (!s.is_null(8)) out.envelope.job_id = s.text(8);
        if (!s.is_null(9)) out.envelope.producer = s.text(9);
        out.envelope.producer_timestamp = s.integer(10);
        out.envelope.has_producer_timestamp = true;
        compiled_here = !s.is_null(13);
        if (compiled_here) {
            c.version_is_number = s.integer(2) != 0;
            c.catalog_format = static_cast<int>(s.integer(3));
            c.classes = strings_from_json(s.text(11));
            c.tags = strings_from_json(s.text(12));
            order = unpack_numbers(s.blob(13));
            containment = unpack_numbers(s.blob(14));
        } else {
            c.version_is_number = false;
        }
    }
    if (!compiled_here)
        order = BUNRAKU_TRY(linked_ids(db, "catalog_resources", "resource_id", node));
    std::unordered_map<std::int64_t, std::size_t> position;
    for (std::size_t i = 0; i < order.size(); ++i) position.emplace(order[i], i);
    c.resources.resize(order.size());
    std::size_t filled = 0;
    {
        Statement s = BUNRAKU_TRY(db.prepare(
            fmt::format("SELECT r.id, r.type, {} FROM catalog_resources l"
                        " JOIN resources r ON r.id = l.resource_id"
                        " JOIN parameters p ON p.id = r.parameters_id WHERE l.certname_id = ?",
                        columns(db))));
        s.bind(node);
        while (BUNRAKU_TRY(s.step())) {
            auto at = position.find(s.integer(0));
            if (at == position.end()) continue;
            Resource& r = c.resources[at->second];
            r.ref.type = s.text(1);
            BUNRAKU_TRY_VOID(read_resource(s, 2, *c.arena, make_typed, secrets, r));
            ++filled;
        }
    }
    if (filled != order.size()) {
        return base::failure(
            fmt::format("Could not use the store {}: the catalog of {} is "
                        "incomplete",
                        db.path(), certname));
    }
    if (!compiled_here) {
        // A catalog from a client stores its containment as edges.
        Statement s = BUNRAKU_TRY(db.prepare(fmt::format(
            "SELECT e.source, e.target FROM catalogs c {} WHERE c.certname_id = ? AND e.kind = 0",
            Dialect(db.backend()).edges("c", "e"))));
        s.bind(node);
        while (BUNRAKU_TRY(s.step())) {
            auto source = position.find(s.integer(0)), target = position.find(s.integer(1));
            if (source == position.end() || target == position.end()) continue;
            containment.push_back(static_cast<std::int64_t>(source->second));
            containment.push_back(static_cast<std::int64_t>(target->second));
        }
    }
    for (std::size_t i = 0; i + 1 < containment.size(); i += 2) {
        auto source = static_cast<std::uint64_t>(containment[i]);
        auto target = static_cast<std::uint64_t>(containment[i + 1]);
        if (source >= order.size() || target >= order.size()) continue;
        c.edges.push_back({static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)});
    }
    return out;
}

}  // namespace

Result<std::vector<catalog::ExportedResource>> Store::find_exported(
    std::string_view type, const catalog::CollectorQuery* query, std::string_view except,
    base::Arena& arena, const value::TypedFactory& make_typed) {
    try {
        return find(impl_->db(), impl_->writer->secrets().get(), type, query, except, arena,
                    make_typed);
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

Result<std::string> Store::exported_identity(std::string_view type,
                                             const catalog::CollectorQuery* query,
                                             std::string_view except) {
    Statement s = BUNRAKU_TRY(select_exported(impl_->db(), "", type, query, except));
    std::string out;
    while (BUNRAKU_TRY(s.step())) catalog::append_identity(out, s.text(0), s.blob(1));
    return out;
}

Result<std::optional<StoredCatalog>> Store::newest_catalog(std::string_view certname,
                                                           const value::TypedFactory& make_typed) {
    // All reads see the same snapshot, even if another process writes.
    Transaction transaction = BUNRAKU_TRY(Transaction::begin_read(impl_->db()));
    try {
        return newest(impl_->db(), impl_->writer->secrets().get(), certname, make_typed);
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

}  // namespace bunraku::store
