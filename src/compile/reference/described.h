// SPDX-License-Identifier: Apache-2.0
// The documentation that `describe` prints for all but resource types: classes, defines, functions,
// data types and facts, both built-in ones and those of modules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/reference/documents.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "language/environment/environment.h"
#include "resources/restype/spec.h"

namespace bunraku::reference {

class Described {
public:
    /// `environment` may be null; only built-in items are known then.
    Described(const config::Settings& settings, const environment::Environment* environment,
              base::LogSink& log)
        : settings_(settings), environment_(environment), log_(log) {}

    using Types = std::vector<const restype::TypeSpec*>;

    /// Reports whether `kind` is class, define, function, datatype or fact.
    static bool is_kind(std::string_view kind);
    static std::string kinds();

    /// Returns the documentation of a name, of one kind or, if `kind` is empty, of any. Empty if
    /// the name is unknown.
    std::string text(const std::string& name, std::string_view kind, bool brief) const;
    /// Returns the documentation of all names in the form of `bunraku doc`. `types` are the
    /// resource types with these names.
    std::string json(const std::vector<std::string>& names, std::string_view kind,
                     const Types& types) const;
    /// Returns all names of a kind, each with the start of its description.
    std::string list(std::string_view kind) const;
    std::string list_json(std::string_view kind, const Types& types) const;

private:
    std::vector<DocItem> find(const std::string& name, std::string_view kind) const;
    std::vector<DocItem> all(std::string_view kind) const;

    const config::Settings& settings_;
    const environment::Environment* environment_;
    base::LogSink& log_;
};

/// Wraps text at 76 columns, after an indentation of `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent);
/// Wraps each paragraph of a text. Does not wrap lines with a deeper indentation.
std::string paragraphs(std::string_view text, std::size_t indent);

}  // namespace bunraku::reference
