// puppet.conf, environment.conf: sections of `name = value` lines.
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
    std::string name;  ///< what stands before the first section line belongs to "main"
    std::vector<IniEntry> entries;
    int line = 0;
};
struct IniFile {
    std::vector<IniSection> sections;  ///< a name written twice is one section
    const IniEntry* find(std::string_view section,
                         std::string_view name) const BUNRAKU_LIFETIMEBOUND;
};

/// Reads a configuration file as Puppet does: values run to the end of the line, without the blanks
/// around them; whole lines beginning with # are comments. Quotes mean nothing. The code of an
/// error is the line.
base::Result<IniFile> parse_ini(std::string_view text);

/// The text with `name = value` set in `section`, all else left as it stands.
std::string set_ini_value(std::string_view text, std::string_view section, std::string_view name,
                          std::string_view value);
/// The same with the entry taken out.
std::string remove_ini_value(std::string_view text, std::string_view section,
                             std::string_view name);

}  // namespace bunraku::codec
