// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/ini/settings_file.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/regex/escape.h"

namespace bunraku::apply {

SettingsFile::SettingsFile(Context& context, std::string path, IniStyle style)
    : context_(context), path_(std::move(path)), style_(std::move(style)) {
    const bool blank = match_of(pattern_of("^\\s+$"), style_.separator).has_value();
    const std::string between = blank ? " " : std::string(stripped(style_.separator));
    const std::string prefix = regex::escape(style_.prefix);
    std::string name = "(.*)";
    if (style_.level < kIniAnyNames && !prefix.empty()) name = fmt::format("([^{}]*)", prefix);
    section_pattern_ =
        pattern_of(fmt::format("^\\s*{}{}{}\\s*$", prefix, name, regex::escape(style_.suffix)));
    const std::string rest = fmt::format("(\\s*{}[ \\t]*)(.*)\\s*$", between);
    setting_pattern_ =
        pattern_of(fmt::format("^(\\s*)([^#;\\s]|[^#;\\s].*?[^\\s{}]){}", between, rest));
    comment_pattern_ = pattern_of(fmt::format("^(\\s*)[#;]+(\\s*)(.*?[^\\s{}]){}", between, rest));
    const auto status = unwrap(context_.system.files.look(path_, true));
    if (status && status->kind == sys::FileKind::File) lines_ = file_lines(context_, path_);
    parse();
}

void SettingsFile::parse() {
    std::string name;
    Section section;
    section.first = 0;
    bool empty = true;
    section.last = 0;
    const auto done = [&] {
        if (name.empty() && empty) section.last.reset();
        add(name, std::move(section));
    };
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const std::string& line = lines_[i];
        if (const auto header = match_of(section_pattern_, line)) {
            done();
            name = header->group(line, 1);
            section = Section();
            section.first = section.last = static_cast<std::ptrdiff_t>(i);
            empty = true;
            continue;
        }
        if (const auto found = match_of(setting_pattern_, line)) {
            section.existing.insert_or_assign(std::string(found->group(line, 2)),
                                              std::string(found->group(line, 4)));
            const std::size_t indent = found->group(line, 1).size();
            section.indentation = std::min(indent, section.indentation.value_or(indent));
        }
        section.last = static_cast<std::ptrdiff_t>(i);
        if (line == "\n") ++section.blank_lines;
        empty = false;
    }
    done();
    BUNRAKU_ASSERT(!names_.empty() && names_.front().empty());
    BUNRAKU_ASSERT(sections_.size() <= names_.size() && sections_.contains(""));
}

void SettingsFile::add(const std::string& name, Section section) {
    names_.push_back(name);
    sections_.insert_or_assign(name, std::move(section));
    BUNRAKU_ASSERT(sections_.size() <= names_.size());
}

std::optional<std::string> SettingsFile::value(const std::string& section,
                                               const Name& setting) const {
    const auto it = sections_.find(section);
    if (it == sections_.end()) return std::nullopt;
    if (setting) {
        const auto known = it->second.existing.find(*setting);
        if (known != it->second.existing.end()) return known->second;
    }
    for (const auto& [name, text] : it->second.added)
        if (name == setting) return text;
    return std::nullopt;
}

std::vector<std::size_t> SettingsFile::lines_of(const Section& s) const {
    std::vector<std::size_t> out;
    if (s.is_new()) return out;
    const auto end = static_cast<std::ptrdiff_t>(lines_.size());
    for (std::ptrdiff_t i = s.first.value_or(0); i <= *s.last && i < end; ++i)
        out.push_back(static_cast<std::size_t>(i));
    return out;
}

std::string SettingsFile::indentation(const Section& s) const {
    std::string out;
    for (std::size_t n = style_.width.value_or(s.indentation.value_or(0)); n > 0; --n)
        out += style_.indent;
    return out;
}

void SettingsFile::set(const std::string& section, const Name& setting,
                       const std::optional<std::string>& value) {
    if (!has(section)) add(section, Section());
    BUNRAKU_ASSERT(sections_.size() <= names_.size());
    Section& s = sections_.at(section);
    const std::string text = value.value_or("");
    if (setting && s.existing.contains(*setting)) {
        for (const std::size_t i : lines_of(s)) {
            const auto found = match_of(setting_pattern_, lines_[i]);
            if (!found || found->group(lines_[i], 2) != *setting) continue;
            std::string line(found->group(lines_[i], 1));
            line += found->group(lines_[i], 2);
            line += found->group(lines_[i], 3);
            lines_[i] = line + text;
        }
        s.existing[*setting] = text;
        return;
    }
    // Insert a setting after the comment that contains it, if there is one.
    if (setting) {
        for (const std::size_t i : lines_of(s)) {
            const auto found = match_of(comment_pattern_, lines_[i]);
            if (!found || found->group(lines_[i], 3) != *setting) continue;
            lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                          indentation(s) + *setting + style_.separator + text);
            s.existing[*setting] = text;
            if (s.last) ++*s.last;
            shift_following_sections(section, 1);
            return;
        }
    }
    if (!setting && !value) return;
    for (auto& [name, old] : s.added) {
        if (name != setting) continue;
        old = text;
        return;
    }
    s.added.emplace_back(setting, text);
}

void SettingsFile::shift_following_sections(const std::string& section, std::ptrdiff_t by) {
    const auto at = std::ranges::find(names_, section);
    if (at == names_.end()) return;
    for (auto it = at + 1; it != names_.end(); ++it) {
        Section& s = sections_.at(*it);
        if (s.first) *s.first += by;
        if (s.last) *s.last += by;
    }
}

bool SettingsFile::emptied(const std::string& name, const Section& s) const {
    if (name.empty()) return s.is_new();
    if (s.first == s.last) return true;
    return style_.level == kIniBlankSectionsGo && s.last && *s.last - s.blank_lines == s.first;
}

void SettingsFile::remove(const std::string& section, const Name& setting) {
    const auto it = sections_.find(section);
    if (it == sections_.end()) {
        ruby_error("undefined method `existing_setting?' for nil:NilClass");
    }
    Section& s = it->second;
    if (!setting || !s.existing.contains(*setting)) return;
    // Like the module's loop, this one skips the line after each removed line.
    for (std::ptrdiff_t i = s.first.value_or(0); i <= s.last.value_or(-1); ++i) {
        if (i < 0 || i >= static_cast<std::ptrdiff_t>(lines_.size())) continue;
        const std::string& line = lines_[static_cast<std::size_t>(i)];
        const auto found = match_of(setting_pattern_, line);
        if (found && found->group(line, 2) == *setting) lines_.erase(lines_.begin() + i);
    }
    s.existing.erase(*setting);
    if (s.last) --*s.last;
    shift_following_sections(section, -1);
    if (style_.level >= kIniEmptiedSectionsStay || !emptied(section, s)) return;
    if (s.first && *s.first >= 0 && *s.first < static_cast<std::ptrdiff_t>(lines_.size()))
        lines_.erase(lines_.begin() + *s.first);
    shift_following_sections(section, -1);
    names_.erase(std::ranges::find(names_, section));
    sections_.erase(section);
}

void SettingsFile::save() {
    const Section& global = sections_.at("");
    const bool no_global = global.is_new() && global.added.empty();
    std::string out;
    for (std::size_t index = 0; index < names_.size(); ++index) {
        const std::string& name = names_[index];
        const auto it = sections_.find(name);
        // The section occurs twice in the file and was removed once.
        if (it == sections_.end()) ruby_error("undefined method `new_section?' for nil:NilClass");
        const Section& s = it->second;
        if (s.is_new() && !name.empty()) {
            if ((index == 1 && !no_global) || index > 1) put_line(out, "");
            put_line(out, style_.prefix + name + style_.suffix);
        }
        // Keep blank lines at the end of a section after the added settings.
        std::string blank;
        bool any_blank = false;
        for (std::ptrdiff_t i = s.first.value_or(0); !s.is_new() && i <= *s.last; ++i) {
            if (i < 0 || i >= static_cast<std::ptrdiff_t>(lines_.size())) {
                ruby_error("undefined method `match?' for nil:NilClass");
            }
            const std::string& line = lines_[static_cast<std::size_t>(i)];
            if (stripped(line).empty() && line.find('\0') == std::string::npos) {
                put_line(blank, line);
                any_blank = true;
                continue;
            }
            out += blank;
            blank.clear();
            any_blank = false;
            put_line(out, line);
        }
        for (const auto& [setting, value] : s.added)
            put_line(out, indentation(s) + setting.value_or("") + style_.separator + value);
        if (any_blank) {
            out += blank;
        } else if (s.is_new() && !s.added.empty() && index + 1 < names_.size()) {
            put_line(out, "");
        }
    }
    rewrite(context_, path_, out);
}

}  // namespace bunraku::apply
