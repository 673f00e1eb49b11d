// SPDX-License-Identifier: Apache-2.0
#include "store/engine/catalog_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "store/db/packed.h"

namespace bunraku::store {

namespace {

constexpr std::string_view kHead =
    "SELECT c.version, c.code_id, e.name, c.producer_timestamp, a.resource_order, c.catalog_uuid"
    " FROM catalogs c"
    " LEFT JOIN environments e ON e.id = c.environment_id"
    " LEFT JOIN catalog_agent_data a ON a.certname_id = c.certname_id WHERE c.certname_id = ?";
constexpr std::string_view kEntries =
    "SELECT r.id, r.type, r.title, r.file, r.line, r.exported FROM catalog_resources l"
    " JOIN resources r ON r.id = l.resource_id WHERE l.certname_id = ?";

std::string relations_statement(Backend backend) {
    return fmt::format(
        "SELECT e.source, e.target, e.kind FROM catalogs c {} WHERE c.certname_id = ?",
        query::Dialect(backend).edges("c", "e"));
}

/// Returns the positions of the resources in the order in which they are shown.
std::vector<std::size_t> order_of(const std::vector<CatalogView::Entry>& entries,
                                  const std::vector<std::int64_t>& ids,
                                  const std::vector<std::int64_t>& manifest) {
    std::unordered_map<std::int64_t, std::size_t> rank;
    for (std::size_t i = 0; i < manifest.size(); ++i) rank.emplace(manifest[i], i);
    const auto rank_of = [&](std::size_t at) {
        const auto it = rank.find(ids[at]);
        return it == rank.end() ? manifest.size() : it->second;
    };
    std::vector<std::size_t> out(entries.size());
    std::iota(out.begin(), out.end(), 0);
    std::ranges::sort(out, [&](std::size_t a, std::size_t b) {
        return std::tuple(rank_of(a), std::string_view(entries[a].type),
                          std::string_view(entries[a].title)) <
               std::tuple(rank_of(b), std::string_view(entries[b].type),
                          std::string_view(entries[b].title));
    });
    return out;
}

}  // namespace

std::vector<std::string> catalog_view_statements(Backend backend) {
    return {std::string(kHead), std::string(kEntries), relations_statement(backend)};
}

Result<std::optional<CatalogView>> catalog_view(Database& db, std::int64_t node) {
    // All reads see the same catalog, even if another process writes.
    const Transaction transaction = BUNRAKU_TRY(Transaction::begin_read(db));
    CatalogView out;
    std::vector<std::int64_t> manifest;
    {
        Statement s = BUNRAKU_TRY(db.prepare(kHead));
        s.bind(node);
        if (!BUNRAKU_TRY(s.step())) return std::nullopt;
        out.version = s.text(0);
        out.code_id = s.text(1);
        out.environment = s.text(2);
        out.time = s.integer(3);
        out.catalog_uuid = s.text(5);
        if (!s.is_null(4)) manifest = unpack_numbers(s.blob(4));
    }
    std::vector<CatalogView::Entry> entries;
    std::vector<std::int64_t> ids;
    {
        Statement s = BUNRAKU_TRY(db.prepare(kEntries));
        s.bind(node);
        while (BUNRAKU_TRY(s.step())) {
            ids.push_back(s.integer(0));
            entries.push_back({std::string(s.text(1)), std::string(s.text(2)),
                               std::string(s.text(3)), s.integer(4), s.boolean(5)});
        }
    }
    std::unordered_map<std::int64_t, std::uint32_t> position;
    for (const std::size_t at : order_of(entries, ids, manifest)) {
        position.emplace(ids[at], static_cast<std::uint32_t>(out.resources.size()));
        out.resources.push_back(std::move(entries[at]));
    }
    Statement s = BUNRAKU_TRY(db.prepare(relations_statement(db.backend())));
    s.bind(node);
    while (BUNRAKU_TRY(s.step())) {
        const auto source = position.find(s.integer(0)), target = position.find(s.integer(1));
        const auto kind = s.integer(2);
        if (source == position.end() || target == position.end() || kind < 0 ||
            kind > static_cast<std::int64_t>(catalog::Relationship::SubscriptionOf))
            continue;
        out.relations.push_back(
            {source->second, target->second, static_cast<catalog::Relationship>(kind)});
    }
    return out;
}

}  // namespace bunraku::store
