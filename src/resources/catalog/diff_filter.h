// SPDX-License-Identifier: Apache-2.0
// Filters for a comparison of catalogs: "Type[title]::parameter" patterns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/diff.h"

namespace bunraku::catalog {

/// One value of "--ignore": `Type[title]`, `Type[title]::parameter` or
/// `Type[title]::parameter::key`. In each part, `*` matches any text. A condition on the values may
/// follow the parameter: `=>text` (either value equals the text), `=+>text` (the new value does),
/// `=->text` (the old value does). A `~` before `>` makes the text a regular expression. `=s>=`
/// requires the same array members in a different order.
class IgnorePattern {
public:
    static base::Result<IgnorePattern> parse(std::string_view text);

    bool matches_resource(const Ref& ref) const;
    /// Reports whether the pattern matches whole resources, whatever parameters they have.
    bool whole() const { return path_.empty(); }
    bool matches(const Ref& ref, const ValueChange& change) const;

private:
    enum class Condition : char { None, Either, New, Old, SameMembers };
    std::string type_, title_;
    std::vector<std::string> path_;
    Condition condition_ = Condition::None;
    bool regular_ = false;
    std::string operand_;
};

/// Removes from the difference everything that the patterns match, and every resource that has one
/// of `tags` in either catalog. A resource without remaining changes is dropped.
void apply_ignores(CatalogDiff& diff, const Catalog& before, const Catalog& after,
                   const std::vector<IgnorePattern>& patterns,
                   const std::vector<std::string>& tags);

}  // namespace bunraku::catalog
