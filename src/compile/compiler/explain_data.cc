// SPDX-License-Identifier: Apache-2.0
// Explanations of errors in Hiera files, Hiera keys and templates.
#include <algorithm>
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/text.h"
#include "language/hiera/lookup.h"
#include "language/syntax/visit.h"

namespace bunraku::compiler::explaining {

using namespace syntax;

namespace {

/// Appends the root keys of a YAML file.
void root_keys(std::string_view text, std::vector<std::string>& out) {
    for (const auto line : base::split(text, '\n')) {
        if (line.empty() || line[0] == '#' || line[0] == ' ' || line[0] == '-') continue;
        auto name = std::string_view(line);
        std::size_t end = 0;
        while (end < name.size() &&
               !(name[end] == ':' && (end + 1 == name.size() || name[end + 1] == ' ')))
            ++end;
        if (end == name.size()) continue;
        name = name.substr(0, end);
        if (name.size() > 1 && (name[0] == '"' || name[0] == '\''))
            name = name.substr(1, name.size() - 2);
        if (!name.empty() && out.size() < 20000) out.emplace_back(name);
    }
}

/// Returns the data files that a lookup of the key reads.
std::vector<std::string> data_files_of(const Case& mistake, const std::string& key) {
    std::vector<std::string> out;
    const std::string explained = explained_lookup(mistake, key);
    for (const auto line : base::split(explained, '\n')) {
        if (const auto path = between(line, " Path \"", "\"");
            path && std::ranges::find(out, *path) == out.end())
            out.push_back(*path);
    }
    return out;
}

bool key_not_found(const Case& mistake) {
    const auto key = between(mistake.text, "did not find a value for the name '", "'");
    if (!key) return false;
    if (!mistake.where.known()) {
        mistake.out.where = place_of(mistake, [&](const syntax::Node& node) {
            const auto* call = syntax::as<syntax::CallNamedFunctionExpression>(&node);
            const auto* first = call && !call->arguments.empty()
                                    ? syntax::as<syntax::LiteralString>(call->arguments[0])
                                    : nullptr;
            return first && first->value == *key;
        });
    }
    std::vector<std::string> keys, there;
    for (const auto& file : data_files_of(mistake, *key)) {
        const auto text = mistake.environment().files().read(file);
        if (!text) continue;
        there.push_back(file);
        root_keys(*text, keys);
    }
    std::ranges::sort(keys);
    mistake.suggest(*key, keys);
    if (there.empty()) {
        mistake.hint("None of the data files in this node's hierarchy exists");
    } else {
        if (there.size() > 6) there.resize(6);
        mistake.hint(fmt::format("Searched in {}", fmt::join(there, ", ")));
    }
    if (mistake.out.suggestions.empty())
        mistake.hint("Alternatively, set a default: lookup('key', default_value => ...)");
    return true;
}

/// Returns the `nth` location of `wanted` in a file. The line is 0 if there is none.
base::Location location_in(const Case& mistake, const std::string& file, std::string_view wanted,
                           std::size_t nth = 1) {
    const auto text = mistake.environment().files().read(file);
    int line = 0;
    for (const auto one : base::split(text ? std::string_view(*text) : "", '\n')) {
        ++line;
        const auto at = one.find(wanted);
        if (at == std::string_view::npos || --nth > 0) continue;
        const auto before = one.substr(0, at);
        const auto follow = std::ranges::count_if(
            before, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
        return {file, line, static_cast<int>(at) - static_cast<int>(follow) + 1};
    }
    return {};
}

/// Explains an interpolation error in Hiera data, whose location Puppet's message lacks.
bool interpolation(const Case& mistake) {
    const auto method = between(mistake.text, "Unknown interpolation method '", "'");
    const bool alias = mistake.text.find("'alias' interpolation is only permitted if") == 0;
    if (!method && !alias) return false;
    for (const auto& file : data_files_of(mistake, "lookup_options")) {
        auto where = location_in(mistake, file, fmt::format("%{{{}(", method.value_or("alias")));
        if (where.line == 0) continue;
        mistake.place(mistake.where, "the lookup that read it");
        mistake.out.where = std::move(where);
        break;
    }
    if (method)
        mistake.suggest(*method, {"lookup", "hiera", "alias", "literal", "scope"});
    else
        mistake.hint(
            "An alias must be the whole text, \"%{alias('key')}\"; inside a text use "
            "%{lookup('key')}");
    return true;
}

/// Explains a hierarchy level with too many paths or with a duplicate name.
bool hierarchy_level(const Case& mistake) {
    const auto twice = between(mistake.text, "Hierarchy name '", "' defined more than once");
    const auto many = between(mistake.text, "can be defined in hierarchy '", "'");
    if (!twice && !many) return false;
    const auto& file = mistake.outer.file;
    for (const char* form : {"name: {}", "name: \"{}\"", "name: '{}'"}) {
        const auto name = fmt::format(fmt::runtime(form), twice ? *twice : *many);
        const auto first = location_in(mistake, file, name);
        if (first.line == 0) continue;
        const auto second = twice ? location_in(mistake, file, name, 2) : base::Location();
        mistake.out.where = second.line > 0 ? second : first;
        if (second.line > 0) mistake.place(first, "the first of that name");
        break;
    }
    mistake.hint(twice ? "Each level needs a unique name"
                       : "Use only one of them in a level, or create more levels");
    return true;
}

/// Explains an unknown merge strategy of lookup_options or of a call.
bool merge_strategy(const Case& mistake) {
    const auto name = between(mistake.text, "Unknown merge strategy: '", "'");
    if (!name) return false;
    // A lookup of a key that has no options does not repeat the error.
    for (const auto& file : data_files_of(mistake, "no_such_key")) {
        auto where = location_in(mistake, file, *name);
        if (where.line == 0) continue;
        mistake.place(mistake.where, "the lookup that read it");
        mistake.out.where = std::move(where);
        break;
    }
    if (!mistake.suggest(*name, {"first", "unique", "hash", "deep", "unconstrained_deep"}))
        mistake.hint("The strategies are first, unique, hash, deep and unconstrained_deep");
    return true;
}

/// Explains a function of hiera.yaml that does not exist.
bool data_function(const Case& mistake) {
    const auto name = between(mistake.text, "' function named '", "'");
    if (!name || mistake.text.find("Unable to find '") == std::string::npos) return false;
    auto where = location_in(mistake, mistake.outer.file, *name);
    if (where.line > 0) mistake.out.where = std::move(where);
    if (!mistake.suggest(*name, {"yaml_data", "json_data", "hocon_data", "eyaml_lookup_key"}))
        mistake.hint(
            "Puppet's functions are yaml_data, json_data, hocon_data and eyaml_lookup_key; others "
            "are in modules");
    return true;
}

/// Explains a missing library that Ruby code of a module requires.
bool missing_library(const Case& mistake) {
    const auto name = between(mistake.text, "cannot load such file -- ", "");
    if (!name) return false;
    std::size_t looked_at = 0;
    constexpr std::size_t kMost = 5000;
    const auto& files = mistake.environment().files();
    const auto walk = [&](const auto& self, const std::string& folder, int depth) -> void {
        for (const auto& entry : files.list(folder)) {
            if (mistake.out.where.known() || depth > 8 || ++looked_at > kMost) return;
            const auto path = folder + "/" + entry;
            if (entry.ends_with(".rb")) {
                for (const char* quote : {"'", "\""}) {
                    auto where =
                        location_in(mistake, path, fmt::format("require {0}{1}{0}", quote, *name));
                    if (where.line == 0) continue;
                    mistake.out.where = std::move(where);
                    break;
                }
            } else if (entry.find('.') == std::string::npos) {
                self(self, path, depth + 1);
            }
        }
    };
    for (const auto& module : mistake.environment().modules()) walk(walk, module.path + "/lib", 0);
    mistake.hint(
        fmt::format("The Ruby that runs code of modules (setting ruby_program) lacks this library. "
                    "Install it with "
                    "gem install, or the package ruby-{}",
                    *name));
    return true;
}

bool configuration(const Case& mistake) {
    const auto key = between(mistake.text, "unrecognized key '", "'");
    const auto file = between(mistake.text, "The Lookup Configuration at '", "'");
    if (!file) return false;
    const auto text = mistake.environment().files().read(*file);
    if (key && text) {
        mistake.suggest(
            *key, {"name", "path", "paths", "glob", "globs", "uri", "uris", "mapped_paths",
                   "datadir", "data_hash", "lookup_key", "data_dig", "hiera3_backend", "options",
                   "version", "defaults", "hierarchy", "default_hierarchy"});
        int line = 0;
        for (const auto one : base::split(*text, '\n')) {
            ++line;
            const auto at = one.find(*key + ":");
            if (at == std::string_view::npos) continue;
            mistake.place(mistake.where, "the lookup that read it");
            mistake.out.where = {*file, line, static_cast<int>(at) + 1};
            break;
        }
    }
    return true;
}

/// "a[b] failed: Recursive lookup detected in [a, b]".
bool recursion(const Case& mistake) {
    const auto keys = between(mistake.text, "Recursive lookup detected in [", "]");
    if (!keys) return false;
    for (const auto part : base::split(*keys, ',')) {
        const std::string key(base::trim(part));
        for (const auto& file : data_files_of(mistake, "lookup_options")) {
            const auto text = mistake.environment().files().read(file);
            if (!text) continue;
            int line = 0;
            for (const auto one : base::split(*text, '\n')) {
                ++line;
                if (one.starts_with(key + ":")) {
                    mistake.place({file, line, 0}, fmt::format("{} looks up the next key", key));
                    break;
                }
            }
        }
    }
    return true;
}

bool template_missing(const Case& mistake) {
    auto name = between(mistake.text, "Could not find template '", "'");
    std::string folder = "templates";
    if (!name) {
        name = between(mistake.text, "Could not find any files from ", "");
        folder = "files";
        if (name)
            if (const auto end = name->find_first_of(" ("); end != std::string::npos)
                name->resize(end);
    }
    if (!name) return false;
    const auto slash = name->find('/');
    if (slash == std::string::npos || slash == 0) {
        mistake.hint("Write the name of a template as MODULE/FILE");
        return true;
    }
    const auto module = name->substr(0, slash);
    const auto* found = mistake.environment().module(module);
    if (!found) {
        std::vector<std::string> modules;
        for (const auto& one : mistake.environment().modules()) modules.push_back(one.name);
        mistake.hint(fmt::format("The modulepath does not contain the module {}", module));
        mistake.suggest(module, modules);
        return true;
    }
    std::vector<std::string> names;
    const auto& files = mistake.environment().files();
    const auto walk = [&](const auto& self, const std::string& path, const std::string& shown,
                          int depth) -> void {
        if (depth > 8 || names.size() > 20000) return;
        for (const auto& entry : files.list(path)) {
            if (entry.starts_with(".")) continue;
            names.push_back(shown + "/" + entry);
            if (entry.find('.') == std::string::npos)
                self(self, path + "/" + entry, shown + "/" + entry, depth + 1);
        }
    };
    walk(walk, found->path + "/" + folder, module, 0);
    mistake.suggest(*name, names);
    mistake.hint(
        fmt::format("The expected path is {}/{}/{}", found->path, folder, name->substr(slash + 1)));
    return true;
}

/// Explains template parameters that do not exist or have no value.
bool template_parameters(const Case& mistake) {
    const auto unknown = between(mistake.text, "has no parameter named '", "'");
    if (!unknown) return false;
    std::vector<std::string> names;
    for (const auto& place : places_in(mistake.text)) {
        if (const auto parsed = tree_of(mistake, place.file))
            if (const auto* lambda = as<LambdaExpression>(parsed->tree->program->body))
                for (const auto* p : lambda->parameters) names.emplace_back(p->name);
    }
    mistake.suggest(*unknown, names);
    return true;
}

}  // namespace

std::string explained_lookup(const Case& mistake, const std::string& key) {
    auto* lookup = dynamic_cast<hiera::Lookup*>(mistake.compilation.request().services.lookup);
    if (!lookup) return {};
    auto& interpreter = mistake.compilation.interpreter();
    hiera::Explainer explainer;
    hiera::Lookup::Question question;
    question.names = {key};
    question.fallback = Value::undef();
    lookup->ask(interpreter, interpreter.top_scope(), question, &explainer);
    return explainer.to_string();
}

bool inline_template(const Case& mistake) {
    if (mistake.where.file != "inlined-epp-text") return false;
    const auto call = place_of(mistake, [](const syntax::Node& node) {
        const auto* function = as<CallNamedFunctionExpression>(&node);
        const auto* name = function ? as<QualifiedName>(function->functor) : nullptr;
        return name && name->value == "inline_epp";
    });
    if (call.line == 0) return false;
    mistake.out.where = call;
    mistake.hint(fmt::format("It is in line {}, column {} of the template's text",
                             mistake.where.line, mistake.where.column));
    return true;
}

bool explain_data(const Case& mistake) {
    return explain_data_files(mistake) || key_not_found(mistake) || interpolation(mistake) ||
           hierarchy_level(mistake) || configuration(mistake) || missing_library(mistake) ||
           merge_strategy(mistake) || data_function(mistake) || recursion(mistake) ||
           template_missing(mistake) || template_parameters(mistake);
}

}  // namespace bunraku::compiler::explaining
