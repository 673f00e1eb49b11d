// environment.conf: what it says, with paths made absolute and settings put in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"

namespace bunraku::environment {

class Files;

/// As Ruby's File.expand_path: absolute, "." and ".." folded.
std::string expand_path(std::string_view path, const std::string& base);

/// Settings of a file's text in their order; sections and unknown names are warned of. `path` is
/// for messages.
base::Result<std::vector<std::pair<std::string, std::string>>> read_conf(const std::string& path,
                                                                         std::string_view text,
                                                                         base::LogSink& log);

/// Puts the values of settings for `$name` and `${name}`. The error is Puppet's: "Could not find
/// value for $name".
base::Result<std::string> interpolate(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view)>& setting);

/// A module path as environment.conf writes it: parts relative to `directory` unless they begin
/// with a setting, patterns replaced by what they match.
std::vector<std::string> expand_modulepath(std::string_view text, const std::string& directory,
                                           const Files& files);

/// A time to live in seconds: "4s", "3m", "2h", "1d", "1y", "30"; nullopt: unlimited. The error is
/// Puppet's.
base::Result<std::optional<std::int64_t>> parse_ttl(std::string_view text,
                                                    std::string_view setting);

}  // namespace bunraku::environment
