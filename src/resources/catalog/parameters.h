// The parameters of a resource as Puppet's catalogs show them: what the title says first, the name
// variable left out where it only repeats the title.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "resources/catalog/json_text.h"
#include "resources/catalog/naming.h"

namespace bunraku::catalog {

struct ShownParameter {
    std::string_view name;
    const Value* value = nullptr;  ///< unwrapped where it is Sensitive; null: `text` is the value
    std::string text;              ///< from the title
    bool sensitive = false;
};

std::vector<ShownParameter> shown_parameters(const Resource& resource, const Naming& naming);

}  // namespace bunraku::catalog
