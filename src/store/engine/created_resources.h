// SPDX-License-Identifier: Apache-2.0
// The resources of a node that its agent created, according to its reports. Events expire with
// their retention time, so this is recorded when a report is stored. docs/design/0402
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

/// The created resources of one node, as a set of hashes of type and title. The node's row must be
/// locked.
class CreatedResources {
public:
    static Result<CreatedResources> read(Database& db, std::int64_t node);

    bool contains(std::string_view type, std::string_view title) const;
    /// Does nothing if the node has `kMost` resources: later ones count as not created.
    void add(std::string_view type, std::string_view title);
    /// Returns true if the resource was in the set.
    bool remove(std::string_view type, std::string_view title);
    /// Writes the set if it has changed.
    Result<void> save(Database& db);

    static constexpr std::size_t kMost = 20'000;

private:
    explicit CreatedResources(std::int64_t node) : node_(node) {}
    std::int64_t node_;
    std::vector<std::int64_t> hashes_;  ///< sorted
    bool changed_ = false;
};

/// What an event did to the existence of its resource.
enum class Existence : std::uint8_t { Same, Created, Removed };

/// Classifies a successful event of a property. The values are canonical JSON. A change of `ensure`
/// from absent creates the resource. A change of `enable` from false creates what the resource
/// Service adds.
Existence existence_change(std::string_view type, std::string_view property,
                           std::string_view old_value, std::string_view new_value);

struct ExistenceChange {
    std::string_view type, title;
    Existence change = Existence::Same;
};

/// Applies the changes of a report in their order.
Result<void> record_existence(Database& db, std::int64_t node,
                              std::span<const ExistenceChange> changes);

}  // namespace bunraku::store
