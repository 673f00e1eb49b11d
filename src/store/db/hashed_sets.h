// SPDX-License-Identifier: Apache-2.0
// Tables of distinct sets, in which each set is found by the hash of its members: sets of tags, of
// fact names, of resource kinds.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/db/writer.h"

namespace bunraku::store {

/// Returns the id of the set in `table`, or 0 if it does not exist.
Result<std::int64_t> find_set(Database& db, std::string_view table, const Digest& hash);

struct MadeSet {
    std::int64_t id = 0;
    bool fresh = false;  ///< the caller must still add the members
};
/// Creates the set unless another writer has just created it.
Result<MadeSet> make_set(Database& db, std::string_view table, const Digest& hash);

}  // namespace bunraku::store
