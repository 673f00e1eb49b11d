// SPDX-License-Identifier: Apache-2.0
// Formats the documentation as the JSON of puppet-strings.
#include <algorithm>

#include "compile/reference/documents.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"

namespace bunraku::reference {

namespace {

using Kind = DocItem::Kind;
using value::Value;

class DocJson {
public:
    DocJson(base::Arena& arena, const std::vector<DocItem>& items) : arena_(arena), items_(items) {}

    Value item(const DocItem& i) {
        value::HashBuilder out(arena_, 12);
        out.set("name", text(i.name));
        if (i.kind == Kind::Provider) out.set("type_name", text(i.type_name));
        out.set("file", text(i.file));
        out.set("line", Value::integer(i.line));
        if (!i.inherits.empty()) out.set("inherits", text(i.inherits));
        if (i.kind == Kind::Function) {
            out.set("type", text(i.function_type));
            out.set("signatures", signatures(i));
        }
        const bool part = i.kind == Kind::DataType;
        out.set("docstring", docstring(i.doc, part, i.signatures.size() > 1 ? &i : nullptr,
                                       i.kind == Kind::Task));
        if (i.kind == Kind::Alias) out.set("alias_of", text(i.alias_of));
        if (!i.defaults.empty()) out.set("defaults", hash(i.defaults, i.kind == Kind::DataType));
        if (i.kind == Kind::Type) type(out, i);
        if (i.kind == Kind::Provider) provider(out, i);
        if (!i.source.empty()) out.set("source", text(i.source));
        if (i.kind == Kind::DataType) out.set("functions", methods(i));
        if (i.kind == Kind::Task) {
            out.set("supports_noop", Value::boolean(i.supports_noop));
            out.set("input_method", i.input_method.empty() ? Value() : text(i.input_method));
        }
        return out.build();
    }

private:
    Value text(std::string_view t) { return value::make_string(arena_, t); }

    Value texts(const std::vector<std::string>& all) {
        std::vector<Value> out;
        for (const auto& one : all) out.push_back(text(one));
        return value::make_array(arena_, out);
    }

    Value hash(const std::vector<std::pair<std::string, std::string>>& all,
               bool values_typed = false) {
        value::HashBuilder out(arena_, all.size());
        for (const auto& [key, one] : all)
            out.set(text(key), values_typed ? typed(one) : text(one));
        return out.build();
    }

    /// Returns a number or a boolean as such, and any other text as a string.
    Value typed(const std::string& written) {
        const auto value = value::parse_json(arena_, written);
        return value ? *value : text(written);
    }

    Value tag(const DocTag& t, bool name_first) {
        value::HashBuilder out(arena_, 6);
        if (name_first) out.set("name", text(t.name.value_or("")));
        out.set("tag_name", text(t.tag));
        if (t.choice) {
            out.set("opt_name", text(t.choice->name));
            out.set("opt_text", t.choice->text ? text(*t.choice->text) : Value());
            if (t.choice->types) out.set("opt_types", texts(*t.choice->types));
            out.set("parent", t.name ? text(*t.name) : Value());
        }
        if (t.text) out.set("text", text(*t.text));
        if (t.types) out.set("types", texts(*t.types));
        if (t.name && !name_first) out.set("name", text(*t.name));
        return out.build();
    }

    static bool concerns_calls(const DocTag& t) {
        return t.tag == "param" || t.tag == "option" || t.tag == "enum" || t.tag == "return" ||
               t.tag == "example";
    }

    /// `calls` leaves out tags that do not concern calls. Each signature of `overloads`, a function
    /// with several signatures, becomes a tag.
    Value docstring(const DocText& doc, bool calls, const DocItem* overloads = nullptr,
                    bool task = false) {
        value::HashBuilder out(arena_, 2);
        out.set("text", text(doc.text));
        std::vector<Value> tags;
        for (const auto& t : doc.tags) {
            if (calls && !concerns_calls(t)) continue;
            if (t.tag == "api" && t.text == "public") continue;
            tags.push_back(tag(t, task));
        }
        if (overloads) {
            for (const auto& s : overloads->signatures) {
                value::HashBuilder one(arena_, 4);
                one.set("tag_name", Value::string("overload"));
                one.set("signature", text(s.text));
                one.set("docstring", docstring(s.doc, false));
                one.set("name", text(overloads->name));
                tags.push_back(one.build());
            }
        }
        // In the order of YARD.
        std::ranges::stable_sort(
            tags, {}, [](const Value& t) { return t.as_hash().find("tag_name")->as_string(); });
        if (!tags.empty() || task) out.set("tags", value::make_array(arena_, tags));
        return out.build();
    }

    Value signatures(const DocItem& i) {
        std::vector<Value> out;
        for (const auto& s : i.signatures) {
            value::HashBuilder one(arena_, 2);
            one.set("signature", text(s.text));
            one.set("docstring", docstring(s.doc, true));
            out.push_back(one.build());
        }
        return value::make_array(arena_, out);
    }

    Value methods(const DocItem& i) {
        std::vector<Value> out;
        for (std::size_t n = 0; n < i.methods.size(); ++n) {
            value::HashBuilder one(arena_, 3);
            one.set("name", text(i.method_names[n]));
            one.set("signature", text(i.methods[n].text));
            one.set("docstring", docstring(i.methods[n].doc, true));
            out.push_back(one.build());
        }
        return value::make_array(arena_, out);
    }

    Value attributes(std::vector<DocAttribute> all) {
        std::ranges::stable_sort(all, {}, &DocAttribute::name);
        std::vector<Value> out;
        for (const auto& a : all) {
            value::HashBuilder one(arena_, 8);
            one.set("name", text(a.name));
            if (!a.doc.empty()) one.set("description", text(a.doc));
            if (!a.values.empty()) one.set("values", texts(a.values));
            if (!a.data_type.empty()) one.set("data_type", text(a.data_type));
            if (!a.aliases.empty()) one.set("aliases", hash(a.aliases));
            if (a.namevar) one.set("isnamevar", Value::boolean(true));
            if (!a.features.empty()) one.set("required_features", text(a.features));
            if (a.has_default)
                one.set("default",
                        a.typed_default ? typed(a.default_value) : text(a.default_value));
            out.push_back(one.build());
        }
        return value::make_array(arena_, out);
    }

    void type(value::HashBuilder& out, const DocItem& i) {
        if (!i.properties.empty()) out.set("properties", attributes(i.properties));
        if (!i.parameters.empty()) out.set("parameters", attributes(i.parameters));
        if (!i.checks.empty()) out.set("checks", attributes(i.checks));
        if (!i.features.empty()) out.set("features", features(i));
        std::vector<Value> providers;
        for (const auto& p : items_)
            if (p.kind == Kind::Provider && p.type_name == i.name) providers.push_back(item(p));
        if (!providers.empty()) out.set("providers", value::make_array(arena_, providers));
    }

    Value features(const DocItem& i) {
        std::vector<Value> features;
        for (const auto& [name, tag_text] : i.features) {
            value::HashBuilder one(arena_, 2);
            one.set("name", text(name));
            if (!tag_text.empty()) one.set("description", text(tag_text));
            features.push_back(one.build());
        }
        return value::make_array(arena_, features);
    }

    void provider(value::HashBuilder& out, const DocItem& i) {
        if (!i.confines.empty()) out.set("confines", hash(i.confines));
        if (!i.provider_features.empty()) out.set("features", texts(i.provider_features));
        if (!i.provider_defaults.empty()) {
            std::vector<Value> all;
            for (const auto& one : i.provider_defaults) {
                std::vector<Value> pairs;
                for (const auto& [key, tag_text] : one)
                    pairs.push_back(value::make_array(arena_, {text(key), text(tag_text)}));
                all.push_back(value::make_array(arena_, pairs));
            }
            out.set("defaults", value::make_array(arena_, all));
        }
        if (!i.commands.empty()) out.set("commands", hash(i.commands));
    }

    base::Arena& arena_;
    const std::vector<DocItem>& items_;
};

}  // namespace

value::Value reference_json(base::Arena& arena, const std::vector<DocItem>& items) {
    constexpr std::pair<std::string_view, Kind> kLists[] = {
        {"puppet_classes", Kind::Class},      {"data_types", Kind::DataType},
        {"data_type_aliases", Kind::Alias},   {"defined_types", Kind::Define},
        {"resource_types", Kind::Type},       {"providers", Kind::Provider},
        {"puppet_functions", Kind::Function}, {"puppet_tasks", Kind::Task},
        {"puppet_plans", Kind::Plan},
    };
    DocJson json(arena, items);
    value::HashBuilder out(arena, 9);
    for (const auto& [name, kind] : kLists) {
        std::vector<Value> list;
        for (const auto& i : items)
            if (i.kind == kind) list.push_back(json.item(i));
        out.set(name, value::make_array(arena, list));
    }
    // puppet-strings has no facts.
    std::vector<Value> facts;
    for (const auto& i : items)
        if (i.kind == Kind::Fact) facts.push_back(json.item(i));
    if (!facts.empty()) out.set("facts", value::make_array(arena, facts));
    return out.build();
}

}  // namespace bunraku::reference
