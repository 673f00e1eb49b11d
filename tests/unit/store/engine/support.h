// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of the store: a temporary folder, and catalogs in short form.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>
#include <string_view>

#include "core/value/build.h"
#include "resources/catalog/agent_json.h"
#include "resources/catalog/json_text.h"
#include "store/engine/store.h"

namespace bunraku::store {

class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "bunraku-store-XXXXXX");
        path_ = mkdtemp(name.data());
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Returns a catalog of `name` with these resources (JSON objects, separated by commas).
inline catalog::Catalog catalog_of(std::string_view name, std::string_view resources,
                                   std::string_view rest = "") {
    std::string json = "{\"name\":\"" + std::string(name) +
                       "\",\"version\":1,\"environment\":\"production\",\"resources\":[" +
                       std::string(resources) + "]" + std::string(rest) + "}";
    auto out = catalog::read_agent_json(json);
    EXPECT_TRUE(out) << out.error().message;
    return out ? std::move(*out) : catalog::Catalog{};
}

inline std::unique_ptr<Store> open_store(const std::string& path, StoreOptions options = {}) {
    auto store = Store::open(path, options);
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
}

/// Returns the titles with their exporters: "a:x b:y".
inline std::string found(Store& store, std::string_view type,
                         const catalog::CollectorQuery* query = nullptr,
                         std::string_view except = "") {
    base::Arena arena;
    auto got = store.find_exported(type, query, except, arena);
    if (!got) return "error: " + got.error().message;
    std::string out;
    for (const auto& r : *got) {
        if (!out.empty()) out += ' ';
        out += r.certname + ":" + r.resource.ref.title;
    }
    return out;
}

}  // namespace bunraku::store
