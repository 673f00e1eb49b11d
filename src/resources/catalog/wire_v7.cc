// SPDX-License-Identifier: Apache-2.0
// Catalog wire format version 7: adds the code_id.
#include "resources/catalog/wire_format.h"

namespace bunraku::catalog {

static constexpr WireKey kKeys[] = {
    {"certname", WireField::Certname},
    {"version", WireField::Version},
    {"environment", WireField::Environment, true, true},
    {"transaction_uuid", WireField::TransactionUuid, true, true},
    {"code_id", WireField::CodeId, true},
    {"producer_timestamp", WireField::ProducerTimestamp},
    {"edges", WireField::Edges},
    {"resources", WireField::Resources},
};

extern const WireFormat kWireV7;
const WireFormat kWireV7 = {7, kKeys, false, ValueForm::Stringified};

}  // namespace bunraku::catalog
