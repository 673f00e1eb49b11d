// SPDX-License-Identifier: Apache-2.0
#include "language/types/questions.h"

#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/types/mismatch.h"
#include "language/types/rich_data.h"

namespace bunraku::types {

const Type* sent_type(Context& ctx, std::string_view text) {
    const auto name = text.substr(0, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl"
                                                            "mnopqrstuvwxyz0123456789_:"));
    return parse_type(ctx, text.substr(name.size()).starts_with(" = ") ? name : text);
}

std::optional<Value> answer(Context& ctx, std::string_view what, std::span<const Value> args) {
    auto value_at = [&](std::size_t i) { return i < args.size() ? args[i] : Value::undef(); };
    auto text_at = [&](std::size_t i) {
        const Value v = value_at(i);
        return v.is_string() ? v.as_string() : std::string_view();
    };
    auto type_at = [&](std::size_t i) { return sent_type(ctx, text_at(i)); };
    auto text = [&](std::string_view t) { return value::make_string(ctx.arena, t); };
    auto type_text = [&](const Type* t) { return text(t ? t->to_string() : "Any"); };
    if (what == "type_instance") return Value::boolean(is_instance(ctx, type_at(0), value_at(1)));
    if (what == "type_assignable")
        return Value::boolean(is_assignable(ctx, type_at(0), type_at(1)));
    if (what == "parse_type") return type_text(type_at(0));
    if (what == "generalize") return type_text(generalize(ctx, type_at(0)));
    if (what == "infer") {
        const Value v = value_at(0);
        return type_text(value_at(1).truthy() ? infer_set(ctx, v) : infer(ctx, v));
    }
    if (what == "new") {
        const Value list = value_at(1);
        return new_instance(ctx, type_at(0),
                            list.is_array() ? list.as_array() : std::span<const Value>());
    }
    if (what == "to_text") return text(args.empty() ? "" : value::to_text(args[0]));
    if (what == "describe_mismatch")
        return text(describe_type_mismatch(ctx, text_at(0), type_at(1), type_at(2)));
    if (what == "mismatch_text")
        return text(describe_mismatch(ctx, text_at(0), type_at(1), value_at(2)));
    if (what == "to_rich_data") {
        value::RichDataOptions options;
        options.rich_data = args.size() < 2 || args[1].truthy();
        return value::to_rich_data(ctx.arena, value_at(0), options);
    }
    if (what == "from_rich_data")
        return value::from_rich_data(ctx.arena, value_at(0), rich_data_factory(ctx));
    return std::nullopt;
}

}  // namespace bunraku::types
