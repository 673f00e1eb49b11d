// SPDX-License-Identifier: Apache-2.0
// All files of yum repositories: puppet/util/inifile 8.11 with the changes of yumrepo_core 3.0.1.
// Comments and blank lines are preserved.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::apply {

/// A section: "[name]" and the lines after it.
class IniSection {
public:
    IniSection(std::string n, std::string f) : name(std::move(n)), file(std::move(f)) {}

    /// A line of a section. For a line that is not an entry, `key` contains its text.
    struct Entry {
        bool is_entry = true;
        std::string key;
        std::optional<std::string> value = {};  ///< nullopt if the entry is to be removed
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
    explicit IniFile(std::string p) : path(std::move(p)) {}
    /// Parses a file. Throws base::PuppetError with the location if a section is invalid or also
    /// exists in `others`, which may be null.
    void parse(std::string_view text, const IniFiles* others);
    IniSection* section(std::string_view name) const;
    IniSection& add(std::string name, const IniFiles* others);
    std::string text() const;

    std::string path;
    /// Texts and sections, in the order of the file.
    struct Part {
        std::string text;
        std::unique_ptr<IniSection> section;
    };
    std::vector<Part> parts;
    bool any(bool IniSection::* flag) const;
    /// Reports whether nothing remains except sections to be removed.
    bool emptied() const;
};

class IniFiles {
public:
    /// Discards the cached content of the file.
    IniFile& begin(const std::string& path);
    IniFile& get(const std::string& path);
    /// Returns the last section with that name.
    IniSection* section(std::string_view name) const;

    std::vector<std::unique_ptr<IniFile>> files;
};

}  // namespace bunraku::apply
