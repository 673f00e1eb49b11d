// SPDX-License-Identifier: Apache-2.0
// Flags and relations that the entity tables share. Each file entities_*.cc defines the entities of
// one subject; entities.cc finds them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "store/query/entity.h"
#include "store/query/json_sql.h"

namespace bunraku::query::entities {

using F = Field;
using T = FieldType;
inline constexpr auto kBoth = F::Both;
inline constexpr auto kNull = static_cast<std::uint8_t>(F::Both | F::Nullable);

// --- Common relations: other entities of the same node

inline constexpr std::string_view kOfNodes[] = {
    "factsets",       "reports",  "package_inventory",
    "inventory",      "catalogs", "catalog_input_contents",
    "catalog_inputs", "nodes",    "facts",
    "fact_contents",  "events",   "edges",
    "resources"};

template <std::size_t N>
constexpr auto with_nodes(const Relation (&own)[N]) {
    std::array<Relation, N + std::size(kOfNodes)> all{};
    std::size_t n = 0;
    for (const Relation& r : own) all[n++] = r;
    for (std::string_view name : kOfNodes) all[n++] = {name, "certname", "certname"};
    return all;
}

inline constexpr auto kOnlyNodes = with_nodes({{"nodes", "certname", "certname"}});
inline constexpr auto kNodesEnvironments = with_nodes({{"environments", "environment", "name"}});
inline constexpr auto kNodesEnvironmentsProducers =
    with_nodes({{"environments", "environment", "name"}, {"producers", "producer", "name"}});

/// Returns {"href": ..} for the nested rows of a row: their path in the API.
std::string href(const Dialect& dialect, std::string_view path, std::string_view id,
                 std::string_view child);

std::span<const Entity> of_nodes();
std::span<const Entity> of_facts();
std::span<const Entity> of_catalogs();
std::span<const Entity> of_reports();

}  // namespace bunraku::query::entities
