#include "types/runtime_object.h"

#include <atomic>
#include <functional>

#include "types/factory.h"
#include "types/kinds.h"
#include "value/build.h"

namespace bunraku::types {

namespace {
std::atomic<bool> made{false};
}

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
    made.store(true, std::memory_order_relaxed);
    return Value::extension(value::Kind::Object, arena.make<RuntimeObject>(arena.copy(class_name),
                                                                           arena.copy(text), id));
}

const RuntimeObject* as_runtime_object(const Value& v) {
    if (!v.is(value::Kind::Object) || !runtime_objects_exist()) return nullptr;
    return dynamic_cast<const RuntimeObject*>(v.as_extension());
}

bool runtime_objects_exist() { return made.load(std::memory_order_relaxed); }

}  // namespace bunraku::types
