// SPDX-License-Identifier: Apache-2.0
#include "core/codec/ini.h"

#include <fmt/format.h>
#include <optional>

#include "core/base/text.h"
#include "core/base/text_view.h"

namespace bunraku::codec {

namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_word(std::string_view s) {
    if (s.empty()) return false;
    for (char c : s) {
        auto u = static_cast<unsigned char>(c);
        bool ok = (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') ||
                  u == '_' || u >= 0x80;
        if (!ok) return false;
    }
    return true;
}

std::optional<std::string_view> section_name(base::TextView line BUNRAKU_LIFETIMEBOUND) {
    line = base::trim(line, kBlanks);
    if (line.size() < 3 || line.front() != '[' || line.back() != ']') return std::nullopt;
    std::string_view name = line.substr(1, line.size() - 2);
    return is_word(name) ? std::optional(name) : std::nullopt;
}

struct Pair {
    std::string_view name, value;
};
std::optional<Pair> entry(std::string_view line) {
    std::size_t eq = line.find('=');
    if (eq == std::string_view::npos) return std::nullopt;
    std::string_view name = base::trim(line.substr(0, eq), kBlanks);
    if (!is_word(name) || name.starts_with(kByteOrderMark)) return std::nullopt;
    return Pair{name, base::trim(line.substr(eq + 1), kBlanks)};
}

std::string edit(std::string_view text, std::string_view section, std::string_view name,
                 std::optional<std::string_view> value) {
    std::vector<std::string> out;
    std::string current = "main";
    std::size_t insert_at = std::string::npos;
    bool done = false;
    bool section_seen = section == "main";
    for (std::string_view line : base::lines(text)) {
        if (auto s = section_name(line)) {
            current = *s;
            section_seen = section_seen || current == section;
        } else if (auto e = entry(line); e && current == section && e->name == name) {
            if (value && !done) out.push_back(fmt::format("{} = {}", name, *value));
            done = true;
            if (current == section) insert_at = out.size();
            continue;
        }
        out.emplace_back(line);
        if (current == section && !base::trim(line, kBlanks).empty()) insert_at = out.size();
    }
    if (value && !done) {
        std::string line = fmt::format("{} = {}", name, *value);
        if (insert_at != std::string::npos) {
            out.insert(out.begin() + static_cast<long>(insert_at), line);
        } else if (section_seen && section == "main") {
            out.insert(out.begin(), {"[main]", line});
        } else {
            out.push_back(fmt::format("[{}]", section));
            out.push_back(line);
        }
    }
    std::string result;
    for (const std::string& line : out) result.append(line).append("\n");
    return result;
}

}  // namespace

const IniEntry* IniFile::find(std::string_view section, std::string_view name) const {
    for (const IniSection& s : sections) {
        if (s.name != section) continue;
        for (const IniEntry& e : s.entries) {
            if (e.name == name) return &e;
        }
    }
    return nullptr;
}

base::Result<IniFile> parse_ini(std::string_view text) {
    IniFile file;
    file.sections.push_back({"main", {}, 0});
    std::size_t current = 0;
    int number = 0;
    for (std::string_view line : base::lines(text)) {
        ++number;
        if (auto name = section_name(line)) {
            current = file.sections.size();
            for (std::size_t i = 0; i < file.sections.size(); ++i) {
                if (file.sections[i].name == *name) current = i;
            }
            if (current == file.sections.size()) {
                file.sections.push_back({std::string(*name), {}, number});
            }
        } else if (auto pair = entry(line)) {
            file.sections[current].entries.push_back(
                {std::string(pair->name), std::string(pair->value), number});
        } else if (std::string_view rest = base::trim(line, kBlanks);
                   !rest.empty() && rest.front() != '#') {
            return base::failure(fmt::format("Could not match line {}", line), number);
        }
    }
    return file;
}

std::string set_ini_value(std::string_view text, std::string_view section, std::string_view name,
                          std::string_view value) {
    return edit(text, section, name, value);
}

std::string remove_ini_value(std::string_view text, std::string_view section,
                             std::string_view name) {
    return edit(text, section, name, std::nullopt);
}

}  // namespace bunraku::codec
