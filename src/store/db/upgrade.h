// SPDX-License-Identifier: Apache-2.0
// The part of a schema upgrade that stores catalogs. The database declares it, and the engine,
// which is the layer above, implements it.
#pragma once

#include "store/db/writer.h"

namespace bunraku::store {

/// Converts the catalogs that migrate() moved from schema 1 to tables named v1_..., and drops these
/// tables.
Result<void> convert_v1(Writer& writer);

}  // namespace bunraku::store
