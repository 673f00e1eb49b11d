// SPDX-License-Identifier: Apache-2.0
// The history of a node's facts. A version stores the previous values of the facts that changed.
// The newest facts are in their own tables. docs/design/0221
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/fact_rows.h"
#include "store/db/writer.h"

namespace bunraku::store {

/// Reports whether the fact differs in every run, such as uptime, load, free memory and free disk
/// space.
bool is_volatile_fact(std::string_view name);
/// Returns the hash of all other facts. `rows` must be sorted by name.
Digest steady_hash(std::span<const FactRow> rows);

/// Writers call this before they replace the newest facts. `before` contains the bytes of the
/// previous hash. It is empty if the hash is unknown, and this is the first version.
Result<void> remember_facts(Writer& writer, std::int64_t node, std::int64_t producer_timestamp,
                            const Digest& hash, std::string_view before,
                            std::span<const FactRow> rows);

struct FactsVersion {
    std::int64_t valid_from = 0;
    std::optional<std::int64_t> valid_until;  ///< empty for the newest version
    /// names of facts that differ from the previous version
    std::vector<std::string> changed;
    bool first = false;  ///< true if no earlier version is known
};

/// Returns the versions, newest first.
Result<std::vector<FactsVersion>> facts_versions(Database& db, std::string_view certname);

struct PastFacts {
    FactsVersion version;
    /// JSON values by name, without facts that differ in every run
    std::map<std::string, std::string> facts;
};

/// Returns the facts that were valid at that time, or nullopt if none are known.
Result<std::optional<PastFacts>> facts_at(Database& db, std::string_view certname,
                                          std::int64_t time);

/// Returns the versions in the API's format.
std::string facts_versions_json(const std::vector<FactsVersion>& versions);
std::string past_facts_json(std::string_view certname, const PastFacts& past);

}  // namespace bunraku::store
