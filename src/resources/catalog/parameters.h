// SPDX-License-Identifier: Apache-2.0
// The parameters of a resource in the form in which Puppet's catalogs show them. Values from the
// title come first. The name variable is omitted if it only repeats the title.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "resources/catalog/json_text.h"
#include "resources/catalog/naming.h"

namespace bunraku::catalog {

struct ShownParameter {
    std::string_view name;
    /// the plain value if it is Sensitive; if null, `text` is the value
    const Value* value = nullptr;
    std::string text;  ///< a value from the title
    bool sensitive = false;
};

std::vector<ShownParameter> shown_parameters(const Resource& resource, const Naming& naming);

}  // namespace bunraku::catalog
