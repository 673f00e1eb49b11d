// The catalog wire formats: what compilers send to a PuppetDB, versions 4 to 9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/relations.h"

namespace bunraku::catalog {

inline constexpr int kOldestWireVersion = 4;
inline constexpr int kNewestWireVersion = 9;

/// What a replace-catalog command says beside the catalog. Absent texts are null.
struct WireEnvelope {
    std::optional<std::string> transaction_uuid;
    std::optional<std::string> job_id;    ///< version 9
    std::optional<std::string> producer;  ///< versions 8 and 9: the server's certname
    std::int64_t producer_timestamp = 0;  ///< milliseconds since the epoch; from version 5 on
    bool has_producer_timestamp = false;  ///< read: whether the format carries one
};

/// A catalog that came over the wire. Its `edges` are the containment part of `relations`.
struct WireCatalog {
    Catalog catalog;
    WireEnvelope envelope;
    std::vector<Relation> relations;
};

/// What becomes of Sensitive parameters.
enum class WireSecrets : std::uint8_t {
    LeftOut,  ///< as Puppet does it
    Rich,     ///< rich data: for the store of this process, which encrypts it
};

/// Compact JSON, without plain virtual resources. Fails where a relationship leads nowhere, or the
/// version is unknown.
base::Result<std::string> write_wire(int version, const Catalog& catalog,
                                     const WireEnvelope& envelope = {},
                                     const Naming& naming = plain_naming(),
                                     WireSecrets secrets = WireSecrets::LeftOut);

/// Validates everything that the version's document asks for; the error names the place inside the
/// document.
base::Result<WireCatalog> read_wire(int version, std::string_view json);

}  // namespace bunraku::catalog
