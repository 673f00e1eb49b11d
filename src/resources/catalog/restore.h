// SPDX-License-Identifier: Apache-2.0
// Converts rich data to values. References remain readable where no type factory is available.
#pragma once

#include "core/base/diagnostic.h"
#include "core/value/rich_data.h"
#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

/// Like value::from_rich_data, except that without `make_typed` references become "Type[title]"
/// strings rather than hashes. Every consumer of a catalog understands such strings.
Value restore_value(base::Arena& arena, const Value& data,
                    const value::TypedFactory& make_typed = {});

}  // namespace bunraku::catalog
