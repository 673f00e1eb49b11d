// SPDX-License-Identifier: Apache-2.0
#include "core/config/setting_aliases.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/config/known_settings.h"

namespace bunraku::config {

std::string aliased_setting(const Settings& settings, std::string_view name) {
    // A setting that is missing from the list would be reported as unknown although it has effect.
    BUNRAKU_ASSERT(is_known_setting(name));
    std::string under(name), dashed(name);
    std::replace(under.begin(), under.end(), '-', '_');
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    auto text = settings.text(under);
    return text.empty() ? settings.text(dashed) : text;
}

}  // namespace bunraku::config
