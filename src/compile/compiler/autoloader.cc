// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/autoloader.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/compiler/native_functions.h"
#include "compile/compiler/ruby_functions.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "language/syntax/parser.h"
#include "language/types/factory.h"
#include "language/types/object.h"
#include "language/types/typeset.h"

namespace bunraku::compiler {

const evaluator::Callable* Autoloader::find_function(evaluator::Interpreter& in,
                                                     std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    if (auto it = functions_.find(std::string(name)); it != functions_.end()) return it->second;
    if (const auto* known = definitions_.known_function(name)) {
        const auto* made = in.make_function(*known, in.top_scope());
        functions_.emplace(name, made);
        return made;
    }
    // The order of Puppet's loaders: functions of the 4.x API in Ruby, then in Puppet, then of the
    // 3.x API.
    if (const auto* made = find_ruby_function(in, name, false)) return made;
    auto path = environment_.function_file(name);
    if (!path) return find_ruby_function(in, name, true);
    auto file = environment_.parse_file(*path);
    if (!file) return nullptr;
    kept_files_.push_back(file);
    const syntax::Tree& tree = file->check(in.log());
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
    if (const auto* shared = definitions_.shared_parameters(*definition, definition->parameters,
                                                            definition->return_type, file)) {
        for (std::size_t i = 0; i < definition->parameters.size(); ++i) {
            if (const auto* expr = definition->parameters[i]->type_expr)
                in.remember_type(expr, shared->table.checks[i].type);
        }
        if (definition->return_type) in.remember_type(definition->return_type, shared->returns);
    }
    const auto* made = in.make_function(*definition, in.top_scope());
    functions_.emplace(name, made);
    return made;
}

const evaluator::Callable* Autoloader::find_ruby_function(evaluator::Interpreter& in,
                                                          std::string_view name, bool legacy) {
    auto path = environment_.ruby_function_file(name, legacy);
    if (!path) return nullptr;
    // A built-in function replaces this file only if it is known to give the same results.
    const auto* builtin = in.functions().find(name);
    const auto stands =
        builtin ? native_stands_for(environment_, function::find_stdlib_function(name), *path)
                : NativeSupport::Never;
    if (stands == NativeSupport::Always || !session_) return nullptr;
    const auto* made = stands == NativeSupport::UsualArguments
                           ? make_usual_function(in, *session_, *path, *builtin)
                           : make_ruby_function(in, *session_, *path, name);
    functions_.emplace(name, made);
    return made;
}

/// Returns the definition of the type `key` in its file. Throws if the file defines nothing,
/// something else, or more.
static const syntax::Node& only_type_in(const syntax::Tree& tree, const std::string& path,
                                        const std::string& key) {
    const auto& definitions = tree.program->definitions;
    if (definitions.empty()) {
        throw base::plain_error(fmt::format(
            "The code loaded from {} does not define the type '{}' - it is empty.", path, key));
    }
    if (definitions.size() > 1) {
        throw base::plain_error(
            fmt::format("The code loaded from {} must contain only the type '{}' - "
                        "it has additional definitions.",
                        path, key));
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
                        path, key));
    }
    if (base::lower(actual) != key) {
        throw base::plain_error(
            fmt::format("The code loaded from {} produced type with the wrong "
                        "name, expected '{}', actual '{}'",
                        path, key, actual));
    }
    if (tree.program->body && tree.program->body != node) {
        throw base::plain_error(
            fmt::format("The code loaded from {} contains additional logic - can "
                        "only contain the type '{}'",
                        path, key));
    }
    return *node;
}

// Finds a type inside a TypeSet: A::B::C may be C of A::B, or B::C of A.
const types::Type* Autoloader::find_in_type_set(evaluator::Interpreter& in, std::string_view name) {
    for (auto at = name.rfind("::"); at != std::string_view::npos && at > 0;
         at = name.rfind("::", at - 1)) {
        const types::Type* outer = find_type(in, name.substr(0, at));
        if (const auto* set = types::as<types::TypeSetType>(outer))
            if (const auto* found = set->find(name.substr(at + 2))) return found;
    }
    return nullptr;
}

const types::Type* Autoloader::find_type(evaluator::Interpreter& in, std::string_view name) {
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
    if (const auto* shared = definitions_.shared_alias(key)) {
        type_aliases_.emplace(key, shared);
        return shared;
    }

    if (auto path = environment_.type_file(key)) {
        if (auto file = environment_.parse_file(*path)) {
            kept_files_.push_back(file);
            return define(&only_type_in(file->check(in.log()), *path, key));
        }
    }
    if (const auto* made = find_ruby_data_type(in, key)) {
        type_aliases_.emplace(key, made);
        return made;
    }
    if (const auto* found = find_in_type_set(in, name)) {
        type_aliases_.emplace(key, found);
        return found;
    }
    if (const auto type = types_.find(key)) {
        const auto* made = types::resource_type(ctx, type.name);
        type_aliases_.emplace(key, made);
        return made;
    }
    return nullptr;
}

// Returns the Object type of lib/puppet/datatypes/NAME.rb. Its interface is Puppet text; Ruby runs
// its methods.
const types::Type* Autoloader::find_ruby_data_type(evaluator::Interpreter& in,
                                                   std::string_view key) {
    const auto path = environment_.ruby_data_type_file(key);
    if (!path || !session_) return nullptr;
    environment_.depends_on(*path);
    const auto& info = session_->pool(in).data_type_info(*path, key, &session_->host(in));
    templates::note_reads(environment_, info.reads);
    if (downcase(in.arena(), info.name) != key) {
        throw base::PuppetError(
            fmt::format("The code loaded from {} produced type with the wrong "
                        "name, expected '{}', actual '{}'",
                        *path, key, info.name));
    }
    using Tree = std::shared_ptr<const syntax::Tree>;
    const auto& tree = *in.arena().own(
        std::make_unique<Tree>(syntax::parse(*path, fmt::format("{{{}}}", info.interface_text))));
    return types::make_type_definition(in.types(), in.arena().copy(info.name), tree->program->body);
}

std::optional<Value> Autoloader::call_member(evaluator::Interpreter& in, Scope& scope,
                                             const Value& receiver, std::string_view name,
                                             std::span<const Value> args) {
    const auto* object = types::as_object(receiver);
    if (!object || object->type()->name.empty()) return std::nullopt;
    const auto key = downcase(in.arena(), object->type()->name);
    const auto path = environment_.ruby_data_type_file(key);
    if (!path || !session_) return std::nullopt;
    const auto& info = session_->pool(in).data_type_info(*path, key, &session_->host(in));
    if (std::find(info.methods.begin(), info.methods.end(), name) == info.methods.end())
        return std::nullopt;
    templates::RubyCallbacks callbacks(*session_, in, scope);
    value::HashBuilder attributes(in.arena());
    for (const auto* member : object->type()->all_attributes()) {
        if (member->kind == types::AttributeKind::Derived) continue;
        if (auto v = types::object_attribute(in.types(), receiver, member->name))
            attributes.set(member->name, *v);
    }
    return session_->host(in).call_method(info, attributes.build(), name, args, callbacks,
                                          in.arena());
}

}  // namespace bunraku::compiler
