// SPDX-License-Identifier: Apache-2.0
// The catalog wire formats, versions 4 to 9, in which compilers send catalogs to a PuppetDB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/relations.h"

namespace bunraku::catalog {

/// Returns the range of versions in the table of wire_formats.cc.
int oldest_wire_version();
int newest_wire_version();

/// The fields of a replace-catalog command other than the catalog. Absent strings are written as
/// null.
struct WireEnvelope {
    std::optional<std::string> transaction_uuid;
    std::optional<std::string> job_id;    ///< version 9
    std::optional<std::string> producer;  ///< version 9: the server's certname
    std::int64_t producer_timestamp = 0;  ///< milliseconds since the epoch; from version 5 on
    bool has_producer_timestamp = false;  ///< set on reading: whether the format has this field
};

/// A catalog read from its wire format. Its `edges` are the containment relations among
/// `relations`.
struct WireCatalog {
    Catalog catalog;
    WireEnvelope envelope;
    std::vector<Relation> relations;
};

/// How to write Sensitive parameters.
enum class WireSecrets : std::uint8_t {
    LeftOut,  ///< omit them, as Puppet does
    Rich,     ///< as rich data, for the store in this process, which encrypts them
};

/// Writes compact JSON without plain virtual resources. Fails if the target of a relationship does
/// not exist or the version is unknown.
base::Result<std::string> write_wire(int version, const Catalog& catalog,
                                     const WireEnvelope& envelope = {},
                                     const Naming& naming = plain_naming(),
                                     WireSecrets secrets = WireSecrets::LeftOut);

/// Reads a catalog and validates everything that the version's specification requires. The error
/// names the path inside the document.
base::Result<WireCatalog> read_wire(int version, std::string_view json);

}  // namespace bunraku::catalog
