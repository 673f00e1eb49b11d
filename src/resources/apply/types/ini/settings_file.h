// SPDX-License-Identifier: Apache-2.0
// A file of sections and settings, which is read and written like in the module inifile (4.4.0 to
// 6.3.1). This includes the module's treatment of files that it only partly understands, because
// existing files were written by the module.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

/// Levels of the module's releases (module_releases.h), for both types.
enum IniLevel : std::int8_t {
    kIniNoBracketInNames = 0,  ///< the name of a section ends where another prefix begins
    kIniAnyNames = 1,          ///< 5.3.0
    /// 5.4.0: without a setting, checks only whether the section exists
    kIniSectionsExist = 2,
    kIniBlankSectionsGo = 3,     ///< 6.1.1: removes a section that has only blank lines left
    kIniEmptiedSectionsStay = 4  ///< 6.3.0
};

struct IniStyle {
    std::string separator = " = ", prefix = "[", suffix = "]", indent = " ";
    /// width of the indentation; if not set, that of the section
    std::optional<std::size_t> width;
    int level = kIniEmptiedSectionsStay;
};

class SettingsFile {
public:
    /// The name of a setting; nullopt means the section itself.
    using Name = std::optional<std::string>;

    SettingsFile(Context& context, std::string path, IniStyle style);

    bool has(const std::string& section) const { return sections_.contains(section); }
    std::optional<std::string> value(const std::string& section, const Name& setting) const;
    void set(const std::string& section, const Name& setting,
             const std::optional<std::string>& value);
    void remove(const std::string& section, const Name& setting);
    void save();

private:
    struct Section {
        // Line numbers in the file. `last` is not set for a new section. `first` is 0 for the
        // global section.
        std::optional<std::ptrdiff_t> first, last;
        std::map<std::string, std::string> existing;
        std::vector<std::pair<Name, std::string>> added;
        std::optional<std::size_t> indentation;
        std::ptrdiff_t blank_lines = 0;

        bool is_new() const { return !last; }
    };

    void parse();
    void add(const std::string& name, Section section);
    bool emptied(const std::string& name, const Section& s) const;
    /// Returns the numbers of the existing lines of a section.
    std::vector<std::size_t> lines_of(const Section& s) const;
    void shift_following_sections(const std::string& section, std::ptrdiff_t by);
    std::string indentation(const Section& s) const;

    Context& context_;
    std::string path_;
    IniStyle style_;
    Pattern section_pattern_, setting_pattern_, comment_pattern_;
    std::vector<std::string> lines_;
    /// in the order of the file; a repeated section occurs repeatedly
    std::vector<std::string> names_;
    std::map<std::string, Section> sections_;
};

}  // namespace bunraku::apply
