// How values found at several places become one: Puppet's merge strategies.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/types/type.h"

namespace bunraku::hiera {

using value::Value;

/// Puppet::Pops::MergeStrategy, 8.11. `options` is the hash as given (undef: none).
struct MergeStrategy {
    enum class Kind { Default, First, Unique, Hash, Deep, UnconstrainedDeep, ReverseDeep };
    Kind kind = Kind::Default;
    Value options;

    std::string_view name() const;
    bool first_found() const { return kind == Kind::Default || kind == Kind::First; }
    /// Options without "strategy"; undef where none are left.
    Value extra_options(base::Arena& arena) const;

    /// From undef, a name or a hash with "strategy"; throws base::PuppetError with Puppet's texts.
    static MergeStrategy from(types::Context& ctx, const Value& given);
    /// `high` comes from the more important place. Throws where a value's type does not fit the
    /// strategy.
    Value merge(types::Context& ctx, const Value& high, const Value& low) const;
    /// What becomes of the first of several values, and of the only one.
    Value first_of_many(types::Context& ctx, const Value& v) const;
    Value only_one(types::Context& ctx, const Value& v) const;
};

/// The gem deep_merge 1.x with the options Puppet passes on: `source` is the more important side.
Value deep_merge(base::Arena& arena, const Value& source, const Value& destination,
                 const Value& options);

}  // namespace bunraku::hiera
