// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/catalog_graph.h"

#include <fmt/format.h>

#include "core/value/build.h"
#include "core/value/text.h"

namespace bunraku::catalog {

using value::Value;

namespace {

std::string text_at(const Value& hash, std::string_view key) {
    const Value* v = hash.is_hash() ? hash.as_hash().find(key) : nullptr;
    return v ? value::to_text(*v) : std::string();
}

std::string escaped(const std::string& text) {
    std::string out;
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

std::string dot_graph(const Value& catalog) {
    std::string out =
        "digraph Puppet__Resource__Catalog {\n    label = \"Puppet__Resource__Catalog\"\n";
    const Value* resources = catalog.is_hash() ? catalog.as_hash().find("resources") : nullptr;
    if (resources && resources->is_array()) {
        for (const Value& r : resources->as_array()) {
            const std::string ref =
                escaped(fmt::format("{}[{}]", text_at(r, "type"), text_at(r, "title")));
            out += fmt::format(
                "    \"{0}\" [\n        fontsize = 8,\n        label = \"{0}\"\n"
                "    ]\n\n",
                ref);
        }
    }
    const Value* edges = catalog.is_hash() ? catalog.as_hash().find("edges") : nullptr;
    if (edges && edges->is_array()) {
        for (const Value& e : edges->as_array()) {
            out += fmt::format("    \"{}\" -> \"{}\" [\n        fontsize = 8\n    ]\n\n",
                               escaped(text_at(e, "source")), escaped(text_at(e, "target")));
        }
    }
    return out + "}\n";
}

}  // namespace bunraku::catalog
