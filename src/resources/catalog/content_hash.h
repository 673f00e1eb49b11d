// What a resource or a catalog consists of, as a SHA-1: the same content always gives the same
// hash, whatever the order of parameters and hash keys.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/sha1.h"
#include "resources/catalog/relations.h"

namespace bunraku::catalog {

using Digest = codec::Sha1Digest;

/// The parameters as one JSON object with sorted keys, exact (references and Sensitive kept).
void append_canonical_parameters(std::string& out, const Resource& resource);

struct ResourceDigests {
    Digest content;  ///< type, title and parameters
    Digest row;      ///< that and everything else the resource has: tags, file, line, flags, kind
};
/// `scratch` is only working memory, kept between calls.
ResourceDigests resource_digests(const Resource& resource, std::string& scratch);

/// The content of a whole catalog: the node, its resources and all relations, but neither version,
/// identifiers nor times. `ordered`: the order of resources counts too.
Digest catalog_hash(const Catalog& catalog, const std::vector<ResourceDigests>& resources,
                    const std::vector<Relation>& relations, bool ordered = false);
Digest catalog_hash(const Catalog& catalog, const std::vector<Relation>& relations);

}  // namespace bunraku::catalog
