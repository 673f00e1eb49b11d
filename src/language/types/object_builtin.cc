// SPDX-License-Identifier: Apache-2.0
// The predefined Object types: Deferred, Error and others.
#include <string>
#include <unordered_set>

#include "core/base/text.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object_internal.h"

namespace bunraku::types {

namespace {

struct Attribute {
    std::string_view name, type;
    bool optional = false;  ///< True if it defaults to undef.
};
struct Definition {
    std::string_view name, parent;
    std::vector<Attribute> attributes, type_parameters, functions;
};

const std::vector<Definition>& definitions() {
    static constexpr std::string_view kErrorParameter =
        "Optional[Variant[String,Regexp,Type[Enum],Type[Pattern],Type[NotUndef],Type[Undef]]]";
    static const auto* list = new std::vector<Definition>{
        {.name = "Annotation"},
        {.name = "Pcore"},
        {.name = "Deferred",
         .attributes = {{"name", R"(Pattern[/\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z/])"},
                        {"arguments", "Optional[Array[Any]]", true}}},
        {.name = "Error",
         .attributes = {{"msg", "String[1]"},
                        {"kind", "Optional[String[1]]", true},
                        {"details", "Optional[Hash[String[1],Data]]", true},
                        {"issue_code", "Optional[String[1]]", true}},
         .type_parameters = {{"kind", kErrorParameter}, {"issue_code", kErrorParameter}},
         .functions = {{"message", "Callable[[0,0], String[1]]"}}},
        {.name = "Task",
         .attributes = {{"name", R"(Pattern[/\A[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z/])"},
                        {"files", "Array[Struct[{name => String, path => String}]]"},
                        {"metadata", "Hash[String, Any]"},
                        {"parameters", R"(Optional[Hash[Pattern[/\A[a-z][a-z0-9_]*\z/], Type]])",
                         true}}},
        {.name = "Puppet::LookupContext",
         .attributes = {{"module_name", "Variant[String[1],Undef]"}}},
    };
    return *list;
}

const ObjectType* build(const Definition& definition, base::Arena& arena) {
    Context ctx{arena, nullptr};
    const auto members = [&](const std::vector<Attribute>& list, bool bare) {
        value::HashBuilder out(arena);
        for (const Attribute& a : list) {
            const Value type = Value::type(parse_type(ctx, a.type));
            if (bare) {
                out.set(a.name, type);
                continue;
            }
            value::HashBuilder one(arena);
            one.set("type", type);
            if (a.optional) one.set("value", Value::undef());
            out.set(a.name, one.build());
        }
        return out.build();
    };
    value::HashBuilder hash(arena);
    if (!definition.type_parameters.empty()) {
        hash.set("type_parameters", members(definition.type_parameters, true));
    }
    if (!definition.attributes.empty())
        hash.set("attributes", members(definition.attributes, false));
    if (!definition.functions.empty()) hash.set("functions", members(definition.functions, true));
    // The type of definition hashes refers to Annotation itself. A definition without members has
    // an empty hash, so that checking it does not require Annotation.
    const Value init = hash.build();
    const auto* type = arena.make<ObjectType>(ctx, definition.name, &init.as_hash());
    return type;
}

struct Builtin {
    std::string_view name;
    const ObjectType* type;
};

const std::vector<Builtin>& builtins() {
    static const auto* list = [] {
        auto* arena = immortal_arena(8192);
        auto* made = new std::vector<Builtin>;
        for (const Definition& d : definitions()) made->push_back({d.name, build(d, *arena)});
        return made;
    }();
    return *list;
}

}  // namespace

bool& making_predefined() {
    static thread_local bool making = false;
    return making;
}

const ObjectType* predefined_object(std::string_view name) {
    // The types are resolved before other code can access them, because threads share them. During
    // resolution they are returned unresolved.
    if (!making_predefined()) {
        static const bool ready = [] {
            making_predefined() = true;
            definition_types();
            for (const Builtin& b : builtins()) b.type->shape();
            making_predefined() = false;
            return true;
        }();
        (void)ready;
    }
    for (const Builtin& b : builtins()) {
        if (b.name == name) return b.type;
    }
    return nullptr;
}

namespace {

/// Reports whether builtin_object_type knows the name. Most names that it receives are not
/// predefined.
bool is_builtin_object(std::string_view name) {
    static const auto* names = [] {
        auto* made =
            new std::unordered_set<std::string>{"pcore::simpletypename", "pcore::membername",
                                                "pcore::typename", "pcore::qref", "pcore::uri"};
        for (const Definition& d : definitions()) made->insert(base::lower(d.name));
        return made;
    }();
    return names->contains(base::lower(name));
}

}  // namespace

const Type* builtin_object_type(std::string_view name) {
    if (!is_builtin_object(name)) return nullptr;
    for (const Definition& d : definitions()) {
        // Task exists only with the setting `tasks`, which the loader of types checks.
        if (d.name == "Task") continue;
        if (base::same_ignoring_case(d.name, name)) return predefined_object(d.name);
    }
    static const auto* aliases = [] {
        auto* arena = immortal_arena(4096);
        Context ctx{*arena, nullptr};
        auto* made = new std::vector<std::pair<std::string_view, const Type*>>;
        const auto add = [&](std::string_view alias_name, std::string_view text) {
            TypeAliasType* alias = make_type_alias(ctx, alias_name, nullptr);
            alias->resolved = parse_type(ctx, text);
            made->push_back({alias->name, alias});
        };
        add("Pcore::SimpleTypeName", R"(Pattern[/\A[A-Z]\w*\z/])");
        add("Pcore::MemberName", R"(Pattern[/\A[a-z_]\w*\z/])");
        add("Pcore::TypeName", R"(Pattern[/\A[A-Z]\w*(?:::[A-Z]\w*)*\z/])");
        add("Pcore::QRef", R"(Pattern[/\A[A-Z]\w*(?:::[A-Z]\w*)*\z/])");
        add("Pcore::URI", R"(Pattern[/\A[A-Za-z][A-Za-z0-9+.-]*:[^\s]*\z/])");
        return made;
    }();
    for (const auto& [known, type] : *aliases) {
        if (base::same_ignoring_case(known, name)) return type;
    }
    return nullptr;
}

}  // namespace bunraku::types
