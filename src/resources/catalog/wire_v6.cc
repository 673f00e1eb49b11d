// SPDX-License-Identifier: Apache-2.0
// Catalog wire format version 6: keys use underscores, and the node is called certname.
#include "resources/catalog/wire_format.h"

namespace bunraku::catalog {

static constexpr WireKey kKeys[] = {
    {"certname", WireField::Certname},
    {"version", WireField::Version},
    {"environment", WireField::Environment, true, true},
    {"transaction_uuid", WireField::TransactionUuid, true, true},
    {"producer_timestamp", WireField::ProducerTimestamp},
    {"edges", WireField::Edges},
    {"resources", WireField::Resources},
};

extern const WireFormat kWireV6;
const WireFormat kWireV6 = {6, kKeys, false, ValueForm::Stringified};

}  // namespace bunraku::catalog
