// SPDX-License-Identifier: Apache-2.0
// SHA-1 hashes of the content of a resource or a catalog. The same content always gives the same
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

/// Appends the parameters as one JSON object with sorted keys. The form is exact: references and
/// Sensitive values keep their types.
void append_canonical_parameters(std::string& out, const Resource& resource);

struct ResourceDigests {
    Digest content;  ///< type, title and parameters
    /// `content` plus all other fields of the resource: tags, file, line, flags, kind
    Digest row;
};
/// Returns the digests of one resource. `scratch` is a working buffer that callers reuse between
/// calls.
ResourceDigests resource_digests(const Resource& resource, std::string& scratch);

/// Returns the hash of a whole catalog: the node, its resources and all relations, but no version,
/// identifiers or times. If `ordered` is true, the order of the resources counts too.
Digest catalog_hash(const Catalog& catalog, const std::vector<ResourceDigests>& resources,
                    const std::vector<Relation>& relations, bool ordered = false);
Digest catalog_hash(const Catalog& catalog, const std::vector<Relation>& relations);

}  // namespace bunraku::catalog
