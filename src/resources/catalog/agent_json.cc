// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/agent_json.h"

#include <charconv>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "resources/catalog/parameters.h"

namespace bunraku::catalog {

namespace {

void append_number(std::string& out, long n) {
    BUNRAKU_ASSERT(n >= 0);
    char buffer[24];
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, n).ptr);
}

void append_resource(std::string& out, const Resource& r, const Naming& naming) {
    out += "{\"type\":";
    codec::append_json_string(out, r.ref.type);
    out += ",\"title\":";
    codec::append_json_string(out, r.ref.title);
    out += ",\"tags\":";
    codec::append_json_strings(out, r.tags);
    // Resources from code that was passed as a text have a line but no file. Puppet writes an empty
    // file name for them.
    if (!r.file.empty() || r.line > 0) {
        out += ",\"file\":";
        codec::append_json_string(out, r.file);
    }
    if (r.line > 0) {
        out += ",\"line\":";
        append_number(out, r.line);
    }
    out += r.exported ? ",\"exported\":true" : ",\"exported\":false";
    if (!r.kind.empty()) {
        out += ",\"kind\":";
        codec::append_json_string(out, r.kind);
    }
    if (r.virtual_) out += ",\"virtual\":true";
    bool any = false;
    for (const ShownParameter& p : shown_parameters(r, naming)) {
        out += any ? "," : ",\"parameters\":{";
        any = true;
        codec::append_json_string(out, p.name);
        out += ':';
        if (p.value) {
            append_json_parameter(out, p.name, *p.value, ValueForm::Rich);
        } else {
            codec::append_json_string(out, p.text);
        }
    }
    if (any) out += '}';
    any = false;
    for (const Parameter& p : r.parameters) {
        if (!p.value.is(value::Kind::Sensitive)) continue;
        out += any ? "," : ",\"sensitive_parameters\":[";
        any = true;
        codec::append_json_string(out, p.name);
    }
    if (any) out += ']';
    out += '}';
}

void append_reference(std::string& out, const Ref& ref) {
    std::string text;
    text.reserve(ref.type.size() + ref.title.size() + 2);
    text += ref.type;
    text += '[';
    text += ref.title;
    text += ']';
    codec::append_json_string(out, text);
}

bool is_number(std::string_view text) {
    if (text.empty() || text.size() > 18 || (text[0] == '0' && text.size() > 1)) return false;
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

void write_agent_json(std::string& out, const Catalog& catalog, const AgentJsonOptions& options) {
    const Naming& naming = options.naming ? *options.naming : plain_naming();
    auto shown = [&](const Resource& r) { return !r.virtual_ || options.keep_virtual; };
    out.reserve(out.size() + 256 + catalog.resources.size() * 400);
    out += "{\"tags\":";
    codec::append_json_strings(out, catalog.tags);
    out += ",\"name\":";
    codec::append_json_string(out, catalog.name);
    out += ",\"version\":";
    if (catalog.version_is_number && is_number(catalog.version)) {
        out += catalog.version;
    } else {
        codec::append_json_string(out, catalog.version);
    }
    out += ",\"code_id\":";
    if (catalog.code_id.empty()) {
        out += "null";
    } else {
        codec::append_json_string(out, catalog.code_id);
    }
    out += ",\"catalog_uuid\":";
    if (catalog.catalog_uuid.empty()) {
        out += "null";
    } else {
        codec::append_json_string(out, catalog.catalog_uuid);
    }
    out += ",\"catalog_format\":";
    append_number(out, catalog.catalog_format);
    out += ",\"environment\":";
    codec::append_json_string(out, catalog.environment);
    out += ",\"resources\":[";
    bool first = true;
    for (const Resource& r : catalog.resources) {
        if (!shown(r)) continue;
        if (!first) out += ',';
        first = false;
        append_resource(out, r, naming);
    }
    out += "],\"edges\":[";
    first = true;
    for (const Edge& e : catalog.edges) {
        if (e.source >= catalog.resources.size() || e.target >= catalog.resources.size()) continue;
        const Resource& source = catalog.resources[e.source];
        const Resource& target = catalog.resources[e.target];
        if (!shown(source) || !shown(target)) continue;
        BUNRAKU_ASSERT(options.keep_virtual || (!source.virtual_ && !target.virtual_));
        out += first ? "{\"source\":" : ",{\"source\":";
        first = false;
        append_reference(out, source.ref);
        out += ",\"target\":";
        append_reference(out, target.ref);
        out += '}';
    }
    out += "],\"classes\":";
    codec::append_json_strings(out, catalog.classes);
    out += '}';
}

}  // namespace bunraku::catalog
