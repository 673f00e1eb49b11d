// SPDX-License-Identifier: Apache-2.0
// Functions that control evaluation: with, then, lest, next, break, return, call.
#include "core/base/work_limit.h"
#include "language/evaluator/interpreter.h"
#include "language/function/support.h"
#include "language/types/object.h"

namespace bunraku::function {

namespace {

using evaluator::Callable;
using evaluator::Completion;
using value::Kind;

Value with(const Call& call) { return call.yield(call.args); }

Value then(const Call& call) { return call[0].is_undef() ? Value::undef() : call.yield({call[0]}); }

Value lest(const Call& call) {
    return call[0].is_undef() ? call.yield(std::span<const Value>()) : call[0];
}

template <Completion kWhat>
Value complete(const Call& call) {
    call.interpreter.set_pending(kWhat, call.at(0), call.site);
    return Value::undef();
}

/// Calls a function by name, as Ruby code does. The error for an unknown function differs from the
/// usual one.
Value call_by_name(const Call& call, std::string_view name, std::span<const Value> args,
                   const Callable* block) {
    if (!call.interpreter.function_exists(name)) argument_error("Unknown function '{}'", name);
    return call.interpreter.call_function(name, args, call.scope, block, call.site);
}

Value call_function(const Call& call) {
    return call_by_name(call, call[0].as_string(), call.args.subspan(1), call.block);
}

/// Returns the value with every Deferred in it replaced by its result.
Value resolve(const Call& call, const Value& v);

Value resolve_deferred(const Call& call, const Value& deferred) {
    auto& ctx = call.interpreter.types();
    const auto name = types::object_attribute(ctx, deferred, "name");
    const auto arguments = types::object_attribute(ctx, deferred, "arguments");
    const std::string_view text = name && name->is_string() ? name->as_string() : "";
    std::vector<Value> args;
    if (arguments && arguments->is_array())
        for (const Value& v : arguments->as_array()) args.push_back(resolve(call, v));
    if (text.starts_with('$')) {
        // A variable, and the path for `dig` into its value.
        const auto found = call.interpreter.lookup_variable(call.scope, text.substr(1));
        if (!found) argument_error("Unknown variable: '{}'.", text.substr(1));
        if (args.empty()) return *found;
        args.insert(args.begin(), *found);
        return call_by_name(call, "dig", args, nullptr);
    }
    return call_by_name(call, text, args, nullptr);
}

Value resolve(const Call& call, const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::Object: {
            const types::Object* object = types::as_object(v);
            return object && object->type()->name == "Deferred" ? resolve_deferred(call, v) : v;
        }
        case Kind::Array: {
            std::vector<Value> out;
            for (const Value& each : v.as_array()) out.push_back(resolve(call, each));
            return list(call, out);
        }
        case Kind::Hash: {
            value::HashBuilder out(call.arena(), v.as_hash().size());
            for (const value::Entry& e : v.as_hash())
                out.set(resolve(call, e.key), resolve(call, e.value));
            return out.build();
        }
        case Kind::Sensitive: return value::make_sensitive(call.arena(), resolve(call, v.unwrap()));
        default: return v;
    }
}

Value call_deferred(const Call& call) { return resolve(call, call[0]); }

const Builtin kFunctions[] = {
    {"with",
     "Calls the block with the arguments and returns its result.",
     {{"Any *arg, Callable &block", with}}},
    {"then",
     "Returns the result of the block for the argument, or undef if the argument is undef.",
     {{"Any arg, Callable[1,1] &block", then}}},
    {"lest",
     "Returns the argument, or the result of the block if the argument is undef.",
     {{"Any arg, Callable[0,0] &block", lest}}},
    {"next",
     "Ends the enclosing block, function, class or define with a value.",
     {{"Any value?", complete<Completion::Next>}}},
    {"break", "Ends the innermost iteration.", {{"", complete<Completion::Break>}}},
    {"return",
     "Ends the enclosing function, class or define, also from within blocks.",
     {{"Any value?", complete<Completion::Return>}}},
    {"call",
     "Calls a function by its name, or resolves a Deferred value.",
     {{"String function_name, Any *arguments, Callable &block?", call_function},
      {"Deferred deferred", call_deferred}}},
};

}  // namespace

std::span<const Builtin> control_functions() { return kFunctions; }

}  // namespace bunraku::function
