// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/blocked.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

Blocked::Blocked(std::vector<std::string> names, base::LogSink* log) : names_(std::move(names)) {
    for (const std::string& name : names_) {
        if (name.find_first_of("\\*+?[](){}|^$") == std::string::npos) {
            plain_.push_back(name);
            continue;
        }
        const auto whole = regex::Regex::cached(fmt::format("^{0}\\..*|^{0}$", name));
        const auto start = regex::Regex::cached("^" + name);
        BUNRAKU_ASSERT(plain_.size() + patterns_.size() < names_.size());
        if (whole && start) {
            patterns_.push_back({*whole, *start});
        } else {
            log_record(log, base::Level::Warning, "Facter",
                       fmt::format("blocklist: invalid regular expression '{}': {}", name,
                                   (whole ? start : whole).error().message));
            plain_.push_back(name);
        }
    }
}

bool Blocked::has(std::string_view name) const {
    return std::ranges::any_of(plain_,
                               [&](const std::string& outer) {
                                   return name == outer ||
                                          (name.size() > outer.size() && name.starts_with(outer) &&
                                           name[outer.size()] == '.');
                               }) ||
           std::ranges::any_of(patterns_, [&](const Pattern& p) { return p.whole->matches(name); });
}

bool Blocked::begins(std::string_view name) const {
    return std::ranges::any_of(plain_, [&](const std::string& b) { return name.starts_with(b); }) ||
           std::ranges::any_of(patterns_, [&](const Pattern& p) { return p.start->matches(name); });
}

}  // namespace bunraku::facts
