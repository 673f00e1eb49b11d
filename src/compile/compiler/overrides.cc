// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/overrides.h"

namespace bunraku::compiler {

void Overrides::add(Resource& with) {
    auto ref = with.ref();
    const auto [it, fresh] = index_.emplace(ref, lists_.size());
    if (fresh) lists_.emplace_back(std::move(ref), std::vector<Resource*>());
    lists_[it->second].second.push_back(&with);
}

std::vector<Resource*> Overrides::take(const Resource& resource) {
    if (index_.empty()) return {};
    const auto it = index_.find(resource.ref());
    if (it == index_.end()) return {};
    return std::exchange(lists_[it->second].second, {});
}

std::vector<std::string> Overrides::waiting() const {
    std::vector<std::string> out;
    for (const auto& [ref, list] : lists_) out.insert(out.end(), list.size(), ref);
    return out;
}

}  // namespace bunraku::compiler
