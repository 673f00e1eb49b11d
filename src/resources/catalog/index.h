// SPDX-License-Identifier: Apache-2.0
// Finds the resources of a catalog by type and title, and by alias.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "resources/catalog/naming.h"

namespace bunraku::catalog {

/// An index of a catalog. The catalog must stay alive and unchanged.
class Index {
public:
    /// Without `naming`, the index only contains titles.
    explicit Index(const Catalog& catalog, const Naming* naming = nullptr);

    std::optional<std::uint32_t> by_title(std::string_view type, std::string_view title) const;
    /// Returns the position of the resource with this title or, failing that, this alias. Ignores
    /// trailing slashes in titles of files.
    std::optional<std::uint32_t> resolve(std::string_view type, std::string_view title) const;

private:
    struct Key {
        std::string_view type, title;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& k) const noexcept {
            std::size_t a = std::hash<std::string_view>{}(k.title);
            return a * 31 + std::hash<std::string_view>{}(k.type);
        }
    };
    using Table = std::unordered_map<Key, std::uint32_t, Hash>;
    static std::optional<std::uint32_t> look(const Table& table, const Key& key);

    Table titles_, aliases_;
    std::deque<std::string> texts_;
};

}  // namespace bunraku::catalog
