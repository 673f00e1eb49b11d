// Ruby's Pathname#+ and Pathname.glob, by which hiera.yaml names its files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::environment {
class Environment;
}

namespace bunraku::hiera {

/// `base` + `more`: an absolute `more` wins; "." and leading ".." of `more` are resolved.
std::string join_path(std::string_view base, std::string_view more);

/// Dir.glob: `*`, `?`, `[a-z]`, `{a,b}` and `**/`, sorted within each folder, hidden files only by
/// a leading dot; its looks are noted. Bounded: a pattern over a huge tree ends after 100,000
/// entries.
std::vector<std::string> glob_paths(const environment::Environment& environment,
                                    const std::string& pattern);

}  // namespace bunraku::hiera
