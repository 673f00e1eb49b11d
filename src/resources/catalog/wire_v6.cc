// Catalog wire format version 6: underscores in keys, the node is the certname.
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

const WireFormat kWireV6 = {6, kKeys, false, ValueForm::Stringified};

}  // namespace bunraku::catalog
