// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/documents.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

#include "compile/reference/documents_ruby.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/environment/regular_files.h"
#include "language/syntax/parser.h"
#include "language/syntax/visit.h"

namespace bunraku::reference {

namespace {

using Kind = DocItem::Kind;

/// Returns the comment lines above a line, without their markers.
std::string comment_above(const syntax::Source& source, int line) {
    std::vector<std::string_view> found;
    while (--line >= 1) {
        std::string_view text = base::trim(source.line_text(line));
        const std::size_t marks = text.find_first_not_of('#');
        if (!text.starts_with('#')) break;
        text = marks == std::string_view::npos ? std::string_view() : text.substr(marks);
        if (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
        found.push_back(text);
    }
    std::ranges::reverse(found);
    return fmt::format("{}", fmt::join(found, "\n"));
}

/// Returns the text from the first to the last part of a node, like Puppet's locator. It may lack
/// the closing bracket.
std::string_view tree_text(const syntax::Node* node) {
    std::size_t from = node->offset, to = node->offset + node->length;
    const auto widen = [&](const auto& self, const syntax::Node* part) -> void {
        if (part->source != node->source) return;
        from = std::min<std::size_t>(from, part->offset);
        to = std::max<std::size_t>(to, part->offset + part->length);
        syntax::for_each_child(part, [&](const syntax::Node* child) { self(self, child); });
    };
    widen(widen, node);
    return node->source->text().substr(from, to - from);
}

std::string type_text(const syntax::Node* type) {
    if (const auto* access = syntax::as<syntax::AccessExpression>(type)) {
        std::string out = std::string(tree_text(access->left)) + "[";
        for (const auto* key : access->keys) {
            if (!out.ends_with('[')) out += ", ";
            out += tree_text(key);
        }
        return out + "]";
    }
    return std::string(tree_text(type));
}

/// Merges the parameters with their tags. The types in the code override those in the tags.
void merge_parameters(DocItem& item, syntax::ParameterList parameters) {
    for (const auto* p : parameters) {
        const std::string name(p->name);
        if (p->value) item.defaults.emplace_back(name, tree_text(p->value));
        auto tag = std::ranges::find_if(
            item.doc.tags, [&](const DocTag& t) { return t.tag == "param" && t.name == name; });
        const std::string type(p->type_expr ? tree_text(p->type_expr) : "Any");
        if (tag == item.doc.tags.end()) {
            item.doc.tags.push_back({.tag = "param",
                                     .name = name,
                                     .text = "",
                                     .types = std::vector{type},
                                     .choice = {}});
        } else if (p->type_expr || !tag->types) {
            tag->types = std::vector{type};
        }
    }
}

void merge_return(DocText& doc, const std::string& type) {
    if (auto* tag = doc.find("return")) {
        if (!type.empty())
            tag->types = std::vector{type};
        else if (!tag->types)
            tag->types = std::vector<std::string>{"Any"};
        return;
    }
    doc.tags.push_back({.tag = "return",
                        .name = {},
                        .text = "",
                        .types = std::vector<std::string>{type.empty() ? "Any" : type},
                        .choice = {}});
}

std::optional<DocItem> item_of(const syntax::Node* node) {
    DocItem item;
    syntax::ParameterList parameters;
    if (const auto* c = syntax::as<syntax::HostClassDefinition>(node)) {
        item.kind = Kind::Class;
        item.name = c->name;
        item.inherits = c->parent_class;
        parameters = c->parameters;
    } else if (const auto* d = syntax::as<syntax::ResourceTypeDefinition>(node)) {
        item.kind = Kind::Define;
        item.name = d->name;
        parameters = d->parameters;
    } else if (const auto* f = syntax::as<syntax::FunctionDefinition>(node)) {
        item.kind = Kind::Function;
        item.function_type = "puppet";
        item.name = f->name;
        parameters = f->parameters;
    } else if (const auto* p = syntax::as<syntax::PlanDefinition>(node)) {
        item.kind = Kind::Plan;
        item.name = p->name;
        parameters = p->parameters;
    } else if (const auto* a = syntax::as<syntax::TypeAlias>(node)) {
        item.kind = Kind::Alias;
        item.name = a->name;
        item.alias_of = type_text(a->type_expr);
    } else {
        return std::nullopt;
    }
    item.line = node->where().line;
    item.doc = parse_doc(comment_above(*node->source, item.line));
    if (item.kind != Kind::Alias) item.source = tree_text(node);
    merge_parameters(item, parameters);
    if (const auto* f = syntax::as<syntax::FunctionDefinition>(node)) {
        item.source = without_indent(item.source);
        merge_return(item.doc, f->return_type ? std::string(tree_text(f->return_type)) : "");
        std::vector<std::pair<std::string, std::string>> all;
        for (const auto* p : parameters)
            all.emplace_back(p->name, p->value ? tree_text(p->value) : "");
        item.signatures.push_back({signature_text(item.name, all, item.doc), item.doc});
    }
    return item;
}

void add_task(std::vector<DocItem>& out, const std::string& file, const std::string& text,
              base::LogSink& log) {
    base::Arena arena;
    const auto data = value::parse_json(arena, text);
    if (!data || !data->is_hash()) {
        log.log(base::Level::Err,
                fmt::format("Could not read {}: {}", file,
                            data ? "it is not a JSON object" : data.error().message));
        return;
    }
    DocItem item;
    item.kind = Kind::Task;
    item.name = sys::base_name(file);
    if (const auto at = item.name.find(".json"); at != std::string::npos) item.name.erase(at, 5);
    item.file = file;
    item.source = text;
    item.doc.text = value::text_at(*data, "description");
    if (const auto* parameters = value::at(*data, "parameters");
        parameters && parameters->is_hash()) {
        for (const auto& e : parameters->as_hash()) {
            DocTag tag{.tag = "param",
                       .name = value::to_json(e.key),
                       .text = value::text_at(e.value, "description"),
                       .types = std::vector<std::string>{},
                       .choice = {}};
            if (e.key.is_string()) tag.name = std::string(e.key.as_string());
            if (auto type = value::text_at(e.value, "type"); !type.empty())
                tag.types->push_back(std::move(type));
            item.doc.tags.push_back(std::move(tag));
        }
    }
    const auto* noop = value::at(*data, "supports_noop");
    item.supports_noop = noop && noop->kind() == value::Kind::Boolean && noop->as_boolean();
    item.input_method = value::text_at(*data, "input_method");
    out.push_back(std::move(item));
}

/// With `deep`, includes files in subfolders.
void find_files(const environment::Files& files, const std::string& folder, const std::string& part,
                std::string_view end, bool deep, std::vector<std::string>& out, int depth = 0) {
    if (depth > 40) return;
    for (const auto& name : files.list(folder + "/" + part)) {
        const std::string path = part + "/" + name;
        const auto stat = files.stat(folder + "/" + path);
        if (!stat.exists) continue;
        if (files.is_real_folder(folder + "/" + path)) {
            if (deep) find_files(files, folder, path, end, deep, out, depth + 1);
        } else if (name.ends_with(end)) {
            out.push_back(path);
        }
    }
}

}  // namespace

std::vector<std::string> files_below(const environment::Files& files, const std::string& folder,
                                     const std::string& part, std::string_view end) {
    std::vector<std::string> out;
    find_files(files, folder, part, end, true, out);
    return out;
}

const std::string* DocItem::default_of(std::string_view parameter) const {
    for (const auto& [name_of_default, value] : defaults)
        if (name_of_default == parameter) return &value;
    return nullptr;
}

std::string signature_text(std::string_view name,
                           const std::vector<std::pair<std::string, std::string>>& parameters,
                           const DocText& doc) {
    std::string out = std::string(name) + "(";
    bool first = true;
    for (const auto& [parameter, default_text] : parameters) {
        if (!std::exchange(first, false)) out += ", ";
        const auto tag = std::ranges::find_if(
            doc.tags, [&](const DocTag& t) { return t.tag == "param" && t.name == parameter; });
        const bool typed = tag != doc.tags.end() && tag->types && !tag->types->empty();
        out += typed ? tag->types->front() : "Any";
        out += ' ';
        std::string_view bare = parameter;
        if (bare.starts_with('*') || bare.starts_with('&')) {
            out += bare.front();
            bare.remove_prefix(1);
        }
        out += "$" + std::string(bare);
        if (!default_text.empty()) out += " = " + default_text;
    }
    return out + ")";
}

std::string without_indent(std::string_view code) {
    const std::size_t last = code.rfind('\n');
    const std::string_view line = last == std::string_view::npos ? code : code.substr(last + 1);
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    std::string out;
    for (const auto each : base::split(code, '\n')) {
        if (!out.empty()) out += '\n';
        const std::size_t mine = std::min(each.find_first_not_of(" \t"), each.size());
        out += each.substr(mine >= indent ? indent : 0);
    }
    return out;
}

std::vector<DocItem> documents_of_manifest(const std::string& name, std::string text) {
    const auto tree =
        syntax::parse(name, std::move(text), {.epp = false, .tasks = true, .log = {}});
    std::vector<DocItem> out;
    for (const auto* node : tree->program->definitions) {
        if (auto item = item_of(node)) {
            item->file = name;
            out.push_back(std::move(*item));
        }
    }
    return out;
}

std::vector<DocItem> read_documents(const std::string& folder, const std::string& ruby,
                                    base::LogSink& log) {
    const auto regular = environment::regular_files(environment::Unreadable::Error);
    const environment::Files& files = *regular;
    std::vector<DocItem> out;
    std::vector<std::string> manifests;
    for (const char* part : {"manifests", "functions", "types", "plans"})
        find_files(files, folder, part, ".pp", true, manifests);
    for (const auto& path : manifests) {
        const auto text = files.read(folder + "/" + path);
        if (!text) {
            log.log(base::Level::Err,
                    fmt::format("Could not read {}: {}", path, text.error().message));
            continue;
        }
        try {
            for (auto& item : documents_of_manifest(path, *text)) out.push_back(std::move(item));
        } catch (const base::PuppetError& e) {
            log.log(base::Level::Err, fmt::format("Failed to parse {}: {}", path, e.full_text()));
        }
    }
    std::vector<std::string> tasks, sources;
    find_files(files, folder, "tasks", ".json", false, tasks);
    for (const auto& path : tasks)
        if (const auto text = files.read(folder + "/" + path)) add_task(out, path, *text, log);
    find_files(files, folder, "lib", ".rb", true, sources);
    std::erase_if(sources, [&](const std::string& path) {  // Ruby would wait for the end of a pipe.
        const auto status = sys::disk().stat(folder + "/" + path);
        return !status || status->kind != sys::FileKind::File;
    });
    if (!sources.empty()) add_ruby_documents(out, folder, ruby, sources, log);
    std::ranges::stable_sort(out, [](const DocItem& a, const DocItem& b) {
        return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
    });
    return out;
}

}  // namespace bunraku::reference
