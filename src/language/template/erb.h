// ERB templates of an environment: read and parsed once, shared between compiles.
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

/// One template's text, and what is known of it.
struct ErbTemplate {
    std::string path;  ///< empty: inline
    std::string source;
    std::shared_ptr<const erb::Program> program;  ///< null: Ruby renders it
    std::string reason;                           ///< why; for people who wonder about the time
    std::vector<base::Symbol> names;              ///< @variables in the text
    bool all_names = false;                       ///< it may ask for others
};

std::shared_ptr<const ErbTemplate> make_erb_template(std::string path, std::string source);

/// Thread-safe. Lives as long as the environment's snapshot.
class ErbCache {
public:
    /// Null where the file cannot be read.
    std::shared_ptr<const ErbTemplate> file(const std::string& path,
                                            const environment::Environment& environment);
    /// A text of inline_template().
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
