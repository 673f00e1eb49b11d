// What a comparison of catalogs is not to show: "Type[title]::parameter" patterns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/diff.h"

namespace bunraku::catalog {

/// One "--ignore": `Type[title]`, `Type[title]::parameter`, `Type[title]::parameter::key`; `*`
/// stands for any text in each. Behind a parameter may stand a condition on its values:
/// `=>text` (either side is it), `=+>text` (the new one is), `=->text` (the old one is), the same
/// with `~` before `>` for a regular expression, and `=s>=` (the same array members in another
/// order).
class IgnorePattern {
public:
    static base::Result<IgnorePattern> parse(std::string_view text);

    bool matches_resource(const Ref& ref) const;
    /// Whole resources, whatever they hold.
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

/// Takes out of the difference what the patterns match, and what bears one of `tags` in a catalog
/// that has it. A resource without any change left is dropped.
void apply_ignores(CatalogDiff& diff, const Catalog& before, const Catalog& after,
                   const std::vector<IgnorePattern>& patterns,
                   const std::vector<std::string>& tags);

}  // namespace bunraku::catalog
