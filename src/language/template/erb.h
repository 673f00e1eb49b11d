// SPDX-License-Identifier: Apache-2.0
// The ERB templates of an environment, which are read and parsed once and shared by compiles.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/symbol.h"
#include "language/environment/environment.h"

namespace bunraku::erb {
class Program;
}

namespace bunraku::templates {

/// The text of one template, and the result of its analysis.
struct ErbTemplate {
    std::string path;  ///< Empty for an inline template.
    std::string source;
    std::shared_ptr<const erb::Program> program;  ///< Null if Ruby renders the template.
    /// Reason why Ruby renders it; shown to users who examine the times.
    std::string reason;
    std::vector<base::Symbol> names;  ///< @variables in the text.
    bool all_names = false;           ///< True if it may read other variables.
};

std::shared_ptr<const ErbTemplate> make_erb_template(std::string path, std::string source);

/// The cache of templates. Thread-safe. Lives as long as the environment's snapshot.
class ErbCache {
public:
    /// Returns null if the file cannot be read.
    std::shared_ptr<const ErbTemplate> file(const std::string& path,
                                            const environment::Environment& environment);
    /// Returns the template for a text of inline_template().
    std::shared_ptr<const ErbTemplate> text(std::string_view text);

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const {
            return std::hash<std::string_view>{}(s);
        }
    };
    using Table =
        std::unordered_map<std::string, std::shared_ptr<const ErbTemplate>, Hash, std::equal_to<>>;
    std::shared_mutex mutex_;
    Table files_;
    Table texts_;
};

}  // namespace bunraku::templates
