// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/definition.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "language/types/type.h"
#include "resources/restype/spec.h"

namespace bunraku::compiler {

using base::PuppetError;

namespace {

std::string context(std::string_view file, int line) {
    auto text = base::format_location({std::string(file), line, 0});
    return text.empty() ? text : " " + text;
}

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns the name that Puppet shows for a node given by a regular expression.
std::string regexp_node_name(std::string_view source) {
    std::string text(source);
    for (char& c : text) c = lower(c);
    // The operators of look-around groups become letters, in lower case because lookups of names
    // use it (OpenVox 8.28.1; Puppet 8 does not find such nodes).
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(' && i + 1 < text.size() && text[i + 1] == '?') {
            auto close = text.find(')', i);
            if (close != std::string::npos) {
                for (std::size_t j = i; j <= close; ++j) {
                    switch (text[j]) {
                        case '(': out += "lp"; break;
                        case '?': out += "qu"; break;
                        case '<': out += "lt"; break;
                        case '>': out += "gt"; break;
                        case '!': out += "ex"; break;
                        case '=': out += "eq"; break;
                        case ')': out += "rp"; break;
                        default: out += text[j];
                    }
                }
                i = close;
                continue;
            }
        }
        out += text[i];
    }
    std::string kept;
    for (char c : out) {
        bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
                    static_cast<unsigned char>(c) >= 0x80;
        if (word || c == '-' || c == ':' || c == '.') kept += c;
    }
    kept.erase(0, std::min(kept.find_first_not_of('.'), kept.size()));
    return "__node_regexp__" + kept;
}

}  // namespace

std::string_view capitalize(base::Arena& arena, std::string_view name) {
    if (name.empty() || (name[0] >= 'A' && name[0] <= 'Z')) return arena.copy(name);
    std::string out;
    out.reserve(name.size());
    bool first = true;
    for (std::size_t i = 0; i < name.size(); ++i) {
        out += first ? upper(name[i]) : lower(name[i]);
        first = false;
        if (name[i] == ':' && i > 0 && name[i - 1] == ':') first = true;
    }
    return arena.copy(out);
}

std::string_view downcase(base::Arena& arena, std::string_view name) {
    if (std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
        return name;
    std::string out(name);
    for (char& c : out) c = lower(c);
    return arena.copy(out);
}

Definitions::Definitions(const environment::Environment& env, base::Arena& arena,
                         base::LogSink& log)
    : env_(env), arena_(arena), log_(log), shared_types_(SharedTypes::of(env)) {
    // Values of the catalog may point into the shared types, so the arena shares their ownership.
    arena_.own(std::make_unique<std::shared_ptr<SharedTypes>>(shared_types_));
}

void Definitions::duplicate(const Definition& fresh, std::string message) {
    auto error = base::plain_error(std::move(message));
    if (fresh.line > 0) error.at({std::string(fresh.file), fresh.line, 0});
    throw error;
}

Definition* Definitions::make(Definition::Kind kind, const syntax::Node& node,
                              std::string_view name, std::string_view module_name) {
    auto owned = std::make_unique<Definition>();
    Definition* d = owned.get();
    all_.push_back(std::move(owned));
    d->kind = kind;
    d->name = name;
    d->module_name = module_name;
    d->has_module = true;
    d->node = &node;
    if (node.source) {
        d->file = node.source->file();
        d->line = node.source->line_of(node.offset);
    }
    return d;
}

namespace {

/// `first` is null for built-in definitions.
[[noreturn]] void redefined(std::string_view kind, std::string_view name,
                            const syntax::Node* first) {
    std::string origin = "by Puppet-Type-System/Static-Loader";
    if (first) {
        const auto at = first->where();
        origin = fmt::format("at {}{}?line={}&pos={}", at.file.empty() ? "string:" : "file://",
                             at.file, at.line, at.column);
    }
    throw base::plain_error(
        fmt::format("Attempt to redefine entity 'http://puppet.com/2016.1/runtime/{}/{}'. "
                    "Originally set {}.",
                    kind, name, origin));
}

std::string where(const Definition& d) { return context(d.file, d.line); }

Definition* find(const std::unordered_map<std::string_view, Definition*>& map,
                 std::string_view name) {
    auto it = map.find(name);
    return it == map.end() ? nullptr : it->second;
}

}  // namespace

void Definitions::check_class_name(const Definition& d) const {
    if (auto* dupe = find(classes_, d.name)) {
        duplicate(d, fmt::format("Class '{}' is already defined{}; cannot redefine", d.name,
                                 where(*dupe)));
    }
    if (auto* dupe = find(nodes_, d.name)) {
        duplicate(d, fmt::format("Node '{}' is already defined{}; cannot be redefined as a class",
                                 d.name, where(*dupe)));
    }
    if (auto* dupe = find(defines_, d.name)) {
        duplicate(d, fmt::format("Definition '{}' is already defined{}; cannot be "
                                 "redefined as a class",
                                 d.name, where(*dupe)));
    }
}

/// Throws or warns about parameters that have the name of a metaparameter.
void Definitions::check_parameters(const Definition& d) const {
    for (const auto* p : d.parameters) {
        if (!restype::is_metaparameter(p->name)) continue;
        if (!p->value) {
            throw base::plain_error(fmt::format("{} is a metaparameter; please choose another "
                                                "parameter name in the {} definition",
                                                p->name, d.name))
                .show_at(p->where());
        }
        log_.log(base::Level::Warning,
                 fmt::format("{} is a metaparam; this value will inherit to all contained "
                             "resources in the {} definition",
                             p->name, d.name));
    }
}

void Definitions::add_class(const syntax::HostClassDefinition& ast, std::string_view module_name,
                            int in_file) {
    auto* d = make(Definition::Kind::Class, ast, downcase(arena_, ast.name), module_name);
    d->parameters = ast.parameters;
    d->in_file = in_file;
    d->body = ast.body;
    check_parameters(*d);
    if (!ast.parent_class.empty()) {
        d->parent_name = ast.parent_class.starts_with("::")
                             ? ast.parent_class
                             : arena_.copy("::" + std::string(ast.parent_class));
    }
    check_class_name(*d);
    classes_.emplace(d->name, d);
}

void Definitions::add_define(const syntax::ResourceTypeDefinition& ast,
                             std::string_view module_name, int in_file) {
    auto* d = make(Definition::Kind::Define, ast, downcase(arena_, ast.name), module_name);
    d->parameters = ast.parameters;
    d->in_file = in_file;
    d->body = ast.body;
    check_parameters(*d);
    if (auto* dupe = find(classes_, d->name)) {
        duplicate(*d, fmt::format("'{}' is already defined{} as a class; cannot redefine as "
                                  "a definition",
                                  d->name, where(*dupe)));
    }
    if (auto* dupe = find(defines_, d->name)) redefined("type", d->name, dupe->node);
    defines_.emplace(d->name, d);
}

namespace {

/// Returns the name in a node definition as written.
std::string host_name(const syntax::Node& match) {
    if (const auto* re = syntax::as<syntax::LiteralRegularExpression>(&match))
        return regexp_node_name(re->pattern);
    if (const auto* s = syntax::as<syntax::LiteralString>(&match)) return std::string(s->value);
    if (const auto* q = syntax::as<syntax::QualifiedName>(&match)) return std::string(q->value);
    if (match.kind == syntax::NodeKind::LiteralDefault) return "default";
    return std::string(match.text());
}

bool valid_host_name(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ||
               static_cast<unsigned char>(c) >= 0x80;
    });
}

}  // namespace

/// Adds one definition for each name or pattern.
void Definitions::add_nodes(const syntax::NodeDefinition& ast, std::string_view module_name) {
    for (const auto* match : ast.host_matches) {
        std::string name = host_name(*match);
        const value::RegexpRep* pattern = nullptr;
        if (const auto* re = syntax::as<syntax::LiteralRegularExpression>(match)) {
            pattern = static_cast<const value::RegexpRep*>(re->regexp_rep);
        }
        if (!pattern) {
            for (char& c : name) c = lower(c);
            if (!valid_host_name(name)) {
                throw base::plain_error(fmt::format("'{}' is not a valid hostname", name));
            }
        }
        auto* d = make(Definition::Kind::Node, ast, arena_.copy(name), module_name);
        d->body = ast.body;
        d->pattern = pattern;
        if (auto* dupe = find(nodes_, d->name)) {
            duplicate(*d, fmt::format("Node '{}' is already defined{}; cannot redefine", d->name,
                                      where(*dupe)));
        }
        if (auto* dupe = find(classes_, d->name)) {
            duplicate(*d, fmt::format("Class '{}' is already defined{}; cannot be "
                                      "redefined as a node",
                                      d->name, where(*dupe)));
        }
        node_list_.push_back(d);
        nodes_.emplace(d->name, d);
    }
}

void Definitions::add(const syntax::Node* node, std::string_view module_name, int in_file) {
    using enum syntax::NodeKind;
    switch (node->kind) {
        case HostClassDefinition:
            add_class(syntax::to<syntax::HostClassDefinition>(node), module_name, in_file);
            break;
        case ResourceTypeDefinition:
            add_define(syntax::to<syntax::ResourceTypeDefinition>(node), module_name, in_file);
            break;
        case NodeDefinition:
            add_nodes(syntax::to<syntax::NodeDefinition>(node), module_name);
            break;
        case FunctionDefinition: {
            const auto& ast = syntax::to<syntax::FunctionDefinition>(node);
            auto [it, fresh] = functions_.emplace(ast.name, &ast);
            if (!fresh && it->second != &ast) redefined("function", ast.name, it->second);
            break;
        }
        case TypeAlias: add_type(syntax::to<syntax::TypeAlias>(node).name, node); break;
        case TypeDefinition: add_type(syntax::to<syntax::TypeDefinition>(node).name, node); break;
        default: break;
    }
}

void Definitions::add_type(std::string_view name, const syntax::Node* node) {
    std::string key(name);
    for (char& c : key) c = lower(c);
    if (types::builtin_type(key)) redefined("type", key, nullptr);
    // Puppet registers a define as a type, so an alias after it is an error. An alias before it is
    // not.
    if (const auto* define = find(defines_, key)) redefined("type", key, define->node);
    const auto [it, fresh] = types_.emplace(key, node);
    if (!fresh && it->second != node) redefined("type", key, it->second);
}

void Definitions::import_tree(const syntax::Tree& tree, std::string_view module_name,
                              bool with_program, int in_file) {
    if (!tree.program) return;
    if (with_program) main_->programs.push_back(tree.program);
    for (const auto* node : tree.program->definitions) add(node, module_name, in_file);
}

void Definitions::import(std::shared_ptr<const environment::ParsedFile> file,
                         std::string_view module_name) {
    const syntax::Tree& tree = file->check(log_);
    files_.push_back(std::move(file));
    import_tree(tree, module_name, false, static_cast<int>(files_.size()) - 1);
}

void Definitions::import_main() {
    all_.push_back(std::make_unique<Definition>());
    main_ = all_.back().get();
    main_->has_module = true;
    classes_.emplace("", main_);
    std::vector<const syntax::Tree*> trees;
    try {
        for (auto& file : env_.main_manifests()) {
            const syntax::Tree& tree = file->check(log_);
            files_.push_back(file);
            if (tree.source && !tree.source->file().empty()) loaded_.insert(tree.source->file());
            trees.push_back(&tree);
        }
    } catch (PuppetError& error) {
        if (std::string_view(error.what()).starts_with("Could not parse for environment")) throw;
        // Keeps the error's location separate, so that the message contains it once, at the end.
        PuppetError named(
            fmt::format("Could not parse for environment {}: {}", env_.name(), error.message()),
            error.issue_code(), PuppetError::Class::Plain);
        throw named.at(error.where()).show_at(error.shown_location());
    }
    for (std::size_t i = 0; i < trees.size(); ++i)
        import_tree(*trees[i], "", true, static_cast<int>(i));
}

int Definition::parameter_index(std::string_view parameter) const {
    if (const int index = table->find(parameter); index >= 0) return index;
    return parameter == "name" || parameter == "title" || restype::is_metaparameter(parameter)
               ? kOther
               : kUnknown;
}

Definition& Definitions::add_settings() {
    Definition& settings = *all_.emplace_back(std::make_unique<Definition>());
    settings.name = "settings";
    classes_.emplace(settings.name, &settings);
    return settings;
}

Definition& Definitions::add_class(std::string_view name) {
    auto made = std::make_unique<Definition>();
    made->name = downcase(arena_, name);
    if (made->name.starts_with("::")) made->name.remove_prefix(2);
    made->module_name = made->name.substr(0, made->name.find("::"));
    made->has_module = true;
    check_class_name(*made);
    Definition& added = *all_.emplace_back(std::move(made));
    classes_.emplace(added.name, &added);
    return added;
}

Definition* Definitions::used(Definition* definition) const {
    if (definition && definition->node && !definition->noted) {
        definition->noted = true;
        env_.note_definition(*definition->node);
    }
    return definition;
}

Definition* Definitions::known_class(std::string_view name) const {
    auto it = classes_.find(name);
    return it == classes_.end() ? nullptr : used(it->second);
}

Definition* Definitions::known_define(std::string_view name) const {
    auto it = defines_.find(name);
    return it == defines_.end() ? nullptr : used(it->second);
}

Definition* Definitions::known_node(std::string_view name) const {
    auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : it->second;
}

// Reads the files that may define `name`, the best candidate first, until one defines it. Returns
// false if it read no new file.
bool Definitions::load(std::string_view name) {
    bool any = false;
    for (const auto& [module, path] : env_.manifest_candidates(name)) {
        if (!loaded_.insert(path).second) continue;
        auto file = env_.parse_manifest(path);
        if (!file) continue;
        import(std::move(file), module->name);
        any = true;
        if (known_class(name) || known_define(name)) return true;
    }
    return any;
}

Definition* Definitions::find_class(std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    name = downcase(arena_, name);
    if (auto* d = known_class(name)) return d;
    if (name.empty()) return nullptr;
    load(name);
    return known_class(name);
}

Definition* Definitions::find_define(std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    name = downcase(arena_, name);
    if (auto* d = known_define(name)) return d;
    if (name.empty()) return nullptr;
    load(name);
    return known_define(name);
}

Definition* Definitions::find_node(std::string_view name, std::optional<regex::Match>* match) {
    name = downcase(arena_, name);
    if (auto* d = known_node(name); d && !d->pattern) return used(d);
    for (auto* d : node_list_) {
        if (!d->pattern || !d->pattern->regex) continue;
        if (auto found = d->pattern->regex->search(name)) {
            if (match) *match = std::move(found);
            return used(d);
        }
    }
    return nullptr;
}

const syntax::FunctionDefinition* Definitions::known_function(std::string_view name) const {
    auto it = functions_.find(name);
    if (it == functions_.end()) return nullptr;
    env_.note_definition(*it->second);
    return it->second;
}

const syntax::Node* Definitions::known_type(std::string_view name) const {
    std::string key(name);
    for (char& c : key) c = lower(c);
    auto it = types_.find(key);
    if (it == types_.end()) return nullptr;
    env_.note_definition(*it->second);
    return it->second;
}

Definition& Definitions::parent_of(Definition& definition) {
    if (definition.parent) return *definition.parent;
    Definition* parent = definition.kind == Definition::Kind::Node
                             ? known_node(definition.parent_name)
                             : find_class(definition.parent_name);
    if (!parent) {
        PuppetError error(
            fmt::format(
                "Could not find parent resource type '{}' of type {} in {}", definition.parent_name,
                definition.kind == Definition::Kind::Node ? "node" : "hostclass", env_.name()),
            "", PuppetError::Class::Plain);
        throw error.at({std::string(definition.file), definition.line, 0});
    }
    // If a class inherits from itself, Puppet fails with an exhausted stack.
    for (const Definition* above = parent; above; above = above->parent) {
        if (above != &definition) continue;
        throw PuppetError("stack level too deep", "SCRIPT_ERROR", PuppetError::Class::Plain)
            .show_at({std::string(definition.file), definition.line, 0});
    }
    definition.parent = parent;
    return *parent;
}

bool Definitions::child_of(const Definition* child, const Definition* ancestor) {
    for (int depth = 0; child && depth < 1000; ++depth) {
        if (child->overrides_all) return true;
        if (child->parent_name.empty()) return false;
        auto* mutable_child = const_cast<Definition*>(child);
        const Definition* parent = &parent_of(*mutable_child);
        if (parent == ancestor) return true;
        child = parent;
    }
    return false;
}

void Definitions::prepare(Definition& definition, evaluator::Interpreter& in) {
    if (definition.table) return;
    static const ParameterTable kNone;
    if (definition.parameters.empty()) {
        definition.table = &kNone;
        return;
    }
    if (definition.in_file >= 0) {
        const auto& file = files_[static_cast<std::size_t>(definition.in_file)];
        if (const auto* shared =
                shared_parameters(*definition.node, definition.parameters, nullptr, file)) {
            definition.table = &shared->table;
            return;
        }
    }
    // An empty table exists while the types are evaluated, because they may refer to the
    // definition.
    auto owned = std::make_unique<ParameterTable>();
    ParameterTable& table = *owned;
    tables_.push_back(std::move(owned));
    definition.table = &table;
    try {
        for (const auto* p : definition.parameters)
            table.add(*p, p->type_expr ? in.evaluate_type(p->type_expr, in.top_scope()) : nullptr);
    } catch (...) {
        // In the REPL evaluation goes on after an error.
        definition.table = nullptr;
        throw;
    }
    table.finish();
}

bool Definitions::take(const SharedTypes::Answer& answer) const {
    const bool same = types_.empty() || std::ranges::none_of(answer.names, [&](const auto& name) {
                          return types_.contains(name);
                      });
    if (same) answer.reads.note();
    return same;
}

const SharedTypes::Parameters* Definitions::shared_parameters(
    const syntax::Node& definition, syntax::ParameterList list, const syntax::Node* returns,
    const std::shared_ptr<const environment::ParsedFile>& file) {
    const auto* shared = shared_types_->parameters(definition, list, returns, file);
    return shared && take(*shared) ? shared : nullptr;
}

const types::Type* Definitions::shared_alias(std::string_view key) {
    const auto* shared = shared_types_->alias(key);
    return shared && take(*shared) ? shared->type : nullptr;
}

}  // namespace bunraku::compiler
