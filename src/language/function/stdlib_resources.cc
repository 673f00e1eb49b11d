// SPDX-License-Identifier: Apache-2.0
// stdlib's functions for resources: ensure_packages, ensure_resource, getparam and similar
// functions.
#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"
#include "language/types/kinds.h"

namespace bunraku::function {
namespace {

evaluator::CatalogHost& catalog(const Call& call, std::string_view name) {
    auto* host = call.interpreter.hosts().catalog;
    if (!host) argument_error("{}() needs a catalog to act on", name);
    return *host;
}

std::string capitalize_type(std::string_view name) {
    std::string out(name);
    bool first = true;
    for (char& c : out) {
        c = first ? base::upper(c) : base::lower(c);
        first = c == ':';
    }
    return out;
}

struct Reference {
    std::string type, title;
};

/// Splits "Type[title]" into its two parts. Throws Puppet's error for any other text.
Reference parse_reference(std::string_view s) {
    const std::size_t open = s.find('[');
    const bool valid = open != std::string_view::npos && open > 0 && s.ends_with(']') &&
                       s.size() > open + 2 && s.substr(0, open).find(']') == s.npos;
    if (!valid)
        argument_error("No title provided and {} is not a valid resource reference",
                       inspect_string(s));
    return {capitalize_type(s.substr(0, open)),
            std::string(s.substr(open + 1, s.size() - open - 2))};
}

/// Returns the resource that a text or reference denotes. Returns nullopt if the value is neither.
std::optional<Reference> reference_of(const Value& v) {
    if (v.is_string()) return parse_reference(v.as_string());
    const auto ref = v.is_type() ? types::as_reference(v.as_type()) : std::nullopt;
    if (!ref) return std::nullopt;
    return Reference{std::string(ref->type_name), std::string(ref->title)};
}

}  // namespace

bool defined_with_params(const Call& call, std::string_view type, std::string_view title,
                         const value::HashRep* params) {
    auto& host = catalog(call, "defined_with_params");
    std::vector<std::string_view> titles;
    if (title.empty())
        titles = host.declared_titles(type);
    else if (host.resource_declared(type, title))
        titles.push_back(title);
    // The resource that contains the call does not count.
    const std::string own = host.scope_label(call.scope);
    for (const std::string_view t : titles) {
        if (own == "Scope(" + host.declared_reference(type, t) + ")") continue;
        bool all = true;
        if (params) {
            for (const auto& e : *params) {
                const Value set = host.declared_parameter(type, t, ruby_to_s(e.key));
                all = all && (set.is_undef() ? e.value.is_undef() : ruby_equal(set, e.value));
            }
        }
        if (all) return true;
    }
    return false;
}

namespace {

Value defined_with_params_(const Call& call) {
    if (call.size() == 0 || !call[0].truthy()) argument_error("Must specify a reference");
    const auto ref = reference_of(call[0]);
    if (!ref) argument_error("Reference is not understood: '{}'", ruby_class(call[0]));
    const Value params = call.at(1);
    return Value::boolean(defined_with_params(call, ref->type, ref->title,
                                              params.is_hash() ? &params.as_hash() : nullptr));
}

Value getparam(const Call& call) {
    if (call.size() == 0 || !call[0].truthy()) argument_error("Must specify a reference");
    if (!call.at(1).is_string()) argument_error("Must specify name of a parameter");
    if (call[1].as_string().empty()) return Value::string("");
    const auto ref = reference_of(call[0]);
    if (!ref) return Value::string("");
    auto& host = catalog(call, "getparam");
    const Value v = host.declared_parameter(ref->type, ref->title, call[1].as_string());
    return v.is_undef() ? Value::string("") : v;
}

std::string type_argument(const Call& call) {
    if (call.size() == 0 || !call[0].truthy()) argument_error("Must specify a type");
    if (!call.at(1).truthy()) argument_error("Must specify a title");
    return call[0].is_type() ? call[0].as_type()->to_string() : ruby_to_s(call[0]);
}

/// Declares `type { title: params }` unless it is already declared with the same parameters.
void ensure_one(const Call& call, const std::string& type, const Value& title,
                const Value& params) {
    const std::string name = ruby_to_s(title);
    const Reference ref = parse_reference(type + "[" + name + "]");
    if (defined_with_params(call, ref.type, ref.title,
                            params.is_hash() ? &params.as_hash() : nullptr))
        return;
    value::HashBuilder resource(call.arena());
    // A numeric title remains a number: such a title does not become a tag, and its text is the
    // resource's name.
    const bool number = title.is_integer() || title.is_float();
    resource.set(number ? title : text(call, name), params);
    const Value args[] = {text(call, type), resource.build()};
    call.interpreter.call_function("create_resources", args, call.scope, nullptr, call.site);
}

void ensure_many(const Call& call, const std::string& type, const Value& titles,
                 const Value& params) {
    std::vector<Value> flat;
    flatten_into(flat, std::span(&titles, 1));
    for (const Value& title : flat) ensure_one(call, type, title, params);
}

Value ensure_resource(const Call& call) {
    const std::string type = type_argument(call);
    const Value params = call.at(2).truthy() ? call[2] : value::HashBuilder(call.arena()).build();
    ensure_many(call, type, call[1], params);
    return Value::undef();
}

void ensure_hash(const Call& call, const std::string& type, const value::HashRep& resources,
                 const Value& defaults) {
    for (const auto& e : resources) {
        value::HashBuilder params(call.arena());
        if (defaults.is_hash()) params.merge(defaults.as_hash());
        if (e.value.is_hash())
            params.merge(e.value.as_hash());
        else if (e.value.truthy())
            argument_error("no implicit conversion of {} into Hash", ruby_class(e.value));
        ensure_many(call, type, e.key, params.build());
    }
}

Value ensure_resources(const Call& call) {
    const std::string type = type_argument(call);
    if (!call[1].is_hash())
        argument_error("ensure_resources(): Requires second argument to be a Hash");
    ensure_hash(call, type, call[1].as_hash(), call.at(2));
    return Value::undef();
}

/// The default of `ensure` is "installed". A package that is already declared as "present" is
/// accepted (since 9.0).
Value ensure_packages(const Call& call) {
    value::HashBuilder builder(call.arena());
    builder.set("ensure", Value::string("installed"));
    if (call.at(1).is_hash()) builder.merge(call[1].as_hash());
    const Value* state = builder.find("ensure");
    if (state->is_string() && state->as_string() == "present")
        builder.set("ensure", Value::string("installed"));
    const Value defaults = builder.build();
    if (call[0].is_hash()) {
        ensure_hash(call, "package", call[0].as_hash(), defaults);
        return Value::undef();
    }
    value::HashBuilder present(call.arena());
    present.set("ensure", Value::string("present"));
    const Value as_present = present.build();
    std::vector<Value> names;
    flatten_into(names, call.args.first(1));
    for (const Value& name : names) {
        const Value* wanted = defaults.as_hash().find("ensure");
        if (wanted->is_string() && wanted->as_string() == "installed" &&
            defined_with_params(call, "Package", name.as_string(), &as_present.as_hash())) {
            builder.set("ensure", Value::string("present"));
            ensure_one(call, "package", name, builder.build());
            builder.set("ensure", Value::string("installed"));
            continue;
        }
        ensure_one(call, "package", name, defaults);
    }
    return Value::undef();
}

Value str2resource(const Call& call) {
    const Reference ref = parse_reference(call[0].as_string());
    auto& host = catalog(call, "stdlib::str2resource");
    if (!host.resource_declared(ref.type, ref.title)) {
        argument_error(
            "stdlib::str2resource(): could not find {}[{}], this is parse order dependent and "
            "values should not be quoted",
            ref.type, ref.title);
    }
    auto& ctx = call.interpreter.types();
    if (ref.type == "Class") return Value::type(types::class_ref(ctx, ref.title));
    return Value::type(types::resource_ref(ctx, ref.type, ref.title));
}

/// Fails if the calling code is in a different module than the class or define that contains this
/// call.
Value assert_private(const Call& call) {
    if (call.size() > 1) {
        argument_error("assert_private(): Wrong number of arguments given ({}}}) for 0 or 1)",
                       call.size());
    }
    auto variable = [&](std::string_view name) {
        const auto v = call.interpreter.lookup_variable(call.scope, name);
        return v ? ruby_to_s(*v) : std::string();
    };
    if (variable("module_name") == variable("caller_module_name")) return Value::undef();
    if (call.size() == 1 && call[0].is_string() && !call[0].as_string().empty())
        argument_error("{}", call[0].as_string());
    const auto& base = call.scope.base();
    argument_error("{} {} is private",
                   base.kind == evaluator::ScopeKind::Define ? "Definition" : "Class", base.name);
}
Value private_(const Call& call) {
    scope_warning(call,
                  "private() DEPRECATED: This function will cease to function on Puppet 4; please "
                  "use assert_private() before upgrading to puppet 4 for backwards-compatibility, "
                  "or migrate to the new parser's typing system.");
    Call inner = call;
    inner.args = call.args.first(std::min<std::size_t>(call.size(), 1));
    return assert_private(inner);
}

constexpr std::string_view kEnsurePackages =
    "Variant[String[1], Array[String[1]], Hash[String[1], Any]] packages, Hash "
    "default_attributes? >> Undef";

const Builtin kFunctions[] = {
    {"ensure_packages",
     "Declares packages that are not declared yet.",
     {{kEnsurePackages, ensure_packages}},
     false,
     evaluator::kTyped,
     {},
     usual::ensure_packages},
    {"stdlib::ensure_packages",
     "Declares packages that are not declared yet.",
     {{"Variant[String[1], Array[String[1]]] packages, Hash default_attributes?", ensure_packages},
      {"Hash[String[1], Any] packages, Hash default_attributes?", ensure_packages}},
     false,
     evaluator::kTyped,
     {},
     usual::ensure_packages},
    {"ensure_resource",
     "Declares a resource unless it is already declared with the same parameters.",
     {{"", ensure_resource}},
     true,
     -1,
     {},
     usual::ensure_resource},
    {"ensure_resources",
     "Declares the resources of a hash that are not yet declared with the same parameters.",
     {{"", ensure_resources}},
     true,
     -1,
     {},
     usual::ensure_resources},
    {"defined_with_params",
     "True if a resource is declared with the given parameters.",
     {{"", defined_with_params_}},
     false,
     -1,
     {},
     usual::defined_with_params},
    {"getparam",
     "The value of a parameter of a declared resource.",
     {{"", getparam}},
     false,
     -1,
     {},
     usual::getparam},
    {"stdlib::str2resource",
     "The declared resource that a text names.",
     {{"String res_string >> Any", str2resource}}},
    {"assert_private",
     "Fails if the class or define is used from another module.",
     {{"", assert_private}},
     true,
     -1,
     {},
     usual::assert_private},
    {"private", "The old name of assert_private.", {{"", private_}}, true, -1},
};

}  // namespace

std::span<const Builtin> stdlib_resource_functions() { return kFunctions; }

}  // namespace bunraku::function
