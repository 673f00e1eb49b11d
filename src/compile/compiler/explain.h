// SPDX-License-Identifier: Apache-2.0
// Parts of explain_error: its input, and one function for each kind of error.
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

/// One error and the compile that it ended.
struct Case {
    std::string text;      ///< the whole message
    base::Location where;  ///< innermost known location
    base::Location outer;  ///< location of the error
    Compilation& compilation;
    Explanation& out;

    const environment::Environment& environment() const {
        return *compilation.request().environment;
    }
    /// Suggests the names nearest to `wanted`; returns true if there are any.
    bool suggest(std::string_view wanted, const std::vector<std::string>& names) const;
    void hint(std::string text) const;
    void place(base::Location where, std::string text) const;
};

/// Returns the text between the first `before` and the next `after`.
std::optional<std::string> between(std::string_view text, std::string_view before,
                                   std::string_view after);

/// Looks a key up again. Returns the text of `lookup --explain`, or "" without Hiera data.
std::string explained_lookup(const Case& mistake, const std::string& key);
/// Returns the syntax tree of a file of the environment or of an EPP template; "" means the code of
/// the command line. Returns null if the file does not exist or has errors.
std::shared_ptr<const environment::ParsedFile> tree_of(const Case& mistake,
                                                       const std::string& file);
/// Returns the byte offset of a line and column as shown to users, or npos if the text does not
/// contain them.
std::size_t offset_of(std::string_view text, int line, int column);
/// Returns the location of the first node that `fits`, in the environment's manifests and the
/// bodies of the catalog's classes and defines. For errors without a location. Returns an unknown
/// location if no node fits.
base::Location place_of(const Case& mistake, const std::function<bool(const syntax::Node&)>& fits);
/// Returns the innermost class, define, node or function around a line, or null.
const syntax::Node* definition_at(const syntax::Tree& tree, int line);
/// Returns the `nth` attribute of that name in the resource declaration that contains `line`, or
/// null.
const syntax::AttributeOperation* attribute_at(const syntax::Tree& tree, int line,
                                               std::string_view attribute, int nth = 0);

/// Sets the location of the call if the error is in an inline template, whose text is not in a
/// file.
bool inline_template(const Case& mistake);

/// Adds hints for a module that the modulepath lacks: the folders of the modulepath and, if the
/// error has no suggestions, the command that installs the module.
void hint_missing_module(const Case& mistake, std::string_view module);
/// Finds the first missing key of `$facts['os']['famly']['x']` and suggests keys near to it.
/// `offset` is the offset of the expression in the file of the error. Returns false if no key of
/// the expression is missing.
bool explain_missing_key(const Case& mistake, const syntax::Tree& tree, std::uint32_t offset);
/// Suggests the nearest key of a Struct for "unrecognized key 'x'". `parameter` is the parameter
/// whose type is the Struct. `given` is the expression of the value and may be null.
void suggest_struct_key(const Case& mistake, const syntax::Parameter& parameter,
                        const syntax::Node* given);

// Each function reports whether it could explain the error.
bool explain_names(const Case& mistake);       ///< variables, functions, types, classes
bool explain_resources(const Case& mistake);   ///< declarations, relations, attributes
bool explain_values(const Case& mistake);      ///< types of values and their origin
bool explain_data(const Case& mistake);        ///< Hiera and templates
bool explain_data_files(const Case& mistake);  ///< broken YAML and JSON; part of explain_data

}  // namespace bunraku::compiler::explaining
