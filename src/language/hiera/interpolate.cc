// SPDX-License-Identifier: Apache-2.0
// Interpolates "%{..}" in data and in hiera.yaml, and digs by dotted keys
// (Puppet::Pops::Lookup::Interpolation and SubLookup, 8.11).
#include <algorithm>
#include <cctype>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/text.h"
#include "language/hiera/impl.h"

namespace bunraku::hiera {

namespace {

std::string_view ruby_class(const Value& v) {
    switch (v.kind()) {
        case value::Kind::String: return "String";
        case value::Kind::Array: return "Array";
        case value::Kind::Float: return "Float";
        case value::Kind::Boolean: return v.truthy() ? "TrueClass" : "FalseClass";
        case value::Kind::Default: return "Symbol";
        case value::Kind::Sensitive: return "Puppet::Pops::Types::PSensitiveType::Sensitive";
        default: return "Object";
    }
}

bool name_only(std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    });
}

/// Ruby's NUMERIC_VAR_NAME. Match variables always exist.
bool numeric_name(std::string_view s) {
    return !s.empty() && (s == "0" || s[0] != '0') &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Found Lookup::Impl::dig(const Key& key, Invocation& inv, const Found& value) {
    if (!value || key.segments.empty()) return value;
    return sub_lookup(key.text, inv, key.segments, *value);
}

Found Lookup::Impl::sub_lookup(std::string_view key, Invocation& inv,
                               std::span<const Value> segments, Value data) {
    Step step(inv.explainer, NodeKind::SubLookup,
              inv.explainer ? join_segments(segments) : std::string());
    for (const Value& segment : segments) {
        const std::string text = value::to_text(segment);
        Step inner(inv.explainer, NodeKind::Segment, text);
        const Value* next = nullptr;
        if (data.is_hash()) {
            next = data.as_hash().find(segment);
        } else if (segment.is_integer() && data.is_array()) {
            const auto i = segment.as_integer();
            if (i >= 0 && i < static_cast<std::int64_t>(data.as_array().size()))
                next = &data.as_array()[static_cast<std::size_t>(i)];
        } else if (data.is_integer()) {
            throw ArgumentError(
                fmt::format("undefined method `include?' for {}:Integer", data.as_integer()));
        } else if (!data.is_undef()) {
            throw LookupError(fmt::format(
                "Data Provider type mismatch: Got {} when a hash-like object was expected to "
                "access value using '{}' from key '{}'",
                ruby_class(data), text, key));
        }
        if (!next) {
            if (inv.explainer) inv.explainer->not_found(text);
            return std::nullopt;
        }
        data = *next;
        if (inv.explainer) {
            const bool hide = inv.secret && deciphered;
            inv.explainer->found(text, hide ? value::make_sensitive(inv.arena(), data) : data);
        }
    }
    return data;
}

Value Lookup::Impl::interpolate(const Value& v, Invocation& inv, bool methods) {
    base::step();
    if (v.is_string()) {
        return v.as_string().find("%{") == std::string_view::npos
                   ? v
                   : interpolate_text(v.as_string(), inv, methods);
    }
    if (v.is_array()) {
        std::vector<Value> out;
        out.reserve(v.as_array().size());
        for (const Value& item : v.as_array()) out.push_back(interpolate(item, inv, methods));
        return value::make_array(inv.arena(), out);
    }
    if (v.is_hash()) {
        value::HashBuilder out(inv.arena(), v.as_hash().size());
        for (const auto& [key, item] : v.as_hash()) {
            const Value k = interpolate(key, inv, methods);
            out.set(k, interpolate(item, inv, methods));
        }
        return out.build();
    }
    return v;
}

std::string Lookup::Impl::interpolate_string(std::string_view s, Invocation& inv) {
    std::string out;
    value::print_ruby_to_s(out, interpolate(Value::string(s), inv, false));
    return out;
}

void Lookup::Impl::interpolation_failure(std::string message, std::string_view code,
                                         Invocation& inv) {
    base::Location where;
    if (inv.config) where.file = inv.config->path;
    throw LookupError(std::move(message), std::string(code), std::move(where));
}

Value Lookup::Impl::interpolate_text(std::string_view subject, Invocation& inv, bool methods) {
    Step step(inv.explainer, NodeKind::Interpolate, subject);
    std::string out;
    std::size_t at = 0;
    while (at < subject.size()) {
        const auto start = subject.find("%{", at);
        const auto end = start == std::string_view::npos ? start : subject.find('}', start);
        if (end == std::string_view::npos) break;
        BUNRAKU_ASSERT(start >= at && end >= start + 2);
        out += subject.substr(at, start - at);
        std::string_view expr = subject.substr(start + 2, end - start - 2);
        constexpr std::string_view kBlank(" \t\n\v\f\r\0", 7);
        while (!expr.empty() && kBlank.find(expr.front()) != std::string_view::npos)
            expr.remove_prefix(1);
        while (!expr.empty() && kBlank.find(expr.back()) != std::string_view::npos)
            expr.remove_suffix(1);
        at = end + 1;
        if (expr.empty() || expr == "::" || expr == "\"\"" || expr == "''" || expr == "\"::\"" ||
            expr == "'::'") {
            continue;
        }
        auto [method, key] = method_of(expr, methods, inv);
        const bool alias = method == "alias";
        if (alias && (start != 0 || end + 1 != subject.size())) {
            interpolation_failure(
                "'alias' interpolation is only permitted if the expression is equal to the "
                "entire string",
                "HIERA_INTERPOLATION_ALIAS_NOT_ENTIRE_STRING", inv);
        }
        Value v;
        const bool scoped = method == "scope";
        if (scoped) {
            v = scope_lookup(key, inv, subject).value_or(Value::undef());
        } else if (alias || method == "lookup" || method == "hiera") {
            v = global_lookup(key, inv);
            if (alias) return v;
        } else if (method == "literal") {
            v = value::make_string(inv.arena(), key);
        } else {
            interpolation_failure(fmt::format("Unknown interpolation method '{}'", method),
                                  "HIERA_INTERPOLATION_UNKNOWN_INTERPOLATION_METHOD", inv);
        }
        const std::string_view name =
            scoped ? inv.arena().copy(fmt::format("scope:{}", key)) : inv.arena().copy(key);
        v = guarded(name, [&] { return interpolate(v, inv, methods); });
        value::print_ruby_to_s(out, v);
    }
    BUNRAKU_ASSERT(at <= subject.size());
    if (at < subject.size()) out += subject.substr(at);
    return value::make_string(inv.arena(), out);
}

/// "lookup('a')" is a method with its argument. Anything else is a variable.
std::pair<std::string_view, std::string_view> Lookup::Impl::method_of(base::TextView expr,
                                                                      bool allowed,
                                                                      Invocation& inv) {
    const auto open = expr.find('(');
    if (open != std::string_view::npos && open > 0 && expr.ends_with(')') &&
        expr.size() > open + 4) {
        const char quote = expr[open + 1];
        const std::string_view name = expr.substr(0, open);
        const std::string_view inner = expr.substr(open + 2, expr.size() - open - 4);
        if (name_only(name) && (quote == '\'' || quote == '"') && expr[expr.size() - 2] == quote &&
            inner.find(quote) == std::string_view::npos) {
            if (!allowed) {
                interpolation_failure(
                    "Interpolation using method syntax is not allowed in this context",
                    "HIERA_INTERPOLATION_METHOD_SYNTAX_NOT_ALLOWED", inv);
            }
            return {name, inner};
        }
    }
    return {"scope", expr};
}

Value Lookup::Impl::global_lookup(std::string_view key, Invocation& outer) {
    Invocation inv = outer;
    inv.record = nullptr;
    inv.quiet_variables = false;
    inv.config = nullptr;
    if (!inv.global_only) inv.hiera3_scope = false;
    if (inv.overrides) {
        if (const Value* v = inv.overrides->find(key)) return *v;
    }
    if (Found v = search(key, inv, Value::undef())) return *v;
    if (inv.defaults) {
        if (const Value* v = inv.defaults->find(key)) return *v;
    }
    return Value::string("");
}

/// Returns a variable of Puppet's scope, or the value that Hiera 3 sees (Hiera::Scope).
Found Lookup::Impl::variable(std::string_view name, Invocation& inv, std::string_view path) {
    if (!inv.hiera3_scope) return inv.in.lookup_variable(inv.scope, name, path);
    if (name == "calling_class" || name == "calling_class_path") {
        std::string text;
        for (Scope* s = &inv.scope.base(); s;
             s = s->dynamic_parent ? s->dynamic_parent : s->parent) {
            if (s->kind != evaluator::ScopeKind::Class) continue;
            text = std::string(s->name);
            break;
        }
        if (text.empty()) return std::nullopt;
        if (name == "calling_class_path") {
            for (auto at = text.find("::"); at != std::string::npos; at = text.find("::"))
                text.replace(at, 2, "/");
        }
        return value::make_string(inv.arena(), text);
    }
    if (name == "calling_module") name = "module_name";
    Found v = inv.in.lookup_variable(inv.scope, name, path);
    if (v && v->is_string() && v->as_string().empty()) return Value::undef();
    return v;
}

Found Lookup::Impl::scope_lookup(std::string_view key, Invocation& inv, std::string_view subject) {
    std::vector<Value> parts;
    if (!value::split_dotted(inv.arena(), key, parts))
        throw LookupError(fmt::format("Syntax error in string: {}", subject));
    BUNRAKU_ASSERT(!parts.empty());
    const std::string root = value::to_text(parts.front());
    Found v;
    {
        Step step(inv.explainer, NodeKind::Scope, "Global Scope");
        const Value* given = inv.overrides ? inv.overrides->find(root) : nullptr;
        if (given) {
            v = *given;
            if (inv.explainer) inv.explainer->found(root, *v, Event::FoundInOverrides);
        } else {
            std::string_view path = key;
            path.remove_prefix(std::min(root.size() + 1, key.size()));
            v = variable(root, inv, key.starts_with(root) ? path : std::string_view());
            const Value* fallback = inv.defaults ? inv.defaults->find(root) : nullptr;
            if (v) {
                if (inv.explainer) inv.explainer->found(root, *v);
            } else if (fallback) {
                v = *fallback;
                if (inv.explainer) inv.explainer->found(root, *v, Event::FoundInDefaults);
            } else {
                unset_variable(root, inv);
                if (root == "module_name" || root == "caller_module_name" ||
                    (inv.hiera3_scope && root.starts_with("calling_"))) {
                    if (inv.explainer) inv.explainer->found(root, Value::undef());
                }
            }
        }
    }
    if (v && !v->is_undef() && parts.size() > 1)
        v = sub_lookup(key, inv, std::span<const Value>(parts).subspan(1), *v);
    // A top-scope variable that is set cannot change any more, so it need not be recorded.
    const bool there = v && !v->is_undef();
    if (inv.record && !(there && key.starts_with("::"))) {
        const bool known = std::any_of(inv.record->begin(), inv.record->end(),
                                       [&](const Variable& each) { return each.key == key; });
        if (!known) {
            inv.record->push_back(
                {std::string(key), root, std::vector<Value>(parts.begin() + 1, parts.end()), v});
        }
    }
    return v;
}

void Lookup::Impl::unset_variable(std::string_view name, Invocation& inv) {
    if (name == "module_name" || name == "caller_module_name" || numeric_name(name)) return;
    if (inv.hiera3_scope && (name == "calling_class" || name == "calling_class_path")) return;
    if (!options.warn_deprecated) return;
    // The message shows names with "::" as absolute, and gives the state of the class that they
    // name.
    std::string shown(name), reason;
    if (const auto at = name.rfind("::"); at != std::string_view::npos) {
        if (name.starts_with("::")) name.remove_prefix(2);
        const auto leaf = name.rfind("::");
        shown = leaf == std::string_view::npos ? "::" + std::string(name) : std::string(name);
        if (leaf != std::string_view::npos) {
            const std::string_view owner = name.substr(0, leaf);
            const auto& hosts = inv.in.hosts();
            if (hosts.catalog && !hosts.catalog->class_known(owner)) {
                reason = fmt::format("class {} could not be found", owner);
            } else if (hosts.catalog && !hosts.catalog->class_scope(owner)) {
                reason = fmt::format("class {} has not been evaluated", owner);
            } else {
                shown = "::" + shown;
            }
        }
    }
    if (options.strict_error && (!inv.quiet_variables || inv.hiera3_scope))
        throw ArgumentError(fmt::format("Undefined variable '{}'; {}", shown, reason));
    const std::string key = fmt::format("Variable: {}", shown);
    if (!warned.insert(key).second) return;
    inv.in.log().log(
        base::Level::Warning,
        fmt::format(
            "{}; {}\n   (file & line not available)",
            options.strict_error
                ? fmt::format("Interpolation failed with '{}', but compilation continuing", shown)
                : fmt::format("Undefined variable '{}'", shown),
            reason));
}

}  // namespace bunraku::hiera
