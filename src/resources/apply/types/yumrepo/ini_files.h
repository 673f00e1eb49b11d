// The files of yum's repositories as one: puppet/util/inifile 8.11 and what yumrepo_core 3.0.1
// changes of it. Comments and blank lines stay where they are.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::apply {

/// "[name]" and what stands below it.
class IniSection {
public:
    IniSection(std::string name, std::string file) : name(std::move(name)), file(std::move(file)) {}

    /// A line that is no entry has its text in `key` and is none.
    struct Entry {
        bool is_entry = true;
        std::string key;
        std::optional<std::string> value = {};  ///< nothing: the entry is left out
    };

    const std::string* find(std::string_view key) const;
    void set(std::string_view key, std::optional<std::string> value);
    std::string text() const;

    std::string name, file;
    std::vector<Entry> entries;
    bool dirty = false, destroy = false;

private:
    Entry* entry(std::string_view key);
};

class IniFiles;

class IniFile {
public:
    explicit IniFile(std::string path) : path(std::move(path)) {}
    /// `others`: the files whose sections must not be here again; null: it stands alone. Throws
    /// base::PuppetError with the place.
    void parse(std::string_view text, const IniFiles* others);
    IniSection* section(std::string_view name) const;
    IniSection& add(std::string name, const IniFiles* others);
    std::string text() const;

    std::string path;
    /// In their order: texts and sections.
    struct Part {
        std::string text;
        std::unique_ptr<IniSection> section;
    };
    std::vector<Part> parts;
    bool any(bool IniSection::* flag) const;
    /// Nothing but what is to go.
    bool emptied() const;
};

class IniFiles {
public:
    /// Forgets what was known of the file.
    IniFile& begin(const std::string& path);
    IniFile& get(const std::string& path);
    /// The last of that name.
    IniSection* section(std::string_view name) const;

    std::vector<std::unique_ptr<IniFile>> files;
};

}  // namespace bunraku::apply
