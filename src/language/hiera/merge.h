// SPDX-License-Identifier: Apache-2.0
// Puppet's merge strategies, which combine the values found at several locations.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/types/type.h"

namespace bunraku::hiera {

using value::Value;

/// Puppet::Pops::MergeStrategy, 8.11. `options` is the hash as given, or undef.
struct MergeStrategy {
    enum class Kind { Default, First, Unique, Hash, Deep, UnconstrainedDeep, ReverseDeep };
    Kind kind = Kind::Default;
    Value options;

    std::string_view name() const;
    bool first_found() const { return kind == Kind::Default || kind == Kind::First; }
    /// Returns the options without "strategy"; undef if none are left.
    Value extra_options(base::Arena& arena) const;

    /// Creates a strategy from undef, a name or a hash with "strategy". Throws base::PuppetError
    /// with Puppet's text.
    static MergeStrategy from(types::Context& ctx, const Value& given);
    /// Merges two values, of which `high` has precedence. Throws if the type of a value does not
    /// fit the strategy.
    Value merge(types::Context& ctx, const Value& high, const Value& low) const;
    /// Returns the first of several values, or the only one, in the form that the strategy
    /// requires.
    Value first_of_many(types::Context& ctx, const Value& v) const;
    Value only_one(types::Context& ctx, const Value& v) const;
};

/// The gem deep_merge 1.x with the options that Puppet passes; `source` has precedence.
Value deep_merge(base::Arena& arena, const Value& source, const Value& destination,
                 const Value& options);

}  // namespace bunraku::hiera
