// SPDX-License-Identifier: Apache-2.0
#include "core/config/setting_lists.h"

#include "core/base/text.h"

namespace bunraku::config {

std::vector<std::string> split_path(std::string_view text) {
    std::vector<std::string> out;
    for (const auto part : base::split(text, ':'))
        if (!part.empty()) out.emplace_back(part);
    return out;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> out;
    for (const auto part : base::split(text, ','))
        if (const auto item = base::trim(part, " "); !item.empty()) out.emplace_back(item);
    return out;
}

}  // namespace bunraku::config
