// SPDX-License-Identifier: Apache-2.0
// The entities and fields of queries, and the names of facts, for the completion in the browser.
#include "store/query/schema.h"

#include <fmt/format.h>
#include <map>
#include <set>

#include "core/codec/json_text.h"
#include "services/console/pages/pages.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kMostFacts = 5000;

std::string_view type_name(query::FieldType type) {
    using query::FieldType;
    switch (type) {
        case FieldType::Bool: return "boolean";
        case FieldType::Number: return "number";
        case FieldType::Time: return "time";
        case FieldType::TextArray: return "list";
        case FieldType::FactValue: return "value";
        case FieldType::FactPath:
        case FieldType::EncodedPath: return "path";
        case FieldType::Json:
        case FieldType::JsonText:
        case FieldType::Facts:
        case FieldType::Parameters: return "data";
        case FieldType::Text:
        case FieldType::Hash: return "text";
    }
    return "text";
}

void append_entity(std::string& out, const query::Entity& entity) {
    // Sorted, so that the text is the same in every build.
    std::map<std::string_view, std::string_view> fields;
    for (const auto& field : entity.fields)
        if (field.query() || field.project()) fields.emplace(field.name, type_name(field.type));
    std::set<std::string_view> related;
    for (const auto& relation : entity.relations) related.insert(relation.entity);
    std::string_view comma;
    out += fmt::format("{}:{{\"fields\":[", codec::json_string(entity.name));
    for (const auto& [name, type] : fields) {
        out += fmt::format("{}[{},{}]", comma, codec::json_string(name), codec::json_string(type));
        comma = ",";
    }
    out += "],\"related\":[";
    comma = {};
    for (const auto name : related) {
        out += fmt::format("{}{}", comma, codec::json_string(name));
        comma = ",";
    }
    out += "]}";
}

}  // namespace

Result<Response> schema_json(Visit& visit) {
    std::string out = "{\"entities\":{";
    bool first = true;
    for (const auto* entity : query::all_entities()) {
        if (!first) out += ',';
        append_entity(out, *entity);
        first = false;
    }
    out += "},\"facts\":[";
    // Names of facts can reveal something about nodes that some viewers may not see.
    if (visit.viewer.sees_all()) {
        const auto names =
            BUNRAKU_TRY(visit.ask(R"(["from","fact_names",["limit",{}]])", kMostFacts));
        first = true;
        for (const auto& name : names) {
            if (!name.is_string()) continue;
            out += fmt::format("{}{}", first ? "" : ",", codec::json_string(name.as_string()));
            first = false;
        }
    }
    out += "]}";
    Response response;
    response.headers.set("Content-Type", "application/json");
    response.headers.set("Cache-Control", "private, max-age=300");
    response.body = std::move(out);
    return response;
}

}  // namespace bunraku::console
