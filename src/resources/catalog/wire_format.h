// What distinguishes one wire format from another, as data. One file a version defines one of
// these.
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
    std::span<const WireKey> keys;  ///< of the main object, in the order they are written
    /// The format to the letter of its document: all eight resource keys, no others, null nowhere
    /// but where a key says so. Versions from 6 on are read and written as Puppet's terminus and
    /// PuppetDB do: `file` and `line` may be absent, aliases travel in the parameter `alias`,
    /// unknown keys are passed over.
    bool literal;
    ValueForm values;
};

extern const WireFormat kWireV4, kWireV5, kWireV6, kWireV7, kWireV8, kWireV9;

/// Null: unknown.
const WireFormat* find_wire_format(int version);

}  // namespace bunraku::catalog
