// Catalog wire format version 7: with the identity of the code.
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

const WireFormat kWireV7 = {7, kKeys, false, ValueForm::Stringified};

}  // namespace bunraku::catalog
