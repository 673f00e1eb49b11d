// SPDX-License-Identifier: Apache-2.0
// Every relationship of a catalog in the form of the wire formats and the store: containment and
// the four relationship metaparameters. The source is always the resource that is managed first.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/naming.h"

namespace bunraku::catalog {

enum class Relationship : std::uint8_t { Contains, Before, RequiredBy, Notifies, SubscriptionOf };

/// Returns "contains", "before", "required-by", "notifies" or "subscription-of".
std::string_view relationship_name(Relationship kind);
std::optional<Relationship> relationship_from_name(std::string_view name);

/// A relationship between two positions in Catalog::resources; `source` is managed first.
struct Relation {
    std::uint32_t source;
    std::uint32_t target;
    Relationship kind;
    bool operator==(const Relation&) const = default;
};

/// Returns each relationship of the catalog once. Ignores plain virtual resources. For exported
/// resources that no collector realized, it returns only their containment. Returns an error if a
/// relationship metaparameter refers to such a resource or to a resource that does not exist.
base::Result<std::vector<Relation>> relations(const Catalog& catalog,
                                              const Naming& naming = plain_naming());

}  // namespace bunraku::catalog
