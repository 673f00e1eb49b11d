// SPDX-License-Identifier: Apache-2.0
// Functions that act on the catalog: include and similar functions, realize, tags, defined,
// create_resources.
#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "language/function/support.h"
#include "language/types/kinds.h"

namespace bunraku::function {
namespace {

evaluator::CatalogHost& catalog(const Call& call, std::string_view operation) {
    require_catalog(call, operation);
    auto* host = call.interpreter.hosts().catalog;
    if (!host) argument_error("{}() needs a catalog to act on", operation);
    return *host;
}

/// Extracts class names from names and from Class['x'] and Resource['class', 'x'] references, also
/// in nested arrays (Scope#transform_and_assert_classnames, 8.11).
std::vector<std::string_view> class_names(const Call& call) {
    std::vector<Value> flat;
    flatten_into(flat, call.args);
    std::vector<std::string_view> out;
    auto add = [&](std::string_view name) {
        if (name.starts_with("::")) name.remove_prefix(2);
        out.push_back(call.arena().copy(base::lower(name)));
    };
    for (const Value& v : flat) {
        if (v.is_undef()) argument_error("Cannot use undef as a class name");
        if (v.is_string()) {
            if (v.as_string().empty()) argument_error("Cannot use empty string as a class name");
            add(v.as_string());
            continue;
        }
        const auto ref = v.is_type() ? types::as_reference(v.as_type()) : std::nullopt;
        if (!ref && v.is_type() && v.as_type()->kind == types::TypeKind::Resource)
            argument_error(
                "Cannot use an unspecific Resource[] where a Resource['class', name] is expected");
        if (!ref) argument_error("undefined method `downcase' for nil:NilClass");
        if (v.as_type()->kind == types::TypeKind::Class) {
            if (!ref->has_title) argument_error("Cannot use an unspecific Class[] Type");
        } else if (ref->type_name != "Class") {
            argument_error("Cannot use a Resource[{}] where a Resource['class', name] is expected",
                           ref->type_name);
        } else if (!ref->has_title) {
            argument_error(
                "Cannot use an unspecific Resource['class'] where a Resource['class', name] is "
                "expected");
        }
        add(ref->title);
    }
    return out;
}

Value references(const Call& call, const std::vector<std::string_view>& names) {
    std::vector<Value> out;
    for (auto n : names) out.push_back(Value::type(types::class_ref(call.interpreter.types(), n)));
    return list(call, out);
}

Value include(const Call& call) {
    auto& host = catalog(call, "include");
    const auto names = class_names(call);
    host.include_classes(call.interpreter, call.scope, names, call.site);
    return references(call, names);
}
Value contain(const Call& call) {
    auto& host = catalog(call, "contain");
    const auto names = class_names(call);
    host.contain_classes(call.interpreter, call.scope, names, call.site);
    return references(call, names);
}
Value require(const Call& call) {
    auto& host = catalog(call, "require");
    const auto names = class_names(call);
    host.require_classes(call.interpreter, call.scope, names, call.site);
    return references(call, names);
}

/// Parses "Type[title]".
std::optional<types::Reference> reference_of(const Call& call, std::string_view text) {
    const auto open = text.find('[');
    if (open == 0 || open == std::string_view::npos || !text.ends_with(']')) return std::nullopt;
    types::Reference out;
    std::string type(text.substr(0, open));
    for (std::size_t i = 0; i < type.size(); ++i) {
        if (i == 0 || type[i - 1] == ':') type[i] = base::upper(type[i]);
    }
    out.type_name = call.arena().copy(type);
    out.title = call.arena().copy(text.substr(open + 1, text.size() - open - 2));
    out.has_title = true;
    return out;
}

Value realize(const Call& call) {
    auto& host = catalog(call, "realize");
    std::vector<Value> flat;
    flatten_into(flat, call.args);
    std::vector<types::Reference> refs;
    for (const Value& v : flat) {
        std::optional<types::Reference> ref;
        if (v.is_type()) {
            ref = types::as_reference(v.as_type());
        } else if (v.is_string()) {
            ref = reference_of(call, v.as_string());
        }
        if (!ref || !ref->has_title) {
            base::PuppetError error(
                fmt::format("Puppet::Parser::Compiler failed with error ArgumentError: No title "
                            "provided and \"{}{}\" is not a valid resource reference",
                            value::to_text(v), ref ? "[]" : ""),
                "", base::PuppetError::Class::Plain);
            error.verbatim = true;
            throw error;
        }
        refs.push_back(*ref);
    }
    host.realize(call.interpreter, call.scope, refs, call.site);
    return Value::undef();
}

std::vector<std::string_view> tag_names(const Call& call) {
    std::vector<Value> flat;
    flatten_into(flat, call.args);
    std::vector<std::string_view> out;
    for (const Value& v : flat) {
        const std::string s = v.is_type() && types::as_reference(v.as_type())
                                  ? v.as_type()->to_string()
                                  : ruby_to_s(v);
        out.push_back(call.arena().copy(s));
    }
    return out;
}

Value tag(const Call& call) {
    catalog(call, "tag").tag(call.scope, tag_names(call));
    return Value::undef();
}
Value tagged(const Call& call) {
    return Value::boolean(catalog(call, "tagged").tagged(call.scope, tag_names(call)));
}

bool is_defined(const Call& call, evaluator::CatalogHost& host, const Value& v) {
    if (v.is_string()) {
        std::string_view s = v.as_string();
        if (s.starts_with('$') && s.size() > 1) {
            return call.interpreter.variable_exists(call.scope, s.substr(1));
        }
        if (s.empty()) return false;
        if (s == "main") return host.class_known("");
        if (s.starts_with("::")) s.remove_prefix(2);
        const std::string name = base::lower(s);
        return host.class_known(name) || host.define_known(name) || host.resource_type_known(name);
    }
    const types::Type* type = v.as_type();
    if (type->kind == types::TypeKind::Type) {
        const types::Type* inner = static_cast<const types::TypeType*>(type)->type;
        if (inner && inner->kind == types::TypeKind::Class) {
            const auto ref = types::as_reference(inner);
            if (!ref || !ref->has_title)
                argument_error("The given class type is a reference to all classes");
            return host.class_known(base::lower(ref->title));
        }
        return inner && is_defined(call, host, Value::type(inner));
    }
    const auto ref = types::as_reference(type);
    if (!ref || ref->type_name.empty())
        argument_error("The given resource type is a reference to all kind of types");
    if (ref->type_name == "Class") {
        if (!ref->has_title) argument_error("The given class type is a reference to all classes");
        return host.class_declared(base::lower(ref->title));
    }
    const std::string name = base::lower(ref->type_name);
    if (!ref->has_title) return host.define_known(name) || host.resource_type_known(name);
    return host.resource_declared(name, ref->title);
}

Value defined(const Call& call) {
    auto& host = catalog(call, "defined");
    return Value::boolean(std::any_of(call.args.begin(), call.args.end(),
                                      [&](const Value& v) { return is_defined(call, host, v); }));
}

Value create_resources(const Call& call) {
    auto& host = catalog(call, "create_resources");
    if (call.size() > 3) {
        argument_error("create_resources(): wrong number of arguments ({}; must be 2 or 3)",
                       call.size());
    }
    if (!call[1].is_hash()) argument_error("create_resources(): second argument must be a hash");
    if (call.size() == 3 && !call[2].is_hash()) {
        argument_error("create_resources(): third argument, if provided, must be a hash");
    }
    std::string type = ruby_to_s(call[0]);
    auto form = syntax::ResourceForm::Regular;
    if (type.starts_with("@@")) {
        form = syntax::ResourceForm::Exported;
        type.erase(0, 2);
    } else if (type.starts_with("@")) {
        form = syntax::ResourceForm::Virtual;
        type.erase(0, 1);
    }
    const std::string_view type_name = call.arena().copy(base::lower(type));
    if (type_name == "class" && form != syntax::ResourceForm::Regular) {
        throw base::PuppetError("Classes are not virtualizable", "CLASS_NOT_VIRTUALIZABLE");
    }
    std::vector<Value> references;
    for (const auto& [title, parameters] : call[1].as_hash()) {
        std::vector<std::string_view> titles;
        const auto kind = title.is_string() || title.is_array() ? evaluator::TitleKind::Text
                                                                : evaluator::TitleKind::Number;
        if (title.is_array()) {
            for (const Value& t : title.as_array())
                titles.push_back(call.arena().copy(ruby_to_s(t)));
        } else {
            titles.push_back(call.arena().copy(ruby_to_s(title)));
        }
        value::HashBuilder merged(call.arena());
        if (call.size() == 3) merged.merge(call[2].as_hash());
        if (parameters.is_hash()) {
            merged.merge(parameters.as_hash());
        } else if (!parameters.is_undef() &&
                   !(parameters.is_string() && parameters.as_string().empty())) {
            argument_error("no implicit conversion of {} into Hash", ruby_class(parameters));
        } else {
            argument_error("no implicit conversion of nil into Hash");
        }
        std::vector<evaluator::Attribute> attributes;
        for (const auto& e : merged.entries()) {
            // Parameters made here have no location, unlike their resource.
            attributes.push_back({call.arena().copy(ruby_to_s(e.key)), e.value, false, nullptr});
        }
        const Value made = host.create_resources(call.interpreter, call.scope, form, type_name,
                                                 titles, attributes, call.site, kind);
        if (made.is_array()) flatten_into(references, made.as_array());
    }
    return list(call, references);
}

Value noop(const Call& call) {
    std::optional<bool> on = true;
    if (call.size() > 0)
        on = call[0].is_undef() ? std::nullopt : std::optional(call[0].as_boolean());
    catalog(call, "noop").set_noop(call.scope, on);
    return Value::undef();
}

Value import(const Call&) {
    throw base::PuppetError(
        "Use of 'import' has been discontinued in favor of a manifest directory. See "
        "http://links.puppet.com/puppet-import-deprecation",
        "DISCONTINUED_IMPORT");
}

const Builtin kFunctions[] = {
    {"include", "Declares classes, each at most once.", {{"Any +names", include}}, true},
    {"contain",
     "Declares classes and contains them in the calling class.",
     {{"Any +names", contain}},
     true},
    {"require",
     "Declares classes and makes the calling class require them.",
     {{"Any +names", require}},
     true},
    {"realize", "Makes virtual resources real.", {{"", realize}}, true, -2},
    {"tag", "Adds tags to the containing class or defined resource.", {{"", tag}}, true, -2},
    {"tagged", "True if the container or the catalog has all the tags.", {{"", tagged}}, false, -2},
    {"defined",
     "True if any of the variables, types, classes or resources exists.",
     {{"Variant[String, Type[CatalogEntry], Type[Type[CatalogEntry]]] +vals", defined}}},
    {"create_resources",
     "Declares resources from a hash of titles and parameters.",
     {{"", create_resources}},
     true,
     -3},
    {"noop",
     "Enables or disables noop mode for all contents of the calling class or defined resource.",
     {{"Variant[Boolean, Undef] value?", noop}},
     true},
    {"import", "Discontinued.", {{"Any *args", import}}, true},
};

}  // namespace

std::span<const Builtin> resource_functions() { return kFunctions; }

}  // namespace bunraku::function
