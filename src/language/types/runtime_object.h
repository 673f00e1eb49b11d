// Objects of Ruby that Puppet has no type for: they can be passed on, printed and nothing else.
#pragma once

#include <cstdint>

#include "language/types/type.h"

namespace bunraku::types {

/// An instance of Runtime['ruby', CLASS] (Kind::Object). Lives in an arena.
class RuntimeObject final : public TypedExtension {
public:
    /// All texts live as long as the value. `id`: by which the Ruby process knows the object.
    RuntimeObject(std::string_view class_name, std::string_view text, std::uint64_t id)
        : class_name_(class_name), text_(text), id_(id) {}
    std::string_view class_name() const { return class_name_; }
    std::string_view text() const { return text_; }  ///< Ruby's to_s
    std::uint64_t id() const { return id_; }

    const Type* value_type(Context& ctx) const override;
    bool equal(const value::Extension& other) const override;
    std::uint64_t hash() const override;
    void print(std::string& out) const override { out += text_; }
    /// The text: what serializing such a value comes to.
    Value to_rich_data(base::Arena& arena) const override;

private:
    std::string_view class_name_, text_;
    std::uint64_t id_;
};

/// A new one, its texts copied into `arena`.
Value make_runtime_object(base::Arena& arena, std::string_view class_name, std::string_view text,
                          std::uint64_t id);
/// Null for every other value.
const RuntimeObject* as_runtime_object(const Value& v);

}  // namespace bunraku::types
