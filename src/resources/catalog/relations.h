// Every relationship of a catalog as wire formats and the store have it: containment and what the
// four relationship metaparameters say, always from what is managed first.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/naming.h"

namespace bunraku::catalog {

enum class Relationship : std::uint8_t { Contains, Before, RequiredBy, Notifies, SubscriptionOf };

/// "contains", "before", "required-by", "notifies", "subscription-of".
std::string_view relationship_name(Relationship kind);
std::optional<Relationship> relationship_from_name(std::string_view name);

/// By position in Catalog::resources; `source` is managed first.
struct Relation {
    std::uint32_t source;
    std::uint32_t target;
    Relationship kind;
    bool operator==(const Relation&) const = default;
};

/// Plain virtual resources take no part. Exported ones that nobody collected are contained, but
/// neither say nor are told an order; to refer to one is an error, as is a reference to nothing.
/// Each relation comes once.
base::Result<std::vector<Relation>> relations(const Catalog& catalog,
                                              const Naming& naming = plain_naming());

}  // namespace bunraku::catalog
