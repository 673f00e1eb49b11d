// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of catalogs: catalogs from JSON, a reference value, names of types.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "core/value/build.h"
#include "resources/catalog/agent_json.h"
#include "resources/catalog/naming.h"

namespace bunraku::catalog {

/// The namevars of Puppet's own types, for the few types that the tests use.
class TestNaming : public Naming {
public:
    TypeNaming of(std::string_view type) const override {
        if (type == "File") return {.namevar = "path", .composite = false, .isomorphic = true};
        if (type == "Exec") return {.namevar = "command", .composite = false, .isomorphic = false};
        if (type == "Package") return {.namevar = "name", .composite = true, .isomorphic = true};
        return {};
    }
    std::vector<std::pair<std::string_view, std::string>> parse_title(
        std::string_view type, std::string_view title) const override {
        std::string text(title);
        while (type == "File" && text.size() > 1 && text.back() == '/') text.pop_back();
        return {{of(type).namevar, text}};
    }
};

inline const TestNaming kNaming;

/// Replaces a resource reference of the type system, which belongs to a higher layer.
class FakeReference : public value::Extension {
public:
    FakeReference(std::string_view type, std::string_view title) : type_(type), title_(title) {}
    bool equal(const value::Extension& other) const override { return this == &other; }
    std::uint64_t hash() const override { return 1; }
    void print(std::string& out) const override { out += "a reference"; }
    Value to_rich_data(base::Arena& arena) const override {
        value::HashBuilder hash(arena);
        hash.set("__ptype", Value::string("Pcore::ResourceType"));
        hash.set("type_name", Value::string(type_));
        hash.set("title", Value::string(title_));
        return hash.build();
    }
    Value value() const {
        return Value::type(
            reinterpret_cast<const types::Type*>(static_cast<const value::Extension*>(this)));
    }

private:
    std::string_view type_, title_;
};

inline Catalog catalog_of(std::string_view json) {
    auto out = read_agent_json(json);
    EXPECT_TRUE(out) << out.error().message;
    return out ? std::move(*out) : Catalog{};
}

}  // namespace bunraku::catalog
