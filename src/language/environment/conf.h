// SPDX-License-Identifier: Apache-2.0
// Reads environment.conf, makes its paths absolute and interpolates settings.
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
struct Spec;

/// Makes a path absolute and resolves "." and "..", like Ruby's File.expand_path.
std::string expand_path(std::string_view path, const std::string& base);

/// Returns the settings in the text of a file, in order. Logs a warning for sections and for names
/// that are unknown at the compatibility level, which the file itself may set. `path` is used in
/// messages only.
base::Result<std::vector<std::pair<std::string, std::string>>> read_conf(const std::string& path,
                                                                         std::string_view text,
                                                                         const Spec& spec,
                                                                         base::LogSink& log);

/// Replaces `$name` and `${name}` by the values of settings. The error is Puppet's: "Could not find
/// value for $name".
base::Result<std::string> interpolate(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view)>& setting);

/// Expands a module path of environment.conf. Parts are relative to `directory` unless they begin
/// with a setting. Patterns are replaced by the paths that they match.
std::vector<std::string> expand_modulepath(std::string_view text, const std::string& directory,
                                           const Files& files);

/// Parses a time to live ("4s", "3m", "2h", "1d", "1y", "30") into seconds. Returns nullopt for
/// unlimited. The error is Puppet's.
base::Result<std::optional<std::int64_t>> parse_ttl(std::string_view text,
                                                    std::string_view setting);

}  // namespace bunraku::environment
