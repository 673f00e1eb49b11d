// SPDX-License-Identifier: Apache-2.0
// Facts cached between runs in JSON files, one file per group, as in Facter 4.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "resources/facts/context.h"
#include "resources/facts/fact_groups.h"

namespace bunraku::facts {

/// An item to resolve: a fact or part of one, a pattern of legacy facts, or a file of external
/// facts.
struct FactQuery {
    std::string name;
    Origin origin = Origin::Core;
    std::string query;
    std::string file;
};

class FactCache {
public:
    FactCache(Context& context, const Options& options, const FactGroups& groups)
        : context_(context), options_(options), groups_(groups) {}

    /// Removes from `searched` the items that are cached and not too old, and returns their values.
    std::vector<Resolved> answer(std::vector<FactQuery>& searched);
    /// Writes facts to the cache if the configuration caches them. Logs a warning on failure.
    void store(std::span<const Resolved> facts);
    bool caches(std::string_view name) const { return groups_.cache_policy(name).has_value(); }

private:
    std::optional<std::vector<Resolved>> answer_one(const FactQuery& searched);
    /// Removes the cache file of the group if it is too old. Always returns true.
    bool check_age(const std::string& group, std::int64_t seconds);
    const Value& read_group(const std::string& group);
    void remove(const std::string& group);
    std::string path(const std::string& group) const;
    void debug(std::string text);

    Context& context_;
    const Options& options_;
    const FactGroups& groups_;
    std::map<std::string, Value> read_;
};

}  // namespace bunraku::facts
