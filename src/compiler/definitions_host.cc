// Functions, types and class scopes by name: the autoloader (evaluator::DefinitionHost).
#include <fmt/format.h>

#include "base/plain_error.h"
#include "base/text.h"
#include "compiler/compilation.h"
#include "compiler/native_functions.h"
#include "compiler/ruby_functions.h"
#include "types/factory.h"
#include "types/object.h"
#include "types/typeset.h"

namespace bunraku::compiler {

const evaluator::Callable* Compilation::find_function(evaluator::Interpreter& in,
                                                      std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    if (auto it = functions_.find(std::string(name)); it != functions_.end()) return it->second;
    if (const auto* known = definitions_.known_function(name)) {
        const auto* made = in.make_function(*known, in.top_scope());
        functions_.emplace(name, made);
        return made;
    }
    // As Puppet's loaders: functions of the 4.x API in Ruby, then in Puppet, then of the 3.x API.
    if (const auto* made = find_ruby_function(in, name, false)) return made;
    auto path = request_.environment->function_file(name);
    if (!path) return find_ruby_function(in, name, true);
    auto file = request_.environment->parse_file(*path);
    if (!file) return nullptr;
    kept_files_.push_back(file);
    const syntax::Tree& tree = file->check(log());
    const auto& definitions = tree.program->definitions;
    if (definitions.empty()) {
        throw base::plain_error(
            fmt::format("The code loaded from {} does not define the function '{}' - it is empty.",
                        *path, name));
    }
    if (definitions.size() > 1) {
        throw base::plain_error(
            fmt::format("The code loaded from {} must contain only the function '{}' - it "
                        "has additional definitions.",
                        *path, name));
    }
    const auto* definition = syntax::as<syntax::FunctionDefinition>(definitions[0]);
    if (!definition) {
        throw base::plain_error(
            fmt::format("The code loaded from {} does not define the function '{}' - no "
                        "function found.",
                        *path, name));
    }
    if (definition->name != name) {
        throw base::plain_error(
            fmt::format("The code loaded from {} produced function with the wrong name, "
                        "expected {}, actual {}",
                        *path, name, definition->name));
    }
    if (tree.program->body && tree.program->body != definition) {
        throw base::plain_error(
            fmt::format("The code loaded from {} contains additional logic - can only "
                        "contain the function {}",
                        *path, name));
    }
    const auto* made = in.make_function(*definition, in.top_scope());
    functions_.emplace(name, made);
    return made;
}

const evaluator::Callable* Compilation::find_ruby_function(evaluator::Interpreter& in,
                                                           std::string_view name, bool legacy) {
    auto path = request_.environment->ruby_function_file(name, legacy);
    if (!path) return nullptr;
    // Only what is known to answer as this very file does is answered without it.
    if (in.functions().find(name) &&
        native_stands_for(*request_.environment, function::find_stdlib_function(name), *path))
        return nullptr;
    auto* session = templates::RubySession::of(in);
    if (!session) return nullptr;
    const auto* made = make_ruby_function(in, *session, *path, name);
    functions_.emplace(name, made);
    return made;
}

const types::Type* Compilation::find_type(evaluator::Interpreter& in, std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    std::string key = base::lower(name);
    if (auto it = type_aliases_.find(key); it != type_aliases_.end()) return it->second;
    auto& ctx = in.types();
    auto define = [&](const syntax::Node* node) -> const types::Type* {
        const types::Type* made = nullptr;
        if (const auto* alias = syntax::as<syntax::TypeAlias>(node)) {
            made = types::make_type_definition(ctx, alias->name, alias->type_expr);
        } else if (const auto* definition = syntax::as<syntax::TypeDefinition>(node)) {
            made = types::make_type_definition(ctx, definition->name, definition->body);
        }
        if (made) type_aliases_.emplace(key, made);
        return made;
    };
    if (const auto* node = definitions_.known_type(key)) return define(node);

    if (auto path = request_.environment->type_file(key)) {
        auto file = request_.environment->parse_file(*path);
        if (file) {
            kept_files_.push_back(file);
            const syntax::Tree& tree = file->check(log());
            const auto& definitions = tree.program->definitions;
            if (definitions.empty()) {
                throw base::plain_error(fmt::format(
                    "The code loaded from {} does not define the type '{}' - it is empty.", *path,
                    key));
            }
            if (definitions.size() > 1) {
                throw base::plain_error(
                    fmt::format("The code loaded from {} must contain only the type '{}' - "
                                "it has additional definitions.",
                                *path, key));
            }
            const syntax::Node* node = definitions[0];
            std::string_view actual;
            if (const auto* alias = syntax::as<syntax::TypeAlias>(node)) {
                actual = alias->name;
            } else if (const auto* definition = syntax::as<syntax::TypeDefinition>(node)) {
                actual = definition->name;
            } else {
                throw base::plain_error(
                    fmt::format("The code loaded from {} does not define the type '{}' - "
                                "no type alias or type definition found.",
                                *path, key));
            }
            if (base::lower(actual) != key) {
                throw base::plain_error(
                    fmt::format("The code loaded from {} produced type with the wrong "
                                "name, expected '{}', actual '{}'",
                                *path, key, actual));
            }
            if (tree.program->body && tree.program->body != node) {
                throw base::plain_error(
                    fmt::format("The code loaded from {} contains additional logic - can "
                                "only contain the type '{}'",
                                *path, key));
            }
            return define(node);
        }
    }
    if (const auto* made = find_ruby_data_type(in, key)) {
        type_aliases_.emplace(key, made);
        return made;
    }
    // A type inside a TypeSet: A::B::C may be C of A::B, or B::C of A.
    for (auto at = key.rfind("::"); at != std::string::npos && at > 0;
         at = key.rfind("::", at - 1)) {
        const types::Type* outer = find_type(in, std::string_view(name).substr(0, at));
        if (const auto* set = types::as<types::TypeSetType>(outer)) {
            if (const auto* found = set->find(std::string_view(name).substr(at + 2))) {
                type_aliases_.emplace(key, found);
                return found;
            }
        }
        if (at == 0) break;
    }
    if (find_resource_type(key)) {
        const auto* made = types::resource_type(ctx, find_resource_type(key).name);
        type_aliases_.emplace(key, made);
        return made;
    }
    return nullptr;
}

Scope* Compilation::class_scope(std::string_view class_name) {
    if (class_name.starts_with("::")) class_name.remove_prefix(2);
    if (class_name == "settings" && settings_scope_) {
        populate_settings();
        return settings_scope_;
    }
    if (auto it = class_scopes_.find(class_name); it != class_scopes_.end()) return it->second;
    return nullptr;
}

}  // namespace bunraku::compiler
