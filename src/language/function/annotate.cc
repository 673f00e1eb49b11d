// SPDX-License-Identifier: Apache-2.0
// The function annotate, which attaches data to an object in addition to its own attributes.
#include "language/evaluator/interpreter.h"
#include "language/function/support.h"
#include "language/types/object.h"

namespace bunraku::function {

namespace {

using types::ObjectType;

/// Returns the list of annotations of a value, stored in the instance or in the Object type.
/// Returns null if the value cannot have annotations.
const types::Annotations** annotations_of(const Value& v) {
    if (const types::Object* object = types::as_object(v)) return &object->annotations;
    if (v.is_type()) {
        const ObjectType* type = types::as_object_type(v.as_type());
        // All compiles share the predefined types, so they cannot have annotations.
        if (type && types::predefined_object(type->name) != type) return &type->annotations;
    }
    return nullptr;
}

/// Returns the list entry for an annotation type, or null if there is none.
const types::Annotations* find(const Value& v, const ObjectType* type) {
    const auto** head = annotations_of(v);
    for (const auto* a = head ? *head : nullptr; a; a = a->next) {
        if (a->type == type && !a->value.is_undef()) return a;
    }
    return nullptr;
}

void hang(const Call& call, const Value& v, const ObjectType* type, const Value& annotation) {
    if (const auto** head = annotations_of(v))
        *head = call.arena().make<types::Annotations>(types::Annotations{type, annotation, *head});
}

void drop(const Value& v, const ObjectType* type) {
    const auto** head = annotations_of(v);
    for (const auto* a = head ? *head : nullptr; a; a = a->next) {
        if (a->type == type) a->value = Value::undef();
    }
}

/// Returns the annotation in the definition of an Object type, or null if the definition does not
/// contain it.
const Value* declared(const Value& v, const ObjectType* type) {
    if (!v.is_type()) return nullptr;
    const ObjectType* target = types::as_object_type(v.as_type());
    if (!target || !target->body().annotations.is_hash()) return nullptr;
    for (const value::Entry& e : target->body().annotations.as_hash()) {
        if (e.key.is_type() && types::object_base(e.key.as_type()) == type) return &e.value;
    }
    return nullptr;
}

const ObjectType* annotation_type(const Value& v) {
    const ObjectType* type = types::object_base(v.as_type());
    if (!type) argument_error("{} is not an annotation type", value::to_text(v));
    return type;
}

Value associate(const Call& call, const ObjectType* type, const Value& target, const Value& init) {
    const Value annotation =
        types::make_object(call.interpreter.types(), type, std::span<const Value>(&init, 1));
    hang(call, target, type, annotation);
    return annotation;
}

Value annotate(const Call& call) {
    const ObjectType* type = annotation_type(call[0]);
    if (const auto* existing = find(call[1], type)) return existing->value;
    const Value* own = declared(call[1], type);
    Value init = own ? *own : Value::undef();
    if (init.is_undef() && call.block) {
        init = call.yield(std::span<const Value>());
        if (call.interpreter.pending() != evaluator::Completion::Normal) return Value::undef();
    }
    return init.is_undef() ? init : associate(call, type, call[1], init);
}

Value annotate_new(const Call& call) {
    const ObjectType* type = annotation_type(call[0]);
    const bool clear = call[2].is_string();
    if (declared(call[1], type)) {
        argument_error("attempt to {} {} annotation declared on {}", clear ? "clear" : "redefine",
                       type->name, types::as_object_type(call[1].as_type())->label());
    }
    if (!clear) {
        drop(call[1], type);
        return associate(call, type, call[1], call[2]);
    }
    const auto* existing = find(call[1], type);
    const Value was = existing ? existing->value : Value::undef();
    drop(call[1], type);
    return was;
}

Value annotate_multi(const Call& call) {
    for (const value::Entry& e : call[2].as_hash()) {
        const ObjectType* type = annotation_type(e.key);
        if (find(call[1], type)) continue;
        const Value* own = declared(call[1], type);
        associate(call, type, call[1], own ? *own : e.value);
    }
    return call[1];
}

const Builtin kFunctions[] = {
    {"annotate",
     "Returns a value's annotation of a type, makes one from a hash or from the "
     "block "
     "result, or removes it with 'clear'.",
     {{"Type[Annotation] type, Any value, Callable[0,0] &block?", annotate},
      {"Type[Annotation] type, Any value, Variant[Enum[clear],Hash[Pcore::MemberName,Any]] "
       "annotation_hash",
       annotate_new},
      {"Type[Pcore] type, Any value, Hash[Type[Annotation], Hash[Pcore::MemberName,Any]] "
       "annotations",
       annotate_multi}}},
};

}  // namespace

std::span<const Builtin> annotate_functions() { return kFunctions; }

}  // namespace bunraku::function
