// A file of sections and settings as the module inifile (4.4.0 to 6.3.1) reads and writes it. What
// it does to files that it half understands is kept, since what stands in them was written by it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

/// Levels of the releases (module_releases.h), of both types.
enum IniLevel : std::int8_t {
    kIniNoBracketInNames = 0,    ///< the name of a section ends where another prefix begins
    kIniAnyNames = 1,            ///< 5.3.0
    kIniSectionsExist = 2,       ///< 5.4.0: a section alone is there where it is
    kIniBlankSectionsGo = 3,     ///< 6.1.1: one that is left with empty lines is removed
    kIniEmptiedSectionsStay = 4  ///< 6.3.0
};

struct IniStyle {
    std::string separator = " = ", prefix = "[", suffix = "]", indent = " ";
    std::optional<std::size_t> width;  ///< of the indentation; as in the section where unset
    int level = kIniEmptiedSectionsStay;
};

class SettingsFile {
public:
    /// The name of a setting; none: the section itself is meant.
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
        // Lines of the file; the last is none for what is new. The first of the global one is 0.
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
    /// The lines of a section, by number, where there are such.
    std::vector<std::size_t> lines_of(const Section& s) const;
    void move_lines_behind(const std::string& section, std::ptrdiff_t by);
    std::string indentation(const Section& s) const;

    Context& context_;
    std::string path_;
    IniStyle style_;
    Pattern section_pattern_, setting_pattern_, comment_pattern_;
    std::vector<std::string> lines_;
    std::vector<std::string> names_;  ///< in the order of the file; one that comes twice is twice
    std::map<std::string, Section> sections_;
};

}  // namespace bunraku::apply
