// SPDX-License-Identifier: Apache-2.0
// Catalog wire format version 8: adds the catalog_uuid.
#include "resources/catalog/wire_format.h"

namespace bunraku::catalog {

static constexpr WireKey kKeys[] = {
    {"certname", WireField::Certname},
    {"version", WireField::Version},
    {"environment", WireField::Environment, true, true},
    {"transaction_uuid", WireField::TransactionUuid, true, true},
    {"catalog_uuid", WireField::CatalogUuid, true},
    {"code_id", WireField::CodeId, true},
    {"producer_timestamp", WireField::ProducerTimestamp},
    {"edges", WireField::Edges},
    {"resources", WireField::Resources},
};

extern const WireFormat kWireV8;
const WireFormat kWireV8 = {8, kKeys, false, ValueForm::Stringified};

}  // namespace bunraku::catalog
