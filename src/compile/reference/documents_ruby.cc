// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/documents_ruby.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/sys/process.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/ruby/documents.h"
#include "language/syntax/parser.h"

namespace bunraku::reference {

namespace {

using value::at;
using value::Value;
using Kind = DocItem::Kind;

bool is_true(const Value& hash, std::string_view key) {
    const Value* v = at(hash, key);
    return v && v->kind() == value::Kind::Boolean && v->as_boolean();
}

std::span<const Value> list_at(const Value& hash, std::string_view key) {
    const Value* v = at(hash, key);
    return v && v->is_array() ? v->as_array() : std::span<const Value>();
}

std::string shown(const Value& v) {
    return v.is_string() ? std::string(v.as_string()) : v.is_undef() ? "" : value::to_json(v);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

DocTag simple_tag(std::string tag, std::optional<std::string> name, std::string type) {
    return {.tag = std::move(tag),
            .name = std::move(name),
            .text = "",
            .types = std::vector<std::string>{std::move(type)},
            .choice = {}};
}

/// Combines the types of a dispatch with the descriptions of the same parameters in its comment.
DocSignature signature_of(const std::string& name, const Value& dispatch, Pairs& parameters) {
    DocSignature out;
    out.doc = parse_doc(value::text_at(dispatch, "comment"));
    const std::string returns = value::text_at(dispatch, "returns");
    bool returned = false;
    const auto add_return = [&] {
        if (std::exchange(returned, true)) return;
        auto* tag = out.doc.find("return");
        if (!tag) {
            out.doc.tags.push_back(simple_tag("return", {}, returns.empty() ? "Any" : returns));
        } else if (!returns.empty()) {
            tag->types = std::vector<std::string>{returns};
        } else if (!tag->types) {
            tag->types = std::vector<std::string>{"Any"};
        }
    };
    for (const Value& p : list_at(dispatch, "parameters")) {
        const std::string mark = value::text_at(p, "mark"), plain = value::text_at(p, "name");
        if (mark == "&" && !returns.empty()) add_return();
        auto tag = std::ranges::find_if(
            out.doc.tags, [&](const DocTag& t) { return t.tag == "param" && t.name == plain; });
        std::string type = value::text_at(p, "type");
        if (type.empty()) {
            const bool tag_text = tag != out.doc.tags.end() && tag->types && !tag->types->empty();
            type = tag_text ? tag->types->front() : "Any";
        }
        if (is_true(p, "optional")) type = "Optional[" + type + "]";
        std::string default_text = value::text_at(p, "default");
        if (default_text == "nil") default_text = "undef";
        if (default_text == ":default") default_text = "default";
        parameters.emplace_back(mark + plain, default_text);
        if (tag == out.doc.tags.end()) {
            out.doc.tags.push_back(simple_tag("param", mark + plain, type));
        } else {
            tag->name = mark + plain;
            tag->types = std::vector<std::string>{type};
        }
    }
    add_return();
    out.text = signature_text(name, parameters, out.doc);
    return out;
}

void read_function(DocItem& item, const Value& data) {
    item.kind = Kind::Function;
    item.source = without_indent(item.source);
    const Value* api = at(data, "api");
    const bool older = api && api->is_integer() && api->as_integer() == 3;
    item.function_type = older ? "ruby3x" : "ruby4x";
    if (older) {
        if (const auto* doc = at(data, "doc"); doc && doc->is_string())
            item.doc = parse_doc(scrubbed(doc->as_string()));
        Pairs parameters;
        for (auto& tag : item.doc.tags) {
            if (tag.tag != "param") continue;
            if (!tag.types || tag.types->empty()) tag.types = std::vector<std::string>{"Any"};
            parameters.emplace_back(tag.name.value_or(""), "");
        }
        if (auto* tag = item.doc.find("return")) {
            if (!tag->types) tag->types = std::vector<std::string>{"Any"};
        } else {
            item.doc.tags.push_back(simple_tag("return", {}, "Any"));
        }
        item.signatures.push_back({signature_text(item.name, parameters, item.doc), item.doc});
        return;
    }
    for (const char* tag : {"param", "return", "overload"}) item.doc.remove(tag);
    const auto dispatches = list_at(data, "dispatches");
    for (const Value& dispatch : dispatches) {
        Pairs parameters;
        item.signatures.push_back(signature_of(item.name, dispatch, parameters));
        if (dispatches.size() > 1) continue;
        for (const auto& [name, text] : parameters)
            if (!text.empty()) item.defaults.emplace_back(name, text);
        // If there is only one signature, its tags belong to the function.
        auto& only = item.signatures.front();
        item.doc.tags.insert(item.doc.tags.end(), only.doc.tags.begin(), only.doc.tags.end());
        only.doc = item.doc;
        only.text = signature_text(item.name, parameters, item.doc);
    }
    if (dispatches.empty()) item.signatures.push_back({item.name + "()", item.doc});
}

Pairs pairs_at(const Value& data, std::string_view key) {
    Pairs out;
    if (const Value* hash = at(data, key); hash && hash->is_hash())
        for (const auto& e : hash->as_hash()) out.emplace_back(shown(e.key), shown(e.value));
    return out;
}

DocAttribute attribute_of(const Value& data, bool ensure_has_text) {
    DocAttribute out;
    out.name = value::text_at(data, "name");
    out.doc = is_true(data, "plain") ? value::text_at(data, "doc")
                                     : scrubbed(value::text_at(data, "doc"));
    if (out.doc.empty() && ensure_has_text)
        out.doc = "The basic property that the resource should be in.";
    out.data_type = value::text_at(data, "data_type");
    out.features = value::text_at(data, "features");
    out.namevar = is_true(data, "namevar");
    if (const auto* d = at(data, "default"); d && !d->is_undef()) {
        out.has_default = true;
        out.default_value = shown(*d);
        out.typed_default = !d->is_string();
    }
    for (const Value& v : list_at(data, "values")) out.values.push_back(shown(v));
    out.aliases = pairs_at(data, "aliases");
    return out;
}

void read_attributes(DocItem& item, const Value& data) {
    const auto read = [&](const char* key, std::vector<DocAttribute>& into, bool property) {
        for (const Value& a : list_at(data, key))
            into.push_back(attribute_of(a, property && value::text_at(a, "name") == "ensure"));
    };
    read("properties", item.properties, true);
    read("parameters", item.parameters, false);
    read("checks", item.checks, false);
}

/// Makes `name` the name variable, unless an attribute is declared as one.
void set_namevar(DocItem& item) {
    DocAttribute* name = nullptr;
    for (auto* list : {&item.properties, &item.parameters}) {
        for (auto& a : *list) {
            if (a.namevar) return;
            if (a.name == "name" && (!name || list == &item.properties)) name = &a;
        }
    }
    if (name) name->namevar = true;
}

void read_type(DocItem& item, const Value& data) {
    item.kind = Kind::Type;
    item.source.clear();
    if (const auto* doc = at(data, "doc"); doc && doc->is_string())
        item.doc = parse_doc(scrubbed(doc->as_string()));
    read_attributes(item, data);
    for (const Value& f : list_at(data, "features")) {
        std::string text = scrubbed(value::text_at(f, "doc"));
        std::ranges::replace(text, '\n', ' ');
        item.features.emplace_back(value::text_at(f, "name"), std::move(text));
    }
    if (!is_true(data, "resource_api")) set_namevar(item);
}

void read_provider(DocItem& item, const Value& data) {
    item.kind = Kind::Provider;
    item.source.clear();
    item.type_name = value::text_at(data, "type");
    if (const auto* doc = at(data, "doc"); doc && doc->is_string())
        item.doc = parse_doc(scrubbed(doc->as_string()));
    item.confines = pairs_at(data, "confines");
    item.commands = pairs_at(data, "commands");
    for (const Value& f : list_at(data, "features")) item.provider_features.push_back(shown(f));
    for (const Value& one : list_at(data, "defaults")) {
        auto& into = item.provider_defaults.emplace_back();
        if (!one.is_array()) continue;
        for (const Value& pair : one.as_array())
            if (pair.is_array() && pair.as_array().size() == 2)
                into.emplace_back(shown(pair.as_array()[0]), shown(pair.as_array()[1]));
    }
}

std::string text_of(const syntax::Node* node) {
    if (const auto* s = syntax::as<syntax::LiteralString>(node)) return std::string(s->value);
    return node ? std::string(node->text()) : std::string();
}

const syntax::Node* entry(const syntax::Node* hash, std::string_view key) {
    if (const auto* h = syntax::as<syntax::LiteralHash>(hash))
        for (const auto* e : h->entries)
            if (const auto* k = syntax::as<syntax::KeyedEntry>(e); k && text_of(k->key) == key)
                return k->value;
    return nullptr;
}

/// Reads the attributes of a data type from its interface, and their descriptions from its tags.
void read_interface(DocItem& item, const syntax::Node* interface) {
    std::vector<std::string> names;
    if (const auto* attributes = syntax::as<syntax::LiteralHash>(entry(interface, "attributes"))) {
        for (const auto* e : attributes->entries) {
            const auto* k = syntax::as<syntax::KeyedEntry>(e);
            if (!k) continue;
            const std::string name = text_of(k->key);
            names.push_back(name);
            const bool hash = k->value->kind == syntax::NodeKind::LiteralHash;
            const auto* type = hash ? entry(k->value, "type") : k->value;
            if (const auto* d = hash ? entry(k->value, "value") : nullptr;
                d && d->kind != syntax::NodeKind::LiteralUndef)
                item.defaults.emplace_back(name, text_of(d));
            auto tag = std::ranges::find_if(
                item.doc.tags, [&](const DocTag& t) { return t.tag == "param" && t.name == name; });
            const std::string type_name = type ? text_of(type) : "Any";
            if (tag == item.doc.tags.end())
                item.doc.tags.push_back(simple_tag("param", name, type_name));
            else
                tag->types = std::vector<std::string>{type_name};
        }
    }
    std::erase_if(item.doc.tags, [&](const DocTag& t) {
        return t.tag == "param" && std::ranges::find(names, t.name.value_or("")) == names.end();
    });
    const auto* functions = syntax::as<syntax::LiteralHash>(entry(interface, "functions"));
    if (!functions) return;
    for (const auto* e : functions->entries) {
        const auto* k = syntax::as<syntax::KeyedEntry>(e);
        const auto* callable = k ? syntax::as<syntax::AccessExpression>(k->value) : nullptr;
        if (!k) continue;
        DocSignature method;
        std::vector<std::string> parameters;
        std::string returns;
        if (callable) {
            syntax::NodeList types = callable->keys;
            if (!types.empty() && types[0]->kind == syntax::NodeKind::LiteralList) {
                if (types.size() > 1) returns = types[1]->text();
                types = syntax::to<syntax::LiteralList>(types[0]).values;
            }
            for (const auto* t : types) parameters.emplace_back(t->text());
        }
        method.doc.tags.push_back(simple_tag("return", {}, returns));
        std::string list;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const std::string name = fmt::format("param{}", i + 1);
            method.doc.tags.push_back(simple_tag("param", name, parameters[i]));
            list += (i == 0 ? "" : ", ") + name;
        }
        item.method_names.push_back(text_of(k->key));
        method.text = fmt::format("{}.{}", item.name, item.method_names.back());
        if (!list.empty()) method.text += "(" + list + ")";
        item.methods.push_back(std::move(method));
    }
}

void read_data_type(DocItem& item, const Value& data, base::LogSink& log) {
    item.kind = Kind::DataType;
    item.source.clear();
    const std::string text = value::text_at(data, "interface");
    if (text.empty()) return;
    try {
        const auto tree = syntax::parse(item.file, "{ " + text + " }");
        const auto* body = tree->program->body;
        if (const auto* block = syntax::as<syntax::BlockExpression>(body))
            body = block->statements.empty() ? nullptr : block->statements.back();
        read_interface(item, body);
    } catch (const base::PuppetError& e) {
        log.log(base::Level::Warning, fmt::format("Invalid datatype definition at {}:{}: {}",
                                                  item.file, item.line, e.message()));
    }
}

/// Adds to a type the attributes that other files define, and its `provider` parameter.
void complete_types(std::vector<DocItem>& items, std::vector<DocItem>& parts) {
    for (auto& part : parts) {
        auto type = std::ranges::find_if(
            items, [&](const DocItem& i) { return i.kind == Kind::Type && i.name == part.name; });
        if (type == items.end()) {
            set_namevar(part);
            items.push_back(std::move(part));
            continue;
        }
        type->properties.insert(type->properties.end(), part.properties.begin(),
                                part.properties.end());
        type->parameters.insert(type->parameters.end(), part.parameters.begin(),
                                part.parameters.end());
        set_namevar(*type);
    }
    for (auto& type : items) {
        if (type.kind != Kind::Type) continue;
        const auto provides = [&](const DocItem& i) {
            return i.kind == Kind::Provider && i.type_name == type.name;
        };
        if (std::ranges::none_of(items, provides)) continue;
        if (std::ranges::find(type.parameters, "provider", &DocAttribute::name) !=
            type.parameters.end())
            continue;
        DocAttribute provider;
        provider.name = "provider";
        provider.doc = fmt::format(
            "The specific backend to use for this `{}` resource. You will seldom need to specify "
            "this --- Puppet will usually discover the appropriate provider for your platform.",
            type.name);
        type.parameters.push_back(std::move(provider));
    }
}

}  // namespace

void add_ruby_documents(std::vector<DocItem>& out, const std::string& folder,
                        const std::string& ruby, const std::vector<std::string>& sources,
                        base::LogSink& log) {
    const auto processes = sys::make_real_processes();
    const auto ruby_documents = ruby::read_documents(*processes, ruby, folder, sources);
    if (!ruby_documents) {
        log.log(ruby_documents.error().code == ENOENT ? base::Level::Warning : base::Level::Err,
                fmt::format("Skipping Ruby code: {}", ruby_documents.error().message));
        return;
    }
    base::Arena arena(256 * 1024);
    const auto data = value::parse_json(arena, *ruby_documents);
    if (!data || !data->is_array()) {
        log.log(base::Level::Err, "Skipping Ruby code: Ruby's output is not valid JSON");
        return;
    }
    std::vector<DocItem> parts;
    for (const Value& one : data->as_array()) {
        DocItem item;
        item.name = value::text_at(one, "name");
        item.file = value::text_at(one, "file");
        item.source = value::text_at(one, "source");
        if (const auto* line = at(one, "line"); line && line->is_integer())
            item.line = static_cast<int>(line->as_integer());
        const std::string kind = value::text_at(one, "kind");
        if (kind == "error") {
            log.log(base::Level::Err, fmt::format("Failed to parse {}: {}", item.file,
                                                  value::text_at(one, "message")));
            continue;
        }
        item.doc = parse_doc(value::text_at(one, "comment"));
        if (kind == "function") {
            read_function(item, one);
        } else if (kind == "type") {
            read_type(item, one);
        } else if (kind == "provider") {
            read_provider(item, one);
        } else if (kind == "fact") {
            item.kind = Kind::Fact;
        } else if (kind == "data_type") {
            read_data_type(item, one, log);
        } else {
            item.kind = Kind::Type;
            read_attributes(item, one);
            parts.push_back(std::move(item));
            continue;
        }
        out.push_back(std::move(item));
    }
    complete_types(out, parts);
}

}  // namespace bunraku::reference
