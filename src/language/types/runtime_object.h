// SPDX-License-Identifier: Apache-2.0
// Ruby objects for which Puppet has no type. They can only be passed on and printed.
#pragma once

#include <cstdint>

#include "language/types/type.h"

namespace bunraku::types {

/// An instance of Runtime['ruby', CLASS] (Kind::Object). Lives in an arena.
class RuntimeObject final : public TypedExtension {
public:
    /// The texts must live as long as the value. `id` identifies the object in the Ruby process.
    RuntimeObject(std::string_view class_name, std::string_view text, std::uint64_t id)
        : class_name_(class_name), text_(text), id_(id) {}
    std::string_view class_name() const { return class_name_; }
    std::string_view text() const { return text_; }  ///< Ruby's to_s
    std::uint64_t id() const { return id_; }

    const Type* value_type(Context& ctx) const override;
    bool equal(const value::Extension& other) const override;
    std::uint64_t hash() const override;
    void print(std::string& out) const override { out += text_; }
    /// Returns the text, which is the serialized form of such a value.
    Value to_rich_data(base::Arena& arena) const override;

private:
    std::string_view class_name_, text_;
    std::uint64_t id_;
};

/// Makes a value and copies its texts into `arena`.
Value make_runtime_object(base::Arena& arena, std::string_view class_name, std::string_view text,
                          std::uint64_t id);
/// Returns null for every other value.
const RuntimeObject* as_runtime_object(const Value& v);

}  // namespace bunraku::types
