// SPDX-License-Identifier: Apache-2.0
// Converts files of schema 1, which contained only catalogs compiled in this process, to the
// current schema.
#include <fmt/format.h>
#include <unordered_map>

#include "store/db/upgrade.h"
#include "store/engine/impl.h"

namespace bunraku::store {

namespace {

struct Old {
    catalog::Catalog catalog;
    catalog::WireEnvelope envelope;
    std::vector<std::int64_t> order, containment;
};

Result<void> read_resources(Database& db, std::int64_t node, Old& old) {
    catalog::Catalog& c = old.catalog;
    std::unordered_map<std::int64_t, std::size_t> position;
    for (std::size_t i = 0; i < old.order.size(); ++i) position.emplace(old.order[i], i);
    c.resources.resize(old.order.size());
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT r.id, r.type, r.title, r.file, r.line, r.kind, r.tags, r.aliases,"
                   " r.exported, r.virtual, p.parameters FROM v1_resources r"
                   " JOIN v1_params p ON p.id = r.params_id WHERE r.node_id = ?"));
    s.bind(node);
    while (BUNRAKU_TRY(s.step())) {
        auto at = position.find(s.integer(0));
        if (at == position.end()) continue;
        catalog::Resource& r = c.resources[at->second];
        r.ref = {std::string(s.text(1)), std::string(s.text(2))};
        r.file = s.text(3);
        r.line = static_cast<int>(s.integer(4));
        r.kind = s.text(5);
        r.tags = strings_from_json(s.text(6));
        if (!s.is_null(7)) r.aliases = strings_from_json(s.text(7));
        r.exported = s.integer(8) != 0;
        r.virtual_ = s.integer(9) != 0;
        catalog::Value data = BUNRAKU_TRY(value::parse_json(*c.arena, s.text(10)));
        if (!data.is_hash()) continue;
        for (const value::Entry& e : data.as_hash()) {
            r.parameters.push_back(
                {std::string(e.key.as_string()), catalog::restore_value(*c.arena, e.value, {})});
        }
    }
    for (std::size_t i = 0; i + 1 < old.containment.size(); i += 2) {
        auto source = static_cast<std::uint64_t>(old.containment[i]);
        auto target = static_cast<std::uint64_t>(old.containment[i + 1]);
        if (source >= old.order.size() || target >= old.order.size()) continue;
        c.edges.push_back({static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)});
    }
    return {};
}

}  // namespace

Result<void> convert_v1(Writer& writer) {
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    struct Node {
        std::int64_t id;
        std::string certname;
        std::optional<std::int64_t> deactivated;
    };
    std::vector<Node> nodes;
    {
        Statement s = BUNRAKU_TRY(db.prepare("SELECT id, certname, deactivated FROM v1_nodes"));
        while (BUNRAKU_TRY(s.step())) {
            Node& n = nodes.emplace_back(Node{s.integer(0), std::string(s.text(1)), {}});
            if (!s.is_null(2)) n.deactivated = s.integer(2);
        }
    }
    for (const Node& n : nodes) {
        std::optional<Old> old;
        {
            Statement s = BUNRAKU_TRY(db.prepare(
                "SELECT c.version, c.version_is_number, c.catalog_format, e.name, c.code_id,"
                " c.catalog_uuid, c.transaction_uuid, c.job_id, c.producer, c.producer_timestamp,"
                " c.classes, c.tags, c.resource_order, c.containment FROM v1_catalogs c"
                " LEFT JOIN v1_environments e ON e.id = c.environment_id WHERE c.node_id = ?"));
            s.bind(n.id);
            if (BUNRAKU_TRY(s.step())) {
                catalog::Catalog& c = old.emplace().catalog;
                c.arena = std::make_shared<base::Arena>();
                c.name = n.certname;
                c.version = s.text(0);
                c.version_is_number = s.integer(1) != 0;
                c.catalog_format = static_cast<int>(s.integer(2));
                c.environment = s.text(3);
                c.code_id = s.text(4);
                c.catalog_uuid = s.text(5);
                if (!s.is_null(6)) old->envelope.transaction_uuid = s.text(6);
                if (!s.is_null(7)) old->envelope.job_id = s.text(7);
                if (!s.is_null(8)) old->envelope.producer = s.text(8);
                old->envelope.producer_timestamp = s.integer(9);
                c.classes = strings_from_json(s.text(10));
                c.tags = strings_from_json(s.text(11));
                old->order = unpack_numbers(s.blob(12));
                old->containment = unpack_numbers(s.blob(13));
            }
        }
        if (old) {
            BUNRAKU_TRY_VOID(read_resources(db, n.id, *old));
            auto relations = catalog::relations(old->catalog);
            std::vector<catalog::Relation> edges;
            if (relations) edges = std::move(*relations);
            BUNRAKU_TRY(replace_catalog(writer, n.certname, old->envelope.producer_timestamp,
                                        old->catalog, old->envelope, edges));
        } else {
            BUNRAKU_TRY(writer.node(n.certname, Writer::IfMissing::Create));
        }
        if (n.deactivated) {
            Statement s =
                BUNRAKU_TRY(db.prepare("UPDATE certnames SET deactivated = ? WHERE certname = ?"));
            s.bind(*n.deactivated).bind(n.certname);
            BUNRAKU_TRY_VOID(s.run());
        }
    }
    BUNRAKU_TRY_VOID(
        db.execute("DROP TABLE v1_resources; DROP TABLE v1_catalogs; DROP TABLE v1_params;"
                   " DROP TABLE v1_environments; DROP TABLE v1_nodes"));
    return transaction.commit();
}

}  // namespace bunraku::store
