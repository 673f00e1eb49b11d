// SPDX-License-Identifier: Apache-2.0
// Catalog wire format version 5: version 4 plus the time at which the producer sent the catalog.
#include "resources/catalog/wire_format.h"

namespace bunraku::catalog {

static constexpr WireKey kKeys[] = {
    {"name", WireField::Certname},
    {"version", WireField::Version},
    {"environment", WireField::Environment},
    {"transaction-uuid", WireField::TransactionUuid, true},
    {"producer-timestamp", WireField::ProducerTimestamp, true},
    {"edges", WireField::Edges},
    {"resources", WireField::Resources},
};

extern const WireFormat kWireV5;
const WireFormat kWireV5 = {5, kKeys, true, ValueForm::Strings};

}  // namespace bunraku::catalog
