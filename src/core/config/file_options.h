// SPDX-License-Identifier: Apache-2.0
// File options after a value in puppet.conf or environment.conf: "/x { owner = root, mode =
// 0755 }".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/compatibility.h"

namespace bunraku::config {

struct PlainValue {
    std::string text;          ///< the value without the braces and the blanks before them
    bool has_options = false;  ///< true if braces with owner, group or mode were removed
};

/// Removes the file options of a value, whatever the kind of its setting (Puppet 8.11,
/// settings/config_file.rb). `${name}` is a variable, not options. The errors are Puppet's.
base::Result<PlainValue> without_file_options(std::string_view value);

/// A message about a value of puppet.conf that Puppet logs when it reads the file.
struct Remark {
    base::Level level;
    std::string text;
    bool operator==(const Remark&) const = default;
};
/// Returns the remarks about a file's text, each once. `section` is the run mode, as in
/// Settings::load_text.
std::vector<Remark> conf_remarks(std::string_view text, std::string_view section,
                                 Compatibility level = kDefaultLevel);

}  // namespace bunraku::config
