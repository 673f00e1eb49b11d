// What was: the facts that a node had before. A version keeps what those that differ were before
// it; the newest are in their own tables. docs/design/0221-what-was.md
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

/// Facts that are other in every run: uptime, load, memory and disk that is free.
bool is_restless_fact(std::string_view name);
/// Of all others. `rows` by name.
Digest steady_hash(std::span<const FactRow> rows);

/// For writers, before the newest facts are replaced. `before`: the bytes of the hash that was;
/// empty: unknown, this is the first version.
Result<void> remember_facts(Writer& writer, std::int64_t node, std::int64_t producer_timestamp,
                            const Digest& hash, std::string_view before,
                            std::span<const FactRow> rows);

struct FactsVersion {
    std::int64_t valid_from = 0;
    std::optional<std::int64_t> valid_until;  ///< empty: it is the newest
    std::vector<std::string> changed;         ///< names, against the one before
    bool first = false;                       ///< there is none before that is known
};

/// The newest first.
Result<std::vector<FactsVersion>> facts_versions(Database& db, std::string_view certname);

struct PastFacts {
    FactsVersion version;
    std::map<std::string, std::string> facts;  ///< JSON by name, without restless ones
};

/// The facts that were good at that time; nullopt: none are known.
Result<std::optional<PastFacts>> facts_at(Database& db, std::string_view certname,
                                          std::int64_t time);

/// As the API gives them.
std::string facts_versions_json(const std::vector<FactsVersion>& versions);
std::string past_facts_json(std::string_view certname, const PastFacts& past);

}  // namespace bunraku::store
