// SPDX-License-Identifier: Apache-2.0
// The format of puppet.conf and environment.conf: sections of `name = value` lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/lifetime.h"
#include "core/base/result.h"

namespace bunraku::codec {

struct IniEntry {
    std::string name, value;
    int line = 0;
};
struct IniSection {
    std::string name;  ///< entries before the first section line belong to "main"
    std::vector<IniEntry> entries;
    int line = 0;
};
struct IniFile {
    std::vector<IniSection> sections;  ///< sections with the same name are merged
    const IniEntry* find(std::string_view section,
                         std::string_view name) const BUNRAKU_LIFETIMEBOUND;
};

/// Reads a configuration file like Puppet. A value extends to the end of the line, without the
/// surrounding blanks. A line that begins with # is a comment. Quotes have no meaning. The code of
/// an error is the line number.
base::Result<IniFile> parse_ini(std::string_view text);

/// Returns the text with `name = value` set in `section`. The rest of the text is unchanged.
std::string set_ini_value(std::string_view text, std::string_view section, std::string_view name,
                          std::string_view value);
/// Returns the text without the entry.
std::string remove_ini_value(std::string_view text, std::string_view section,
                             std::string_view name);

}  // namespace bunraku::codec
