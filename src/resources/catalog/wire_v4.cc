// SPDX-License-Identifier: Apache-2.0
// Catalog wire format version 4, the oldest that Bunraku supports. It has no producer and no
// timestamp.
#include "resources/catalog/wire_format.h"

namespace bunraku::catalog {

static constexpr WireKey kKeys[] = {
    {"name", WireField::Certname},
    {"version", WireField::Version},
    {"environment", WireField::Environment},
    {"transaction-uuid", WireField::TransactionUuid, true},
    {"edges", WireField::Edges},
    {"resources", WireField::Resources},
};

extern const WireFormat kWireV4;
const WireFormat kWireV4 = {4, kKeys, true, ValueForm::Strings};

}  // namespace bunraku::catalog
