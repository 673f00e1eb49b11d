// SPDX-License-Identifier: Apache-2.0
// The differences between the wire formats, as data. Each wire_v*.cc file defines one format.
#pragma once

#include <span>
#include <string_view>

#include "resources/catalog/json_text.h"
#include "resources/catalog/wire.h"

namespace bunraku::catalog {

enum class WireField {
    Certname,
    Version,
    Environment,
    TransactionUuid,
    CatalogUuid,
    CodeId,
    JobId,
    ProducerTimestamp,
    Producer,
    Edges,
    Resources,
};

struct WireKey {
    std::string_view name;
    WireField field;
    bool nullable = false;
    bool optional = false;
};

struct WireFormat {
    int version;
    /// keys of the main object, in the order in which they are written
    std::span<const WireKey> keys;
    /// True if the format follows its specification literally: all eight resource keys, no others,
    /// and null only where a key allows it. Versions from 6 on are read and written as Puppet's
    /// terminus and PuppetDB do: `file` and `line` may be absent, the parameter `alias` carries the
    /// aliases, and unknown keys are ignored.
    bool literal;
    ValueForm values;

    bool has(WireField field) const;
};

/// Returns null if the version is unknown.
const WireFormat* find_wire_format(int version);

}  // namespace bunraku::catalog
