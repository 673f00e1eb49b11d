// SPDX-License-Identifier: Apache-2.0
#include "language/types/runtime_object.h"

#include <functional>

#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/kinds.h"

namespace bunraku::types {

const Type* RuntimeObject::value_type(Context& ctx) const {
    return make_runtime(ctx, "ruby", class_name_);
}

bool RuntimeObject::equal(const value::Extension& other) const {
    const auto* o = dynamic_cast<const RuntimeObject*>(&other);
    if (!o || o->class_name_ != class_name_) return false;
    return id_ != 0 && o->id_ != 0 ? id_ == o->id_ : text_ == o->text_;
}

std::uint64_t RuntimeObject::hash() const { return std::hash<std::string_view>()(class_name_); }

Value RuntimeObject::to_rich_data(base::Arena& arena) const {
    return value::make_string(arena, text_);
}

Value make_runtime_object(base::Arena& arena, std::string_view class_name, std::string_view text,
                          std::uint64_t id) {
    return Value::extension(value::Kind::Object, arena.make<RuntimeObject>(arena.copy(class_name),
                                                                           arena.copy(text), id));
}

const RuntimeObject* as_runtime_object(const Value& v) {
    if (!v.is(value::Kind::Object)) return nullptr;
    return dynamic_cast<const RuntimeObject*>(v.as_extension());
}

}  // namespace bunraku::types
