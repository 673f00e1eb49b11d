// SPDX-License-Identifier: Apache-2.0
// TypeSets: named, versioned sets of types that may refer to other sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/semver.h"
#include "language/types/kinds.h"

namespace bunraku::types {

struct TypeSetType final : OpenType {
    static constexpr TypeKind kKind = TypeKind::TypeSet;

    struct Named {
        std::string_view name;
        const Type* type;
    };
    struct Reference {
        std::string_view alias, name, name_authority;
        base::SemVerRange range;
        Value annotations;
        const TypeSetType* type_set = nullptr;
    };
    struct Body {
        Value pcore_uri, annotations;
        std::string pcore_version, version;
        std::string_view name_authority;
        std::vector<Named> types;
        std::vector<Reference> references;
    };

    std::string_view name;

    /// Makes the set from a LiteralHash. The tree must outlive the context.
    TypeSetType(Context& ctx, std::string_view name, const syntax::Node* definition,
                std::string_view name_authority = {});
    TypeSetType(Context& ctx, std::string_view name, const value::HashRep* definition,
                std::string_view name_authority = {});

    const Body& body() const;
    /// Returns a type of the set, or of a set that it refers to ("Ref::Type"). The case of the name
    /// does not matter. Returns null if it is unknown.
    const Type* find(std::string_view type_name) const;
    Value init_hash(base::Arena& arena) const;

    std::string_view type_name() const override { return name; }
    bool is_instance_of(Context& ctx, const Value& v, Guard* guard) const override;
    bool is_assignable_from(Context& ctx, const Type* from, Guard* guard) const override;
    bool equal_type(const Type& other) const override;
    std::uint64_t hash_type() const override;
    void print_type(std::string& out, bool expanded) const override;
    const Type* parameterized(Context& ctx, std::span<const Value> args) const override;
    void resolve(Context& ctx) const override;
    Value to_rich_data(base::Arena& arena) const override;

private:
    void resolve_now() const;
    void init_from_hash(Context& ctx, const value::HashRep& hash) const;
    value::HashRep read_definition(Context& ctx) const;

    base::Arena* arena_;
    Loader* loader_;
    mutable const syntax::Node* definition_ = nullptr;
    mutable const value::HashRep* hash_ = nullptr;
    mutable Body* body_ = nullptr;
    mutable bool resolved_ = false;
    mutable bool resolving_ = false;
    bool default_ = false;
};

/// Returns "TypeSet" as a type.
const TypeSetType* type_set_default();

}  // namespace bunraku::types
