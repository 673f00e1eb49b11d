// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/index.h"

#include "core/base/assert.h"

namespace bunraku::catalog {

Index::Index(const Catalog& catalog, const Naming* naming) {
    titles_.reserve(catalog.resources.size());
    for (std::uint32_t i = 0; i < catalog.resources.size(); ++i) {
        const Resource& r = catalog.resources[i];
        titles_.emplace(Key{r.ref.type, r.ref.title}, i);
        if (!naming) continue;
        for (std::string& alias : all_aliases(r, *naming)) {
            texts_.push_back(std::move(alias));
            aliases_.insert_or_assign(Key{r.ref.type, texts_.back()}, i);
        }
    }
    BUNRAKU_ASSERT(titles_.size() <= catalog.resources.size());
    BUNRAKU_ASSERT(aliases_.size() <= texts_.size() && (naming || texts_.empty()));
}

std::optional<std::uint32_t> Index::look(const Table& table, const Key& key) {
    auto found = table.find(key);
    if (found == table.end()) return std::nullopt;
    return found->second;
}

std::optional<std::uint32_t> Index::by_title(std::string_view type, std::string_view title) const {
    return look(titles_, {type, title});
}

std::optional<std::uint32_t> Index::resolve(std::string_view type, std::string_view title) const {
    if (auto found = look(titles_, {type, title})) return found;
    if (auto found = look(aliases_, {type, title})) return found;
    if (type == "File" && title.size() > 1 && title.back() == '/') {
        std::size_t last = title.find_last_not_of('/');
        BUNRAKU_ASSERT(last == std::string_view::npos || last + 1 < title.size());
        return resolve(type, last == std::string_view::npos ? "/" : title.substr(0, last + 1));
    }
    return std::nullopt;
}

}  // namespace bunraku::catalog
