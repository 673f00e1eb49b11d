// Where the resources of a node's newest catalog are declared (file and line), as one short list a
// catalog: what is asked of places is counted from these, not from millions of links.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

struct Place {
    std::optional<std::string> file;
    std::optional<std::int64_t> line;
    std::int64_t id = 0;

    Digest hash() const;
};
/// By hash: all writers make new ones in one order.
using SourceLocations = std::map<Digest, Place>;

/// Gives each its id, making it where it is not there yet.
Result<void> number_source_locations(Writer& writer, SourceLocations& places);

/// Notes where `refs`, the newest catalog of `node` with this hash, are declared.
Result<void> store_source_locations(Writer& writer, std::int64_t node,
                                    const std::vector<Writer::ResourceRef>& refs,
                                    const Digest& hash);

/// The same for nodes whose newest catalog a program has written that knows no places, `limit` at
/// most; gives their number.
Result<std::size_t> fill_source_locations(Database& db, std::size_t limit = INT64_MAX);

/// Those that no catalog has any more, `limit` at most.
Result<std::vector<std::int64_t>> unused_source_locations(Database& db, std::size_t limit);

}  // namespace bunraku::store
