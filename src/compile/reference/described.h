// What `describe` says of everything that is no resource type: classes, defines, functions, data
// types and facts, the program's own and those of modules.
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
    /// `environment` may be null: only what is built in is known then.
    Described(const config::Settings& settings, const environment::Environment* environment,
              base::LogSink& log)
        : settings_(settings), environment_(environment), log_(log) {}

    using Types = std::vector<const restype::TypeSpec*>;

    /// class, define, function, datatype, fact.
    static bool is_kind(std::string_view kind);
    static std::string kinds();

    /// What is known under a name, of one kind or (empty) of any; empty: nothing.
    std::string text(const std::string& name, std::string_view kind, bool brief) const;
    /// Of all names, in the form of `bunraku doc`; `types` are resource types of these names.
    std::string json(const std::vector<std::string>& names, std::string_view kind,
                     const Types& types) const;
    /// Names with the beginning of what is said of them.
    std::string list(std::string_view kind) const;
    std::string list_json(std::string_view kind, const Types& types) const;

private:
    std::vector<DocItem> find(const std::string& name, std::string_view kind) const;
    std::vector<DocItem> all(std::string_view kind) const;

    const config::Settings& settings_;
    const environment::Environment* environment_;
    base::LogSink& log_;
};

/// Words within 76 columns, behind `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent);
/// A text of several paragraphs, each wrapped; what is indented further keeps its lines.
std::string paragraphs(std::string_view text, std::size_t indent);

}  // namespace bunraku::reference
