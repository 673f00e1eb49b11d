// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/yumrepo/ini_files.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/value/text.h"

namespace bunraku::apply {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";

[[noreturn]] void ini_failed(std::string text, const std::string& file, std::size_t line = 0) {
    text += line > 0 ? fmt::format(" (file: {}, line: {})", file, line)
                     : fmt::format(" (file: {})", file);
    throw base::plain_error(std::move(text));
}

std::string ini_quoted(std::string_view text) {
    std::string out;
    value::print_inspect(out, value::Value::string(text));
    return out;
}

bool is_comment(std::string_view line) {
    const std::size_t at = line.find_first_not_of(kSpace);
    if (at == std::string_view::npos || line[0] == '#' || line[0] == ';') return true;
    line.remove_prefix(at);
    return line.size() > 3 && base::same_ignoring_case(line.substr(0, 3), "rem") &&
           kSpace.find(line[3]) != std::string_view::npos;
}

/// Parses "key = value" without surrounding whitespace.
std::optional<std::pair<std::string_view, std::string_view>> pair_of(std::string_view line) {
    line = line.substr(std::min(line.find_first_not_of(kSpace), line.size()));
    const std::size_t end = line.find_first_of(" \t\r\n\f\v=");
    if (end == 0 || end == std::string_view::npos) return std::nullopt;
    const std::string_view key = line.substr(0, end);
    line = line.substr(std::min(line.find_first_not_of(kSpace, end), line.size()));
    if (!line.starts_with('=')) return std::nullopt;
    return std::pair(key, base::trim(line.substr(1), kSpace));
}

std::string_view without_newline(std::string_view line) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

}  // namespace

IniSection::Entry* IniSection::entry(std::string_view key) {
    for (Entry& e : entries)
        if (e.is_entry && e.key == key) return &e;
    return nullptr;
}

const std::string* IniSection::find(std::string_view key) const {
    const Entry* e = const_cast<IniSection*>(this)->entry(key);
    return e && e->value ? &*e->value : nullptr;
}

void IniSection::set(std::string_view key, std::optional<std::string> value) {
    dirty = true;
    if (Entry* e = entry(key)) {
        e->value = std::move(value);
    } else {
        entries.push_back({.key = std::string(key), .value = std::move(value)});
    }
    BUNRAKU_ASSERT(dirty && entry(key));
}

std::string IniSection::text() const {
    if (destroy) return {};
    std::string out = fmt::format("[{}]\n", name);
    for (const Entry& e : entries) {
        if (!e.is_entry) out += e.key;
        if (e.is_entry && e.value) out += fmt::format("{}={}\n", e.key, *e.value);
    }
    return out;
}

void IniFile::parse(std::string_view text, const IniFiles* others) {
    IniSection* section = nullptr;
    std::optional<std::string> option;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
        BUNRAKU_ASSERT(!line.empty());
        text.remove_prefix(line.size());
        if (is_comment(line)) {
            if (section) {
                section->entries.push_back({.is_entry = false, .key = std::string(line)});
            } else {
                parts.push_back({std::string(line), nullptr});
            }
        } else if (section && option && std::string_view(" \t\r\f").contains(line[0])) {
            const std::string* before = section->find(*option);
            section->set(*option,
                         fmt::format("{}\n{}", before ? *before : "", without_newline(line)));
        } else if (const std::size_t close = line.find(']');
                   line[0] == '[' && close != std::string_view::npos && close > 1) {
            if (section) section->dirty = false;
            section = &add(std::string(line.substr(1, close - 1)), others);
            option.reset();
        } else if (const auto pair = pair_of(line)) {
            if (!section) {
                throw base::plain_error(fmt::format("Property with key {} outside of a section",
                                                    ini_quoted(pair->first)));
            }
            BUNRAKU_ASSERT(!pair->first.empty());
            section->set(pair->first, std::string(pair->second));
            option = pair->first;
        } else {
            ini_failed(fmt::format("Can't parse line '{}'", without_newline(line)), path, number);
        }
    }
    if (section) section->dirty = false;
    BUNRAKU_ASSERT(!any(&IniSection::dirty));
}

IniSection* IniFile::section(std::string_view name) const {
    for (const Part& p : parts)
        if (p.section && p.section->name == name) return p.section.get();
    return nullptr;
}

IniSection& IniFile::add(std::string name, const IniFiles* others) {
    const IniSection* elsewhere = others ? others->section(name) : nullptr;
    if (section(name) || (elsewhere && !elsewhere->destroy)) {
        ini_failed(fmt::format("Section {} is already defined, cannot redefine", ini_quoted(name)),
                   path);
    }
    parts.push_back({{}, std::make_unique<IniSection>(std::move(name), path)});
    BUNRAKU_ASSERT(parts.back().section && parts.back().text.empty());
    BUNRAKU_ASSERT(parts.back().section->file == path);
    return *parts.back().section;
}

std::string IniFile::text() const {
    std::string out;
    for (const Part& p : parts) out += p.section ? p.section->text() : p.text;
    return out;
}

bool IniFile::any(bool IniSection::* flag) const {
    return std::ranges::any_of(parts,
                               [&](const Part& p) { return p.section && (*p.section).*flag; });
}

bool IniFile::emptied() const {
    return std::ranges::all_of(parts,
                               [](const Part& p) { return !p.section || p.section->destroy; });
}

IniFile& IniFiles::begin(const std::string& path) {
    for (auto& f : files) {
        if (f->path != path) continue;
        f = std::make_unique<IniFile>(path);
        BUNRAKU_ASSERT(f->parts.empty());
        return *f;
    }
    files.push_back(std::make_unique<IniFile>(path));
    return *files.back();
}

IniFile& IniFiles::get(const std::string& path) {
    for (auto& f : files)
        if (f->path == path) return *f;
    return begin(path);
}

IniSection* IniFiles::section(std::string_view name) const {
    IniSection* found = nullptr;
    for (const auto& f : files)
        if (IniSection* s = f->section(name)) found = s;
    return found;
}

}  // namespace bunraku::apply
