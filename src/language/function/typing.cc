// SPDX-License-Identifier: Apache-2.0
// Functions for types: type, new, assert_type, convert_to; and time formatting.
#include "core/value/time.h"
#include "language/function/support.h"
#include "language/types/mismatch.h"
#include "language/types/time_format.h"

namespace bunraku::function {
namespace {

Value type_detailed(const Call& call) {
    return Value::type(types::infer_set(call.interpreter.types(), call[0]));
}
Value type_reduced(const Call& call) {
    return Value::type(types::infer(call.interpreter.types(), call[0]));
}
Value type_generalized(const Call& call) {
    auto& ctx = call.interpreter.types();
    return Value::type(types::generalize(ctx, types::infer(ctx, call[0])));
}

Value assert_against(const Call& call, const types::Type* type) {
    auto& ctx = call.interpreter.types();
    if (types::is_instance(ctx, type, call[1])) return call[1];
    if (call.block)
        return call.yield({Value::type(type), Value::type(types::infer_set(ctx, call[1]))});
    throw base::PuppetError(types::describe_mismatch(ctx, "assert_type():", type, call[1]));
}
Value assert_type(const Call& call) { return assert_against(call, call[0].as_type()); }
Value assert_type_text(const Call& call) {
    return assert_against(call, types::parse_type(call.interpreter.types(), call[0].as_string()));
}

Value create(const Call& call, const types::Type* type, std::span<const Value> args) {
    return types::new_instance(call.interpreter.types(), type, args);
}

Value new_(const Call& call) {
    const Value v = create(call, call[0].as_type(), call.args.subspan(1));
    return call.block ? call.yield({v}) : v;
}

Value convert_to(const Call& call) {
    std::vector<Value> args{call[0]};
    args.insert(args.end(), call.args.begin() + 2, call.args.end());
    const Value v = create(call, call[1].as_type(), args);
    return call.block ? call.yield({v}) : v;
}

Value format_timespan(const Call& call) {
    return text(call, types::format_timespan(value::nanoseconds(call[0]), call[1].as_string()));
}
Value format_timestamp(const Call& call) {
    return text(
        call, types::format_timestamp(value::nanoseconds(call[0]), call[1].as_string(),
                                      call.size() > 2 ? call[2].as_string() : std::string_view()));
}
Value format_now(const Call& call) {
    call.interpreter.warn_once(
        "The argument signature (String format, [String timezone]) is deprecated for #strftime. "
        "See #strftime "
        "documentation and Timespan type for more info",
        "", call.site);
    auto* inputs = call.interpreter.hosts().inputs;
    return text(
        call, types::format_timestamp(inputs ? inputs->now_ns() : 0, call[0].as_string(),
                                      call.size() > 1 ? call[1].as_string() : std::string_view()));
}

const Builtin kFunctions[] = {
    {"type",
     "The type of a value: detailed, reduced or generalized.",
     {{"Any value, Enum[detailed] inference_method?", type_detailed},
      {"Any value, Enum[reduced] inference_method", type_reduced},
      {"Any value, Enum[generalized] inference_method", type_generalized}}},
    {"new",
     "A new value of a type, converted from the arguments.",
     {{"Type type, Any *args, Callable &block?", new_}}},
    {"assert_type",
     "The value if it is of the type; otherwise an error, or the result of the block.",
     {{"Type type, Any value, Callable[Type, Type] &block?", assert_type},
      {"String type_string, Any value, Callable[Type, Type] &block?", assert_type_text}}},
    {"convert_to",
     "Converts a value to a type, as `new` does.",
     {{"Any value, Type type, Any *args, Callable[1,1] &block?", convert_to}}},
    {"strftime",
     "Formats a Timestamp or Timespan.",
     {{"Timespan time_object, String format", format_timespan},
      {"Timestamp time_object, String format, String timezone?", format_timestamp},
      {"String format, String timezone?", format_now}}},
};

}  // namespace

std::span<const Builtin> typing_functions() { return kFunctions; }

}  // namespace bunraku::function
