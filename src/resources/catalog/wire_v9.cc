// SPDX-License-Identifier: Apache-2.0
// Catalog wire format version 9: adds the producer (the server's certname) and the job_id.
#include "resources/catalog/wire_format.h"

namespace bunraku::catalog {

static constexpr WireKey kKeys[] = {
    {"certname", WireField::Certname},
    {"version", WireField::Version},
    {"environment", WireField::Environment, true, true},
    {"transaction_uuid", WireField::TransactionUuid, true, true},
    {"catalog_uuid", WireField::CatalogUuid, true},
    {"code_id", WireField::CodeId, true},
    {"job_id", WireField::JobId, true, true},
    {"producer_timestamp", WireField::ProducerTimestamp},
    {"producer", WireField::Producer, true},
    {"edges", WireField::Edges},
    {"resources", WireField::Resources},
};

extern const WireFormat kWireV9;
const WireFormat kWireV9 = {9, kKeys, false, ValueForm::Stringified};

}  // namespace bunraku::catalog
