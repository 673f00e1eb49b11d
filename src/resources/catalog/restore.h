// Rich data back to values, with references readable also where nobody can build types.
#pragma once

#include "core/base/diagnostic.h"
#include "core/value/rich_data.h"
#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// As value::from_rich_data; without `make_typed` references become "Type[title]" strings, which
/// every consumer of a catalog understands, rather than hashes.
Value restore_value(base::Arena& arena, const Value& data,
                    const value::TypedFactory& make_typed = {});

}  // namespace bunraku::catalog
