// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/component.h"

#include "core/base/assert.h"
#include "core/base/text.h"
#include "resources/apply/ral_catalog.h"

namespace bunraku::apply {

std::vector<std::string> Component::path_elements() const {
    std::vector<std::string> out;
    if (const Resource* p = parent()) out = p->path_elements();
    out.push_back(type_ == "Class" ? reference_title_ : ref());
    return out;
}

// Treats the title as a reference, so its type is capitalised.
std::string Whit::ref() const {
    const std::size_t type = title().find('[');
    if (type == std::string::npos) return Resource::ref();
    std::string name = base::capitalized_segments(base::lower(title().substr(0, type)));
    return "Whit[" + name + title().substr(type) + "]";
}

void Component::initialize_component(ResourceData data) {
    BUNRAKU_ASSERT(title().empty() && params().empty());
    set_title(ref());
    set_location(data);
    for (const auto& [name, v] : data.parameters) {
        for (const Attribute& a : restype::metaparameters()) {
            if (a.name == name) set(name, v);
        }
    }
}

}  // namespace bunraku::apply
