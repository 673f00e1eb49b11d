// Parts of explain_error: what it looks at, and one function for each kind of mistake.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/compilation.h"
#include "compile/compiler/explained_error.h"

namespace bunraku::compiler::explaining {

/// One mistake and the compile it ended.
struct Case {
    std::string text;      ///< the whole message
    base::Location where;  ///< the innermost place that is known
    base::Location outer;  ///< the error's own
    Compilation& compilation;
    Explanation& out;

    const environment::Environment& environment() const {
        return *compilation.request().environment;
    }
    /// Suggests the names nearest to `wanted`; true where there are some.
    bool suggest(std::string_view wanted, const std::vector<std::string>& names) const;
    void hint(std::string text) const;
    void place(base::Location where, std::string text) const;
};

/// What stands between the first `before` and the next `after`.
std::optional<std::string> between(std::string_view text, std::string_view before,
                                   std::string_view after);

/// The tree of a file of the environment ("": the code that was given), an EPP template's too;
/// null: it is none, or has errors.
std::shared_ptr<const environment::ParsedFile> tree_of(const Case& mistake,
                                                       const std::string& file);
/// Where a byte of the tree's text is that a person calls by line and column; npos: nowhere.
std::size_t offset_of(std::string_view text, int line, int column);
/// The first node that `fits` in the environment's manifests and in what the catalog's classes and
/// defines say: for errors without a place. Unknown where there is none.
base::Location place_of(const Case& mistake, const std::function<bool(const syntax::Node&)>& fits);
/// The innermost class, define, node or function around a line; null: none.
const syntax::Node* definition_at(const syntax::Tree& tree, int line);
/// The attribute of a resource whose declaration holds `line`; null: none. `nth`: of several.
const syntax::AttributeOperation* attribute_at(const syntax::Tree& tree, int line,
                                               std::string_view attribute, int nth = 0);

/// The text of an inline template is in no file: its call is.
bool inline_template(const Case& mistake);

// Each looks whether the mistake is its kind; true: it was.
bool explain_names(const Case& mistake);      ///< variables, functions, types, classes
bool explain_resources(const Case& mistake);  ///< declarations, relations, attributes
bool explain_values(const Case& mistake);     ///< types of values and where they came from
bool explain_data(const Case& mistake);       ///< Hiera and templates

}  // namespace bunraku::compiler::explaining
