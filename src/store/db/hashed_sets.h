// Tables of different sets, each found by the hash of its members: sets of tags, of names of facts,
// of kinds of resources.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/db/writer.h"

namespace bunraku::store {

/// The id of the set in `table`; 0: not there.
Result<std::int64_t> find_set(Database& db, std::string_view table, const Digest& hash);

struct MadeSet {
    std::int64_t id = 0;
    bool fresh = false;  ///< it has no members yet
};
/// Makes the set unless another writer has just done so.
Result<MadeSet> make_set(Database& db, std::string_view table, const Digest& hash);

}  // namespace bunraku::store
