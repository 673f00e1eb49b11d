// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "resources/catalog/agent_json.h"
#include "resources/catalog/document.h"
#include "resources/catalog/index.h"
#include "resources/catalog/restore.h"

namespace bunraku::catalog {

namespace {

const Value* present(const value::HashRep& object, std::string_view key) {
    const Value* v = object.find(key);
    return v && !v->is_undef() ? v : nullptr;
}

std::vector<std::string> read_strings(const value::HashRep& object, std::string_view key,
                                      const Path& at) {
    std::vector<std::string> out;
    const Value* v = present(object, key);
    if (!v) return out;
    Path here = at[key];
    auto items = expect_array(*v, here);
    out.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        out.emplace_back(expect_string(items[i], here[i]));
    }
    return out;
}

std::string read_text(const value::HashRep& object, std::string_view key, const Path& at) {
    const Value* v = present(object, key);
    return v ? std::string(expect_string(*v, at[key])) : std::string();
}

void read_resource(base::Arena& arena, const Value& data, const Path& at,
                   const value::TypedFactory& make_typed, Resource& out) {
    BUNRAKU_ASSERT(out.ref.type.empty() && out.parameters.empty());
    const value::HashRep& object = expect_object(data, at);
    const Value* type = present(object, "type");
    if (!type) at["type"].fail("No resource type provided in serialized data");
    const Value* title = present(object, "title");
    if (!title) at["title"].fail("No resource title provided in serialized data");
    out.ref.type = base::capitalized_segments(expect_string(*type, at["type"]));
    out.ref.title = expect_string(*title, at["title"]);
    if (out.ref.type == "Class" && out.ref.title != "main") {
        out.ref.title = base::capitalized_segments(out.ref.title);
    }
    out.tags = read_strings(object, "tags", at);
    out.file = read_text(object, "file", at);
    out.kind = read_text(object, "kind", at);
    if (const Value* line = present(object, "line")) {
        std::int64_t n = expect_integer(*line, at["line"]);
        if (n < 0 || n > 0x7fffffff) at["line"].fail("expected a line number");
        out.line = static_cast<int>(n);
    }
    if (const Value* v = present(object, "exported")) {
        out.exported = expect_boolean(*v, at["exported"]);
    }
    if (const Value* v = present(object, "virtual")) {
        out.virtual_ = expect_boolean(*v, at["virtual"]);
    }
    std::vector<std::string> sensitive = read_strings(object, "sensitive_parameters", at);
    const Value* parameters = present(object, "parameters");
    if (!parameters) return;
    Path inside = at["parameters"];
    for (const value::Entry& e : expect_object(*parameters, inside)) {
        std::string name(expect_string(e.key, inside));
        Value v = restore_value(arena, e.value, make_typed);
        if (v.is_undef()) continue;
        bool secret = std::find(sensitive.begin(), sensitive.end(), name) != sensitive.end();
        if (secret && !v.is(value::Kind::Sensitive)) v = value::make_sensitive(arena, v);
        BUNRAKU_ASSERT(!secret || v.is(value::Kind::Sensitive));
        out.parameters.push_back({std::move(name), v});
    }
}

std::uint32_t read_edge_end(const value::HashRep& edge, std::string_view key, const Index& index,
                            const Path& at) {
    Path here = at[key];
    std::string_view text = expect_string(expect_key(edge, key, at), here), type, title;
    if (!split_reference(text, &type, &title)) {
        here.fail(fmt::format("'{}' is not a valid resource reference", text));
    }
    auto found = index.by_title(type, title);
    if (!found && type == "Class") found = index.by_title(type, base::capitalized_segments(title));
    if (!found) {
        here.fail(fmt::format("Could not find relationship {} \"{}\"", key, text));
    }
    return *found;
}

Catalog read(const std::shared_ptr<base::Arena>& arena, const Value& document,
             const value::TypedFactory& make_typed) {
    Path root;
    const value::HashRep* object = &expect_object(document, root);
    for (std::string_view wrapper : {"catalog", "data"}) {
        const Value* inner = object->find(wrapper);
        if (inner && inner->is_hash() && !object->find("resources")) object = &inner->as_hash();
    }
    Catalog out;
    out.arena = arena;
    out.name = expect_string(expect_key(*object, "name", root), root["name"]);
    out.tags = read_strings(*object, "tags", root);
    out.classes = read_strings(*object, "classes", root);
    out.environment = read_text(*object, "environment", root);
    out.code_id = read_text(*object, "code_id", root);
    out.catalog_uuid = read_text(*object, "catalog_uuid", root);
    out.version_is_number = false;
    if (const Value* version = present(*object, "version")) {
        out.version_is_number = version->is_integer();
        out.version = version->is_integer() ? std::to_string(version->as_integer())
                                            : expect_string(*version, root["version"]);
    }
    out.catalog_format = 0;
    if (const Value* format = present(*object, "catalog_format")) {
        std::int64_t n = expect_integer(*format, root["catalog_format"]);
        if (n < 0 || n > 1000) root["catalog_format"].fail("unknown catalog format");
        out.catalog_format = static_cast<int>(n);
    }
    if (const Value* resources = present(*object, "resources")) {
        Path inside = root["resources"];
        auto items = expect_array(*resources, inside);
        out.resources.resize(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            read_resource(*arena, items[i], inside[i], make_typed, out.resources[i]);
        }
        BUNRAKU_ASSERT(out.resources.size() == items.size());
    }
    if (const Value* edges = present(*object, "edges")) {
        Index index(out);
        Path inside = root["edges"];
        auto items = expect_array(*edges, inside);
        out.edges.reserve(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            Path at = inside[i];
            const value::HashRep& edge = expect_object(items[i], at);
            out.edges.push_back({read_edge_end(edge, "source", index, at),
                                 read_edge_end(edge, "target", index, at)});
            BUNRAKU_ASSERT(out.edges.back().source < out.resources.size() &&
                           out.edges.back().target < out.resources.size());
        }
    }
    return out;
}

}  // namespace

base::Result<Catalog> read_agent_json(std::string_view text,
                                      const value::TypedFactory& make_typed) {
    auto arena = std::make_shared<base::Arena>();
    const Value document = BUNRAKU_TRY(parse_document(*arena, text));
    return read_agent_json(arena, document, make_typed);
}

base::Result<Catalog> read_agent_json(const std::shared_ptr<base::Arena>& arena,
                                      const Value& document,
                                      const value::TypedFactory& make_typed) {
    BUNRAKU_ASSERT(arena != nullptr);
    try {
        return read(arena, document, make_typed);
    } catch (const DocumentError& e) {
        return base::failure("Could not intern from json: " + e.message);
    } catch (const base::PuppetError& e) {
        return base::failure("Could not intern from json: " + e.message());
    }
}

}  // namespace bunraku::catalog
