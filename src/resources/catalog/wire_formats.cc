// SPDX-License-Identifier: Apache-2.0
// The table of the wire formats. A new version needs its file wire_vN.cc and a row here.
#include <algorithm>

#include "resources/catalog/wire_format.h"

namespace bunraku::catalog {

extern const WireFormat kWireV4, kWireV5, kWireV6, kWireV7, kWireV8, kWireV9;

namespace {

/// In the order of the versions.
constexpr const WireFormat* kFormats[] = {&kWireV4, &kWireV5, &kWireV6,
                                          &kWireV7, &kWireV8, &kWireV9};

}  // namespace

bool WireFormat::has(WireField field) const {
    return std::ranges::find(keys, field, &WireKey::field) != keys.end();
}

int oldest_wire_version() { return std::begin(kFormats)[0]->version; }
int newest_wire_version() { return std::end(kFormats)[-1]->version; }

const WireFormat* find_wire_format(int version) {
    const auto at = std::ranges::find(kFormats, version, &WireFormat::version);
    return at != std::end(kFormats) ? *at : nullptr;
}

}  // namespace bunraku::catalog
