// SPDX-License-Identifier: Apache-2.0
// References to resources and classes, and the parts of URIs that URI types compare.
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/symbol.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/new_instance.h"
#include "language/types/new_uri.h"

namespace bunraku::types {

const Type* resource_type(Context& ctx, std::string_view type_name) {
    return make_resource(ctx, type_name);
}

const Type* resource_ref(Context& ctx, std::string_view type_name, std::string_view title) {
    if (base::same_ignoring_case(type_name, "class")) return class_ref(ctx, title);
    return make_resource(ctx, type_name, title);
}

const Type* class_ref(Context& ctx, std::string_view class_name) {
    return make_class(ctx, base::lower(class_name));
}

std::optional<Reference> as_reference(const Type* t) {
    if (const auto* r = as<ResourceType>(t)) {
        if (r->type_name.empty()) return std::nullopt;
        return Reference{r->type_name, r->title.value_or(std::string_view()), r->title.has_value()};
    }
    if (const auto* c = as<ClassType>(t)) {
        if (!c->class_name) return Reference{"Class", {}, false};
        return Reference{"Class", c->title, true};
    }
    return std::nullopt;
}

Value uri_member(Context& ctx, std::string_view uri, std::string_view member) {
    const UriParts p = UriParts::parse(uri);
    const auto text = [&](const std::optional<std::string>& part) {
        return part ? value::make_string(ctx.arena, *part) : Value::undef();
    };
    if (member == "scheme") return text(p.scheme);
    if (member == "userinfo") return text(p.userinfo);
    if (member == "host") return text(p.host);
    if (member == "path") return text(p.path);
    if (member == "query") return text(p.query);
    if (member == "fragment") return text(p.fragment);
    if (member == "opaque") return text(p.opaque);
    if (member != "port") return Value::undef();
    if (p.port && !p.port->empty()) {
        return Value::integer(
            base::parse_integer<std::int64_t>(std::string_view(*p.port).substr(0, 9)).value_or(0));
    }
    static constexpr std::pair<std::string_view, int> kPorts[] = {
        {"http", 80}, {"https", 443}, {"ftp", 21}, {"ldap", 389}, {"ldaps", 636}};
    for (const auto& [scheme, port] : kPorts)
        if (p.scheme && base::same_ignoring_case(*p.scheme, scheme)) return Value::integer(port);
    return Value::undef();
}

Value uri_parts(Context& ctx, std::string_view uri) {
    const UriParts p = UriParts::parse(uri);
    value::HashBuilder out(ctx.arena);
    const auto set = [&](std::string_view name, const std::optional<std::string>& part,
                         bool empty_counts, bool down) {
        if (!part || (part->empty() && !empty_counts)) return;
        out.set(name, value::make_string(ctx.arena, down ? base::lower(*part) : *part));
    };
    set("scheme", p.scheme, true, true);
    set("userinfo", p.userinfo, true, false);
    set("host", p.host, false, true);
    const Value port = uri_member(ctx, uri, "port");
    const std::string scheme = p.scheme ? base::lower(*p.scheme) : std::string();
    if (port.is_integer() && !(port.as_integer() == 80 && scheme == "http") &&
        !(port.as_integer() == 443 && scheme == "https"))
        out.set("port", value::make_string(ctx.arena, std::to_string(port.as_integer())));
    set("path", p.path, false, false);
    set("query", p.query, true, false);
    set("fragment", p.fragment, true, false);
    set("opaque", p.opaque, true, false);
    return out.size() == 0 ? Value::undef() : out.build();
}

const UriType* make_uri(Context& ctx, const Value& parameters) {
    Value hash = parameters;
    if (parameters.is_string()) {
        hash = uri_parts(ctx, parameters.as_string());
    } else if (parameters.is(value::Kind::Uri)) {
        hash = uri_parts(ctx, parameters.as_string());
    }
    if (!hash.is_hash() || hash.as_hash().empty()) return defaults().uri;
    return ctx.arena.make<UriType>(&hash.as_hash());
}

namespace {

/// Init[T] itself, Optional and NotUndef have no constructors.
std::vector<const TupleType*> new_parameters(Context& ctx, const InitType& init) {
    std::vector<const TupleType*> out;
    const Type* t = init.type;
    const bool excluded =
        is(t, TypeKind::Init) || is(t, TypeKind::Optional) || is(t, TypeKind::NotUndef);
    std::vector<Signature> signatures;
    try {
        if (excluded) throw base::PuppetError("");
        signatures = constructor_signatures(ctx, t);
    } catch (const base::PuppetError&) {
        throw base::PuppetError(
            fmt::format("Creation of new instance of type '{}' is not supported", t->to_string()));
    }
    for (const Signature& s : signatures)
        if (s.type && s.type->params) out.push_back(s.type->params);
    return out;
}

void work_out(Context& ctx, const InitType& init) {
    const std::vector<const TupleType*> tuples = new_parameters(ctx, init);
    std::vector<const Type*> single{init.type}, other;
    bool optional_single = false;
    if (init.args.empty()) {
        for (const TupleType* t : tuples) {
            if (t->size_range() == Range{1, 1} && !t->types.empty()) {
                single.push_back(t->types[0]);
            } else {
                other.push_back(t);
                optional_single = optional_single || t->size_range().min == 1;
            }
        }
    } else {
        std::vector<const Type*> given;
        for (const Value& v : init.args) given.push_back(infer_set(ctx, v));
        const auto count = static_cast<std::int64_t>(given.size()) + 1;
        bool any = false;
        for (const TupleType* t : tuples) {
            if (!t->size_range().contains(count) || t->types.empty()) continue;
            std::vector<const Type*> types{t->types[0]};
            types.insert(types.end(), given.begin(), given.end());
            if (!is_assignable(ctx, t, make_tuple_type(ctx, types))) continue;
            any = true;
            single.push_back(t->types[0]);
        }
        if (!any)
            throw base::PuppetError(fmt::format(
                "The type '{}' does not represent a valid set of parameters for {}.new()",
                init.to_string(), type_name(generalize(ctx, init.type))));
    }
    init.single_type = make_variant(ctx, single);
    if (!other.empty()) {
        init.other_type = make_variant(ctx, other);
        init.has_optional_single = optional_single;
    }
    Guard guard;
    accept(&init, nullptr, [](void*, const Type*) {}, &guard);
    init.self_recursive = guard.recursive_this(&init);
}

}  // namespace

void initialize(Context& ctx, const InitType& init) {
    if (init.initialized) return;
    init.initialized = true;
    init.self_recursive = true;
    try {
        work_out(ctx, init);
    } catch (...) {
        init.initialized = false;
        throw;
    }
}

}  // namespace bunraku::types
