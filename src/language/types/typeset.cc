// SPDX-License-Identifier: Apache-2.0
#include "language/types/typeset.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "language/syntax/ast.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object_internal.h"
#include "language/types/rich_data.h"

namespace bunraku::types {

using base::PuppetError;
using value::HashBuilder;
using value::HashRep;

namespace {

constexpr std::string_view kRuntimeAuthority = "http://puppet.com/2016.1/runtime";

std::string_view text_of(const HashRep& hash, std::string_view key) {
    const Value* v = hash.find(key);
    return v != nullptr && v->is_string() ? v->as_string() : std::string_view();
}

base::SemVer version_of(const Value& v) {
    if (v.is(value::Kind::SemVer)) return v.as_semver();
    if (auto parsed = base::SemVer::parse(v.as_string())) return *parsed;
    throw PuppetError(
        fmt::format("Unable to parse '{}' as a semantic version identifier", v.as_string()));
}

base::SemVerRange version_range_of(const Value& v) {
    if (v.is(value::Kind::SemVerRange)) return v.as_semver_range();
    if (auto parsed = base::SemVerRange::parse(v.as_string())) return *parsed;
    throw PuppetError(fmt::format("Unparsable version range: \"{}\"", v.as_string()));
}

bool bounds_meet(const base::SemVerRange::Part& a, const base::SemVerRange::Part& b) {
    const auto below = [](const base::SemVerRange::Part& x, const base::SemVerRange::Part& y) {
        if (!x.max || !y.min) return false;
        return *x.max < *y.min || (*x.max == *y.min && (x.exclude_max || y.exclude_min));
    };
    return !a.none && !b.none && !below(a, b) && !below(b, a);
}

bool overlap(const base::SemVerRange& a, const base::SemVerRange& b) {
    return std::ranges::any_of(a.parts, [&b](const auto& x) {
        return std::ranges::any_of(b.parts, [&x](const auto& y) { return bounds_meet(x, y); });
    });
}

/// Finds the names of a set's types within the set first.
struct SetLoader final : Loader {
    const TypeSetType* set;
    Loader* next;
    SetLoader(const TypeSetType* s, Loader* n) : set(s), next(n) {}
    const Type* find_type(std::string_view name) override {
        if (const Type* t = set->find(name)) return t;
        if (name.size() > set->name.size() + 2 && name.starts_with(set->name) &&
            name.substr(set->name.size(), 2) == "::") {
            if (const Type* t = set->find(name.substr(set->name.size() + 2))) return t;
        }
        return next != nullptr ? next->find_type(name) : nullptr;
    }
};

const syntax::KeyedEntry* entry_of(base::Arena& arena, std::string_view key,
                                   const syntax::Node* v) {
    auto* name = arena.make<syntax::LiteralString>();
    name->value = key;
    name->source = v->source;
    name->offset = v->offset;
    auto* entry = arena.make<syntax::KeyedEntry>();
    entry->key = name;
    entry->value = v;
    return entry;
}

/// Makes an Object type with a parent from `Car => Vehicle { attributes => {..} }`.
const Type* defined_by_defaults(Context& ctx, std::string_view name,
                                const syntax::ResourceDefaultsExpression& expr) {
    std::vector<const syntax::KeyedEntry*> entries;
    if (expr.type_ref->kind == syntax::NodeKind::QualifiedReference) {
        const std::string_view parent =
            static_cast<const syntax::QualifiedReference*>(expr.type_ref)->cased_value;
        if (parent != "Object" && parent != "TypeSet") {
            entries.push_back(entry_of(ctx.arena, "parent", expr.type_ref));
        }
    }
    for (const syntax::Node* n : expr.operations) {
        if (n->kind != syntax::NodeKind::AttributeOperation) continue;
        const auto& op = *static_cast<const syntax::AttributeOperation*>(n);
        entries.push_back(entry_of(ctx.arena, op.attribute_name, op.value_expr));
    }
    auto* hash = ctx.arena.make<syntax::LiteralHash>();
    hash->source = expr.source;
    hash->offset = expr.offset;
    hash->length = expr.length;
    hash->entries = ctx.arena.copy(entries);
    return make_type_definition(ctx, name, hash);
}

}  // namespace

TypeSetType::TypeSetType(Context& ctx, std::string_view n, const syntax::Node* definition,
                         std::string_view)
    : OpenType(kKind), name(n), arena_(&ctx.arena), loader_(ctx.loader), definition_(definition) {}

TypeSetType::TypeSetType(Context& ctx, std::string_view n, const HashRep* definition,
                         std::string_view)
    : OpenType(kKind),
      name(n),
      arena_(&ctx.arena),
      loader_(ctx.loader),
      hash_(definition),
      default_(definition == nullptr) {
    if (definition != nullptr) hold(definition->depth);
}

const TypeSetType::Body& TypeSetType::body() const {
    if (!resolved_ && !resolving_) resolve_now();
    return *body_;
}

void TypeSetType::resolve(Context&) const { body(); }

void TypeSetType::resolve_now() const {
    body_ = arena_->own(std::make_unique<Body>());
    resolving_ = true;
    Context ctx{*arena_, loader_};
    try {
        if (!default_) {
            const HashRep hash = definition_ != nullptr ? read_definition(ctx) : *hash_;
            const HashRep* kept = arena_->make<HashRep>(hash);
            init_from_hash(ctx, *kept);
            resolved_ = true;
            for (Reference& r : body_->references) {
                const std::string label =
                    fmt::format("TypeSet '{}' reference to TypeSet named '{}'", name, r.name);
                const Type* found = loader_ != nullptr ? loader_->find_type(r.name) : nullptr;
                if (found == nullptr) throw PuppetError(label + " cannot be resolved");
                const auto* set = as<TypeSetType>(found);
                if (set == nullptr) {
                    throw PuppetError(
                        fmt::format("{} resolves to a {}", label, types::type_name(found)));
                }
                const std::string& version = set->body().version;
                const auto parsed = base::SemVer::parse(version);
                if (!parsed || !r.range.includes(*parsed)) {
                    throw PuppetError(
                        fmt::format("{} resolves to an incompatible version. Expected {}, got {}",
                                    label, r.range.to_string(), version));
                }
                r.type_set = set;
            }
            for (const Named& n : body_->types) {
                if (const OpenType* open = as_open(n.type)) open->resolve(ctx);
                if (n.type->kind == TypeKind::TypeAlias) types::resolve(ctx, n.type);
            }
        } else {
            body_->pcore_version = "1.0.0";
            body_->version = "0.0.0";
            resolved_ = true;
        }
    } catch (...) {
        resolving_ = false;
        resolved_ = false;
        throw;
    }
    resolving_ = false;
}

/// Returns the definition as a hash. The right sides in "types" are represented by unresolved
/// types, which are resolved only after all names of the set are known.
HashRep TypeSetType::read_definition(Context& ctx) const {
    const syntax::Node* node = definition_;
    if (node->kind != syntax::NodeKind::LiteralHash) {
        const Value v = interpret_any(ctx, node);
        if (v.is_hash()) return v.as_hash();
        return HashBuilder(*arena_).build().as_hash();
    }
    HashBuilder out(*arena_);
    Context inner{*arena_, arena_->own(std::make_unique<SetLoader>(this, loader_))};
    const auto key_text = [&](const syntax::Node* key) -> Value {
        if (key->kind == syntax::NodeKind::QualifiedReference) {
            return Value::string(static_cast<const syntax::QualifiedReference*>(key)->cased_value);
        }
        return interpret_any(ctx, key);
    };
    for (const syntax::KeyedEntry* entry : static_cast<const syntax::LiteralHash*>(node)->entries) {
        const Value key = interpret_any(ctx, entry->key);
        const bool is_types = key.is_string() && key.as_string() == "types";
        const bool is_references = key.is_string() && key.as_string() == "references";
        if ((!is_types && !is_references) || entry->value->kind != syntax::NodeKind::LiteralHash) {
            out.set(key, interpret_any(ctx, entry->value));
            continue;
        }
        HashBuilder inside(*arena_);
        for (const syntax::KeyedEntry* e :
             static_cast<const syntax::LiteralHash*>(entry->value)->entries) {
            const Value n = key_text(e->key);
            if (is_references || !n.is_string()) {
                inside.set(n, interpret_any(ctx, e->value));
                continue;
            }
            const std::string full = fmt::format("{}::{}", name, n.as_string());
            const syntax::Node* expr = e->value;
            const Type* type = nullptr;
            if (expr->kind == syntax::NodeKind::ResourceDefaultsExpression) {
                type = defined_by_defaults(
                    inner, full, *static_cast<const syntax::ResourceDefaultsExpression*>(expr));
            } else {
                type = make_type_definition(inner, full, expr);
            }
            inside.set(n, Value::type(type));
        }
        out.set(key, inside.build());
    }
    return out.build().as_hash();
}

void TypeSetType::init_from_hash(Context& ctx, const HashRep& hash) const {
    check_instance(ctx, "TypeSet initializer", definition_types().type_set, Value::hash(&hash));
    Body& b = *body_;
    if (name.empty()) const_cast<TypeSetType*>(this)->name = ctx.arena.copy(text_of(hash, "name"));
    b.name_authority = text_of(hash, "name_authority");
    if (b.name_authority.empty()) b.name_authority = kRuntimeAuthority;
    const base::SemVer pcore = version_of(*hash.find("pcore_version"));
    b.pcore_version = pcore.to_string();
    if (!base::SemVerRange::parse("1.x")->includes(pcore)) {
        throw PuppetError(
            fmt::format("The pcore version for TypeSet '{}' is not understood by this "
                        "runtime. Expected range 1.x, got {}",
                        name, b.pcore_version));
    }
    if (const Value* uri = hash.find("pcore_uri")) b.pcore_uri = *uri;
    if (const Value* v = hash.find("version"); v != nullptr && !v->is_undef()) {
        b.version = version_of(*v).to_string();
    }
    if (const Value* annotations = hash.find("annotations")) b.annotations = *annotations;
    Context inner{*arena_, arena_->own(std::make_unique<SetLoader>(this, loader_))};
    if (const Value* types = hash.find("types"); types != nullptr && types->is_hash()) {
        for (const value::Entry& e : types->as_hash()) {
            const Type* type = nullptr;
            if (e.value.is_hash()) {
                const std::string full = fmt::format("{}::{}", name, e.key.as_string());
                type = arena_->make<ObjectType>(inner, arena_->copy(full), &e.value.as_hash());
            } else {
                type = e.value.as_type();
                if (type->kind != TypeKind::TypeAlias && definition_ == nullptr) {
                    const std::string full = fmt::format("{}::{}", name, e.key.as_string());
                    TypeAliasType* alias = make_type_alias(inner, full, nullptr, inner.loader);
                    alias->resolved = type;
                    type = alias;
                }
            }
            b.types.push_back({arena_->copy(e.key.as_string()), type});
        }
    }
    const Value* references = hash.find("references");
    if (references == nullptr || !references->is_hash()) return;
    for (const value::Entry& e : references->as_hash()) {
        const HashRep& spec = e.value.as_hash();
        Reference r;
        r.alias = arena_->copy(e.key.as_string());
        r.name = arena_->copy(text_of(spec, "name"));
        r.name_authority = text_of(spec, "name_authority");
        if (r.name_authority.empty()) r.name_authority = b.name_authority;
        r.range = version_range_of(*spec.find("version_range"));
        if (const Value* annotations = spec.find("annotations")) r.annotations = *annotations;
        for (const Reference& other : b.references) {
            if (other.name == r.name && other.name_authority == r.name_authority &&
                overlap(other.range, r.range)) {
                throw PuppetError(
                    fmt::format("TypeSet '{}' references TypeSet '{}/{}' more than once using "
                                "overlapping version ranges",
                                name, r.name_authority, r.name));
            }
        }
        if (std::ranges::find(b.types, r.alias, &Named::name) != b.types.end()) {
            throw PuppetError(
                fmt::format("TypeSet '{}' references a TypeSet using alias '{}'. The alias "
                            "collides with the name of a declared type",
                            name, r.alias));
        }
        b.references.push_back(std::move(r));
    }
}

const Type* TypeSetType::find(std::string_view type) const {
    const Body& b = body();
    const std::string lower = base::lower(type);
    for (const Named& n : b.types) {
        if (n.name == type || base::lower(n.name) == lower) return n.type;
    }
    const auto colon = type.find("::");
    const std::string first = lower.substr(0, colon);
    for (const Reference& r : b.references) {
        if (base::lower(r.alias) != first || r.type_set == nullptr) continue;
        return colon == std::string_view::npos ? r.type_set
                                               : r.type_set->find(type.substr(colon + 2));
    }
    return nullptr;
}

Value TypeSetType::init_hash(base::Arena& arena) const {
    const Body& b = body();
    HashBuilder out(arena);
    if (!b.annotations.is_undef()) out.set("annotations", b.annotations);
    if (!b.pcore_uri.is_undef()) out.set("pcore_uri", b.pcore_uri);
    out.set("pcore_version", value::make_string(arena, b.pcore_version));
    if (!b.name_authority.empty()) out.set("name_authority", Value::string(b.name_authority));
    out.set("name", Value::string(name));
    if (!b.version.empty()) out.set("version", value::make_string(arena, b.version));
    if (!b.types.empty()) {
        HashBuilder types(arena);
        for (const Named& n : b.types) types.set(n.name, Value::type(n.type));
        out.set("types", types.build());
    }
    if (!b.references.empty()) {
        HashBuilder references(arena);
        for (const Reference& r : b.references) {
            HashBuilder one(arena);
            if (!r.annotations.is_undef()) one.set("annotations", r.annotations);
            if (r.name_authority != b.name_authority) {
                one.set("name_authority", Value::string(r.name_authority));
            }
            one.set("name", Value::string(r.name));
            one.set("version_range", value::make_string(arena, r.range.to_string()));
            references.set(r.alias, one.build());
        }
        out.set("references", references.build());
    }
    return out.build();
}

bool TypeSetType::is_instance_of(Context&, const Value& v, Guard*) const {
    return v.is_type() && v.as_type()->kind == TypeKind::TypeSet;
}

bool TypeSetType::is_assignable_from(Context&, const Type* from, Guard*) const {
    return from->kind == TypeKind::TypeSet && (default_ || equal_type(*from));
}

bool TypeSetType::equal_type(const Type& other) const {
    if (this == &other) return true;
    const auto* o = as<TypeSetType>(&other);
    return o != nullptr && name == o->name && default_ == o->default_ &&
           body().name_authority == o->body().name_authority && body().version == o->body().version;
}

std::uint64_t TypeSetType::hash_type() const { return value::hash_of(Value::string(name)) ^ 0x75; }

void TypeSetType::print_type(std::string& out, bool expanded) const {
    base::Arena arena(1024);
    out += "TypeSet[{";
    const Value hash = default_ ? HashBuilder(arena).build() : init_hash(arena);
    if (default_) {
        out +=
            "pcore_uri => 'http://puppet.com/2016.1/pcore', pcore_version => '1.0.0', "
            "name_authority => 'http://puppet.com/2016.1/runtime', name => 'DefaultTypeSet', "
            "version => '0.0.0'";
    }
    for (const value::Entry& e : hash.as_hash()) {
        if (&e != hash.as_hash().begin()) out += ", ";
        const std::string_view key = e.key.as_string();
        out += key;
        out += " => ";
        if (key != "types" && key != "references") {
            print_formatted(out, e.value);
            continue;
        }
        out += '{';
        for (const value::Entry& t : e.value.as_hash()) {
            if (&t != e.value.as_hash().begin()) out += ", ";
            out += t.key.as_string();
            out += " => ";
            if (key == "types" && expanded) {
                if (const ObjectType* object = as_object_type(t.value.as_type())) {
                    print_object_hash(out, object->init_hash(arena, false).as_hash());
                    continue;
                }
                if (const auto* alias = as<TypeAliasType>(t.value.as_type());
                    alias != nullptr && alias->resolved != nullptr) {
                    print_formatted(out, Value::type(alias->resolved));
                    continue;
                }
            }
            print_formatted(out, t.value);
        }
        out += '}';
    }
    out += "}]";
}

const Type* TypeSetType::parameterized(Context& ctx, std::span<const Value> args) const {
    if (!default_) {
        throw PuppetError(fmt::format("The TypeSet '{}' cannot be parameterized using []", name));
    }
    if (args.size() != 1 || !args[0].is_hash()) {
        check_instance(ctx, "TypeSet initializer", definition_types().type_set,
                       args.empty() ? Value::undef() : args[0]);
    }
    const auto* set = ctx.arena.make<TypeSetType>(ctx, std::string_view(), &args[0].as_hash());
    set->body();
    return set;
}

Value TypeSetType::to_rich_data(base::Arena& arena) const { return type_to_rich_data(this, arena); }

const TypeSetType* type_set_default() {
    static base::Arena* arena = immortal_arena(256);
    static const TypeSetType* type = [] {
        Context ctx{*arena, nullptr};
        const auto* made = arena->make<TypeSetType>(ctx, std::string_view("DefaultTypeSet"),
                                                    static_cast<const HashRep*>(nullptr));
        made->body();
        return made;
    }();
    return type;
}

const OpenType* default_type_set_type() { return type_set_default(); }

}  // namespace bunraku::types
