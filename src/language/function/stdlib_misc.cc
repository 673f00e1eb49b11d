// SPDX-License-Identifier: Apache-2.0
// stdlib's functions for facts, modules, types, time and files.
#include <algorithm>

#include "core/regex/regex.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"

namespace bunraku::function {
namespace {

using value::Kind;

// --- fact ---

/// Splits a.b."c.d" into its keys.
std::vector<std::string> fact_path(std::string_view s) {
    std::vector<std::string> out;
    const auto compiled = regex::Regex::cached("([^.\"]+)|(?:\")([^\"]+)(?:\")");
    for (std::size_t at = 0; at < s.size();) {
        const auto m = (*compiled)->search(s, at);
        if (!m) break;
        out.emplace_back(m->group(s, m->took_part(1) ? 1 : 2));
        at = m->groups[0]->second;
    }
    return out;
}
std::string dotted(std::span<const std::string> path) {
    std::string out;
    for (const auto& key : path) {
        if (&key != path.data()) out += '.';
        out += key.find('.') == key.npos ? key : '"' + key + '"';
    }
    return out;
}
Value fact(const Call& call) {
    auto found = call.interpreter.lookup_variable(call.interpreter.top_scope(), "facts",
                                                  call[0].as_string());
    Value at = found.value_or(Value::undef());
    const auto path = fact_path(call[0].as_string());
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (at.is_undef()) return at;
        Value next;
        auto complain = [&](std::string_view what) {
            call.interpreter.log().log(
                base::Level::Warning,
                fmt::format("fact request for {} returning nil: '{}' {} '{}'", call[0].as_string(),
                            dotted(std::span(path).first(i)), what, path[i]));
        };
        if (at.is_array()) {
            const auto index = strict_integer(path[i]);
            if (!index) complain("is an array; cannot index to");
            const auto size = static_cast<std::int64_t>(at.as_array().size());
            const std::int64_t n = !index ? size : *index < 0 ? *index + size : *index;
            if (n >= 0 && n < size) next = at.as_array()[static_cast<std::size_t>(n)];
        } else if (at.is_hash()) {
            if (const Value* v = at.as_hash().find(path[i])) next = *v;
        } else {
            complain("is not a collection; cannot walk to");
        }
        at = next;
    }
    return at;
}

Value os_version_gte(const Call& call) {
    Value name = fact_value(call, {"operatingsystem"});
    if (name.is_undef()) name = fact_value(call, {"os", "name"});
    Value release = fact_value(call, {"operatingsystemmajrelease"});
    if (release.is_undef()) release = fact_value(call, {"os", "release", "major"});
    if (!ruby_equal(name, call[0])) return Value::boolean(false);
    const Value args[] = {text(call, ruby_to_s(release)), call[1]};
    const Value order = call.interpreter.call_function("versioncmp", args, call.scope);
    return Value::boolean(order.is_integer() && order.as_integer() >= 0);
}

// --- modules and functions ---

Value get_module_path(const Call& call) {
    if (call.size() != 1)
        argument_error("get_module_path(): Wrong number of arguments, expects one");
    auto* host = call.interpreter.hosts().templates;
    const std::string name = ruby_to_s(call[0]);
    if (host) {
        if (const auto path = host->module_directory(name)) return text(call, *path);
    }
    auto* inputs = call.interpreter.hosts().inputs;
    argument_error("Could not find module {} in environment {}", name,
                   inputs ? inputs->environment_name() : "production");
}
Value is_function_available(const Call& call) {
    if (call.size() != 1)
        argument_error("is_function_available?(): Wrong number of arguments given {} for 1",
                       call.size());
    return Value::boolean(call[0].is_string() &&
                          call.interpreter.function_exists(call[0].as_string()));
}
Value has_function(const Call& call) {
    return Value::boolean(call.interpreter.function_exists(call[0].as_string()));
}

// --- types ---

Value type_of(const Call& call) {
    return Value::type(types::infer_set(call.interpreter.types(), call[0]));
}
Value is_a(const Call& call) {
    return Value::boolean(types::is_instance(call.interpreter.types(), call[1].as_type(), call[0]));
}
Value type3x(const Call& call) {
    if (call.size() != 1)
        argument_error("type3x(): Wrong number of arguments given ({} for 1)", call.size());
    const Value& v = call[0];
    switch (v.kind()) {
        case Kind::Boolean: return Value::string("boolean");
        case Kind::Array: return Value::string("array");
        case Kind::Hash: return Value::string("hash");
        case Kind::Integer: return Value::string("integer");
        case Kind::Float: return Value::string("float");
        case Kind::String:
            if (v.as_string() == std::to_string(to_integer(v))) return Value::string("integer");
            if (v.as_string() == value::format_float(leading_float(v.as_string())))
                return Value::string("float");
            return Value::string("string");
        default: argument_error("type3x(): Unknown type");
    }
}

// --- time, files ---

Value time(const Call& call) {
    if (call.size() > 1)
        argument_error("time(): Wrong number of arguments given {} for 0 or 1", call.size());
    return Value::integer(require_inputs(call).now_ns() / 1'000'000'000);
}
Value glob(const Call& call) {
    if (call.size() != 1)
        argument_error("glob(): Wrong number of arguments given ({} for 1)", call.size());
    if (!call[0].is_string() && !call[0].is_array())
        argument_error("glob(): Requires either array or string to work");
    std::vector<Value> patterns, out;
    flatten_into(patterns, call.args);
    for (const Value& p : patterns)
        for (const auto& path : require_inputs(call).glob(ruby_to_s(p)))
            out.push_back(text(call, path));
    return list(call, out);
}
Value pry(const Call&) {
    argument_error("pry(): Requires the 'pry' rubygem to use, but it was not found");
}

const Builtin kFunctions[] = {
    {"fact", "The fact at a dotted path; undef if there is none.", {{"String fact_name", fact}}},
    {"os_version_gte",
     "True if the operating system has at least the given version.",
     {{"String[1] os, String[1] version >> Boolean", os_version_gte}}},
    {"stdlib::os_version_gte",
     "True if the operating system has at least the given version.",
     {{"String[1] os, String[1] version >> Boolean", os_version_gte}}},
    {"get_module_path", "The folder of a module.", {{"", get_module_path}}, false, -1},
    {"is_function_available",
     "True if a function exists.",
     {{"", is_function_available}},
     false,
     -1},
    {"stdlib::has_function",
     "True if a function exists.",
     {{"String[1] function_name >> Boolean", has_function}}},
    {"type_of", "The type of a value.", {{"Any value", type_of}}},
    {"stdlib::type_of", "The type of a value.", {{"Any value", type_of}}},
    {"is_a", "True if a value is of a type.", {{"Any value, Type type", is_a}}},
    {"type3x", "The class name of a value, as in Puppet 3.", {{"", type3x}}, false, -1},
    {"time", "The seconds since 1970.", {{"", time}}, false, -1, {}, usual::nothing},
    {"glob", "The paths that a pattern matches.", {{"", glob}}, false, -1},
    {"pry", "A debugger of the Ruby implementation; not available.", {{"", pry}}, true, -1},
};

}  // namespace

std::span<const Builtin> stdlib_misc_functions() { return kFunctions; }

}  // namespace bunraku::function
