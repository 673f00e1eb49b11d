// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

const Value* Resource::parameter(std::string_view name) const {
    for (const Parameter& p : parameters) {
        if (p.name == name) return &p.value;
    }
    return nullptr;
}

const Resource* Catalog::find(std::string_view type, std::string_view title) const {
    for (const Resource& r : resources) {
        if (r.ref.title == title && r.ref.type == type) return &r;
    }
    return nullptr;
}

}  // namespace bunraku::catalog
