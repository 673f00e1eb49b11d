// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/described.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/reference/documents_ruby.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/function/table.h"
#include "resources/facts/facts.h"

namespace bunraku::reference {

namespace {

using Kind = DocItem::Kind;

constexpr std::pair<std::string_view, std::string_view> kDataTypes[] = {
    {"Any", "Every value."},
    {"Array", "Array[Type, least, most]: a list of values of a type."},
    {"Binary", "A sequence of bytes."},
    {"Boolean", "true or false."},
    {"Callable", "What can be called: Callable[Types.., least, most, Block]."},
    {"CatalogEntry", "A class or a resource."},
    {"Class", "Class['name']: a class."},
    {"Collection", "An array or a hash."},
    {"Data", "What JSON can hold."},
    {"Default", "The word default."},
    {"Deferred", "A call that is made on the node."},
    {"Enum", "Enum['a', 'b']: one of these strings."},
    {"Error", "An error with message, kind, details and issue code."},
    {"Float", "Float[from, to]: a number with a fraction."},
    {"Hash", "Hash[Key, Value, least, most]."},
    {"Init", "Init[Type]: what new() makes a value of the type of."},
    {"Integer", "Integer[from, to]: a whole number."},
    {"Iterable", "What can be iterated over."},
    {"Iterator", "What iterates: a lazy list."},
    {"NotUndef", "NotUndef[Type]: a value of the type that is not undef."},
    {"Numeric", "An Integer or a Float."},
    {"Object", "A type with attributes and functions."},
    {"Optional", "Optional[Type]: a value of the type, or undef."},
    {"Pattern", "Pattern[/x/]: a string that matches one of these."},
    {"Regexp", "Regexp[/x/]: a regular expression."},
    {"Resource", "Resource['type', 'title']: a resource."},
    {"Runtime", "A value of the program's own."},
    {"Scalar", "A string, number, boolean, regular expression, time or version."},
    {"ScalarData", "A string, number or boolean."},
    {"SemVer", "A version: SemVer['>= 1.0.0 < 2.0.0']."},
    {"SemVerRange", "A range of versions."},
    {"Sensitive", "A value that is not shown."},
    {"String", "String[least, most]: a text."},
    {"Struct", "Struct[{ key => Type, Optional[key] => Type }]: a hash of these keys."},
    {"Timespan", "A length of time."},
    {"Timestamp", "A point in time."},
    {"Tuple", "Tuple[Types.., least, most]: a list, each place with its type."},
    {"Type", "Type[Type]: a type."},
    {"TypeSet", "A set of types with a version."},
    {"Undef", "The value undef."},
    {"URI", "A URI."},
    {"Variant", "Variant[Types..]: a value of one of these types."},
};

std::string_view kind_word(Kind kind) {
    switch (kind) {
        case Kind::Class: return "class";
        case Kind::Define: return "define";
        case Kind::Function: return "function";
        case Kind::DataType:
        case Kind::Alias: return "datatype";
        case Kind::Fact: return "fact";
        default: return "";
    }
}

bool wanted(const DocItem& item, std::string_view kind) {
    const auto word = kind_word(item.kind);
    return !word.empty() && (kind.empty() || word == kind);
}

DocItem builtin_item(Kind kind, std::string_view name, std::string_view doc) {
    DocItem out;
    out.kind = kind;
    out.name = name;
    out.doc.text = doc;
    return out;
}

DocItem builtin_function(const evaluator::Builtin& f) {
    DocItem out = builtin_item(Kind::Function, f.name, f.doc);
    for (const auto& overload : f.overloads) {
        if (!overload.exists(config::kDefaultLevel)) continue;
        if (overload.mismatch) continue;
        DocSignature s;
        s.text = fmt::format("{}({})", f.name, overload.signature);
        out.signatures.push_back(std::move(s));
    }
    return out;
}

DocItem type_item(const restype::TypeSpec& type) {
    DocItem out = builtin_item(Kind::Type, type.name, type.doc);
    for (const auto& a : type.attributes) {
        DocAttribute one;
        one.name = a.name;
        one.doc = a.doc;
        one.features = a.feature;
        one.namevar = a.namevar;
        for (const auto value : base::split(a.values, '|')) {
            const auto names = base::split(value, '=');
            if (value.empty()) continue;
            one.values.emplace_back(names.front());
            for (std::size_t i = 1; i < names.size(); ++i)
                one.aliases.emplace_back(names[i], names.front());
        }
        if (!a.patterns.empty()) one.values.emplace_back(a.patterns);
        const bool property = a.kind == restype::AttributeKind::Property;
        (property ? out.properties : out.parameters).push_back(std::move(one));
    }
    return out;
}

std::string summary_of(const DocItem& item) {
    std::string text = item.doc.tag_text("summary");
    if (text.empty()) text = item.doc.text.substr(0, item.doc.text.find("\n\n"));
    text = fmt::format("{}", fmt::join(base::words(text, base::kBlanks), " "));
    if (const auto end = text.find(". "); end != std::string::npos) text.resize(end + 1);
    constexpr std::size_t kMost = 100;
    if (text.size() > kMost) {
        text.resize(text.rfind(' ', kMost - 4) == std::string::npos ? kMost - 4
                                                                    : text.rfind(' ', kMost - 4));
        text += " ...";
    }
    return text;
}

std::string heading(std::string_view text) {
    return fmt::format("\n{}\n{}\n", text, std::string(text.size(), '-'));
}

std::string page_of(const DocItem& item, bool brief) {
    std::string out = fmt::format("\n{}\n{}\n", item.name, std::string(item.name.size(), '='));
    std::string where(kind_word(item.kind));
    if (item.kind == Kind::Alias || item.kind == Kind::DataType) where = "data type";
    out += item.file.empty() ? fmt::format("({}, built in)\n", where)
                             : fmt::format("({}, {}:{})\n", where, item.file, item.line);
    const std::string summary = item.doc.tag_text("summary");
    if (!summary.empty()) out += "\n" + paragraphs(summary, 0);
    if (!item.doc.text.empty() && item.doc.text != summary)
        out += "\n" + paragraphs(item.doc.text, 0);
    for (const auto& [tag, title] : {std::pair{"deprecated", "Deprecated"}, {"note", "Note"}})
        if (const auto tag_text = item.doc.tag_text(tag); !tag_text.empty())
            out += "\n" + paragraphs(fmt::format("{}: {}", title, tag_text), 0);
    if (!item.inherits.empty()) out += fmt::format("\nInherits {}\n", item.inherits);
    if (!item.alias_of.empty()) out += fmt::format("\nAlias of {}\n", item.alias_of);
    if (!item.signatures.empty()) {
        out += heading("Calls");
        for (const auto& s : item.signatures) out += fmt::format("    {}\n", s.text);
    }
    std::string parameters, returns;
    for (const auto& tag : item.doc.tags) {
        if (tag.tag == "return" && tag.types && !tag.types->empty()) {
            returns = tag.types->front();
            if (tag.text && !tag.text->empty()) returns += ": " + *tag.text;
        }
        if (tag.tag != "param") continue;
        const std::string name = tag.name.value_or("");
        if (brief) {
            parameters += (parameters.empty() ? "" : ", ") + name;
            continue;
        }
        parameters += fmt::format("- **{}**", name);
        if (tag.types && !tag.types->empty()) parameters += fmt::format(" {}", tag.types->front());
        if (const auto* d = item.default_of(name)) parameters += fmt::format(" = {}", *d);
        parameters += "\n";
        if (tag.text && !tag.text->empty()) parameters += paragraphs(*tag.text, 4);
    }
    if (brief && !parameters.empty()) parameters = wrapped(parameters, 4);
    if (!parameters.empty()) out += heading("Parameters") + parameters;
    if (brief) return out;
    if (!returns.empty()) out += heading("Returns") + paragraphs(returns, 4);
    bool first = true;
    for (const auto& tag : item.doc.tags) {
        if (tag.tag != "example") continue;
        if (std::exchange(first, false)) out += heading("Examples");
        if (tag.name && !tag.name->empty()) out += fmt::format("{}:\n\n", *tag.name);
        const std::string example = tag.text.value_or("");
        for (const auto line : base::lines(example))
            out += line.empty() ? "\n" : fmt::format("    {}\n", line);
        out += "\n";
    }
    return out;
}

}  // namespace

bool Described::is_kind(std::string_view kind) {
    return kind == "class" || kind == "define" || kind == "function" || kind == "datatype" ||
           kind == "fact" || kind == "type";
}

std::string Described::kinds() { return "class, define, function, datatype, fact and type"; }

std::vector<DocItem> Described::find(const std::string& name, std::string_view kind) const {
    std::vector<DocItem> found;
    std::string key = base::lower(name);
    if (key.starts_with("::")) key.erase(0, 2);
    const auto add_manifest = [&](const std::string& path) {
        const auto text = environment_->read(path);
        if (!text) return;
        try {
            for (auto& item : documents_of_manifest(path, *text)) found.push_back(std::move(item));
        } catch (const base::PuppetError& e) {
            log_.log(base::Level::Err, e.full_text());
        }
    };
    const auto add_ruby = [&](const std::optional<std::string>& path) {
        if (path) add_ruby_documents(found, "/", settings_.text("ruby_program"), {*path}, log_);
    };
    if (environment_) {
        for (const auto& candidate : environment_->manifest_candidates(key))
            add_manifest(candidate.second);
        try {
            for (const auto& file : environment_->main_manifests())
                if (file->tree)
                    for (auto& item : documents_of_manifest(
                             file->tree->source->file(), std::string(file->tree->source->text())))
                        found.push_back(std::move(item));
        } catch (const base::PuppetError&) {
            // A manifest that cannot be parsed has no documentation.
        }
        if (const auto path = environment_->function_file(key)) add_manifest(*path);
        if (const auto path = environment_->type_file(key)) add_manifest(*path);
        add_ruby(environment_->ruby_function_file(key));
        add_ruby(environment_->ruby_data_type_file(key));
        for (const auto& module : environment_->modules()) {
            const std::string path = module.path + "/lib/facter/" + key + ".rb";
            if (key.find('/') == std::string::npos && environment_->files().stat(path).exists)
                add_ruby(path);
        }
    }
    std::erase_if(found, [&](const DocItem& i) { return base::lower(i.name) != key; });
    const bool replaced =
        std::ranges::any_of(found, [](const DocItem& i) { return i.kind == Kind::Function; });
    if (const auto* f = function::builtin_functions().find(key); f && !replaced)
        found.push_back(builtin_function(*f));
    for (const auto& fact : facts::all_facts())
        if (fact.name == key) found.push_back(builtin_item(Kind::Fact, fact.name, fact.doc));
    for (const auto& [type, doc] : kDataTypes)
        if (base::lower(type) == key) found.push_back(builtin_item(Kind::DataType, type, doc));
    std::erase_if(found, [&](const DocItem& i) { return !wanted(i, kind); });
    // A class may be found twice: by its file and as part of the main manifest.
    std::vector<DocItem> out;
    for (auto& item : found) {
        const bool twice = std::ranges::any_of(out, [&](const DocItem& o) {
            return o.kind == item.kind && o.file == item.file && o.line == item.line;
        });
        if (!twice) out.push_back(std::move(item));
    }
    return out;
}

std::vector<DocItem> Described::all(std::string_view kind) const {
    std::vector<DocItem> out;
    if (environment_) {
        std::vector<std::string> folders;
        if (!environment_->directory().empty()) folders.push_back(environment_->directory());
        for (const auto& module : environment_->modules()) folders.push_back(module.path);
        for (const auto& folder : folders) {
            for (auto& item : read_documents(folder, settings_.text("ruby_program"), log_)) {
                item.file = folder + "/" + item.file;
                out.push_back(std::move(item));
            }
        }
    }
    for (const auto* f : function::builtin_functions().all()) {
        const bool replaced = std::ranges::any_of(
            out, [&](const DocItem& i) { return i.kind == Kind::Function && i.name == f->name; });
        if (!replaced) out.push_back(builtin_function(*f));
    }
    for (const auto& fact : facts::all_facts())
        out.push_back(builtin_item(Kind::Fact, fact.name, fact.doc));
    for (const auto& [type, doc] : kDataTypes)
        out.push_back(builtin_item(Kind::DataType, type, doc));
    std::erase_if(out, [&](const DocItem& i) { return !wanted(i, kind); });
    std::ranges::stable_sort(out,
                             [](const DocItem& a, const DocItem& b) { return a.name < b.name; });
    return out;
}

std::string Described::text(const std::string& name, std::string_view kind, bool brief) const {
    std::string out;
    for (const auto& item : find(name, kind)) out += page_of(item, brief);
    return out;
}

std::string Described::json(const std::vector<std::string>& names, std::string_view kind,
                            const Types& types) const {
    std::vector<DocItem> items;
    for (const auto* type : types) items.push_back(type_item(*type));
    for (const auto& name : names)
        for (auto& item : find(name, kind)) items.push_back(std::move(item));
    if (items.empty()) return {};
    base::Arena arena;
    return value::to_pretty_json(reference_json(arena, items)) + "\n";
}

std::string Described::list(std::string_view kind) const {
    std::string out;
    for (const auto& item : all(kind))
        out += fmt::format("{:<30} - {}\n", item.name, summary_of(item));
    return out;
}

std::string Described::list_json(std::string_view kind, const Types& types) const {
    base::Arena arena;
    std::vector<value::Value> out;
    const auto add = [&](const DocItem& item, std::string_view word) {
        value::HashBuilder one(arena, 4);
        one.set("name", value::make_string(arena, item.name));
        one.set("kind", value::make_string(arena, word));
        one.set("summary", value::make_string(arena, summary_of(item)));
        one.set("file", item.file.empty() ? value::Value() : value::make_string(arena, item.file));
        out.push_back(one.build());
    };
    for (const auto* type : types) add(type_item(*type), "type");
    for (const auto& item : all(kind)) add(item, kind_word(item.kind));
    return value::to_pretty_json(value::make_array(arena, out)) + "\n";
}

std::string wrapped(std::string_view text, std::size_t indent) {
    std::string out, line;
    const std::string pad(indent, ' ');
    for (const auto word : base::words(text)) {
        if (!line.empty() && indent + line.size() + word.size() + 1 > 76) {
            out += pad + line + "\n";
            line.clear();
        }
        if (!line.empty()) line += ' ';
        line += word;
    }
    return line.empty() ? out : out + pad + line + "\n";
}

std::string paragraphs(std::string_view text, std::size_t indent) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = text.find("\n\n");
        const std::string one =
            fmt::format("{}", fmt::join(base::words(text.substr(0, end), base::kBlanks), " "));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
        if (one.empty()) continue;
        out += (out.empty() ? "" : "\n") + wrapped(one, indent);
    }
    return out;
}

}  // namespace bunraku::reference
