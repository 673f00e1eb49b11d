// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/resource.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/plain_error.h"
#include "core/base/text_view.h"

namespace bunraku::compiler {

std::uint32_t TagTable::id(std::string_view tag) {
    if (auto it = ids_.find(tag); it != ids_.end()) return it->second;
    auto text = arena_.copy(tag);
    texts_.push_back(text);
    auto id = static_cast<std::uint32_t>(texts_.size());
    ids_.emplace(text, id);
    return id;
}

std::uint32_t TagTable::find(std::string_view tag) const {
    auto it = ids_.find(tag);
    return it == ids_.end() ? 0 : it->second;
}

bool Tags::has(std::uint32_t id) const {
    return std::find(ids_.begin(), ids_.end(), id) != ids_.end();
}

bool Tags::add(std::uint32_t id) {
    if (has(id)) return false;
    ids_.push_back(id);
    return true;
}

void Tags::merge(const Tags& other) {
    if (&other == this) return;
    if (ids_.empty()) {
        ids_.assign(other.ids_.begin(), other.ids_.end());
        return;
    }
    // The other set has no duplicates, so only the previous tags of this set can match.
    const std::size_t before = ids_.size();
    for (auto id : other.ids_) {
        const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(before);
        if (std::find(ids_.begin(), end, id) == end) ids_.push_back(id);
    }
}

namespace {

enum : std::uint8_t { kWord = 1, kRest = 2, kUpper = 4 };

// Characters of a tag: [[:alnum:]_] or a non-ASCII letter; after the first also [:.-].
constexpr auto kTagChars = [] {
    std::array<std::uint8_t, 256> table{};
    for (unsigned c = 0; c < 256; ++c) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool word =
            upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
        if (word) table[c] |= kWord | kRest;
        if (c == ':' || c == '.' || c == '-') table[c] |= kRest;
        if (upper) table[c] |= kUpper;
    }
    return table;
}();

std::uint8_t tag_char(char c) { return kTagChars[static_cast<unsigned char>(c)]; }

/// Returns the text in lower case. `buffer` holds the result if it differs from the text.
std::string_view down(base::TextView text BUNRAKU_LIFETIMEBOUND,
                      std::string& buffer BUNRAKU_LIFETIMEBOUND) {
    const auto upper = [](char c) { return (tag_char(c) & kUpper) != 0; };
    if (std::none_of(text.begin(), text.end(), upper)) return {text.data(), text.size()};
    buffer = text;
    for (char& c : buffer) {
        if (upper(c)) c = static_cast<char>(c - 'A' + 'a');
    }
    return buffer;
}

void add_with_parts(Tags& tags, TagTable& table, std::string_view name) {
    if (!tags.add(table.id(name))) return;
    if (name.find("::") == std::string_view::npos) return;
    while (true) {
        auto at = name.find("::");
        tags.add(table.id(name.substr(0, at)));
        if (at == std::string_view::npos) break;
        name = name.substr(at + 2);
        if (name.empty()) break;
    }
}

}  // namespace

bool is_valid_tag(std::string_view text) {
    // Puppet's pattern \A..\Z accepts one newline at the end.
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    if (text.empty() || !(tag_char(text[0]) & kWord)) return false;
    return std::all_of(text.begin() + 1, text.end(),
                       [](char c) { return (tag_char(c) & kRest) != 0; });
}

void tag(Tags& tags, TagTable& table, std::string_view text) {
    std::string buffer;
    const std::string_view name = down(text, buffer);
    if (auto id = table.find(name); id && tags.has(id)) return;
    if (!is_valid_tag(name)) {
        throw base::plain_error(fmt::format("Invalid tag '{}'", name));
    }
    add_with_parts(tags, table, name);
}

void tag_if_valid(Tags& tags, TagTable& table, std::string_view text) {
    std::string buffer;
    if (is_valid_tag(text)) add_with_parts(tags, table, down(text, buffer));
}

std::string_view ResourceType::namevar() const {
    if (kind == Kind::Native && !spec->composite_namevar) return spec->namevar();
    if (kind == Kind::Ruby) return ruby_namevar;
    return "name";
}

bool Resource::is_stage() const { return type.name == "Stage"; }

std::string Resource::ref() const {
    std::string out;
    out.reserve(type.name.size() + title.size() + 2);
    out.append(type.name).append("[").append(title).append("]");
    return out;
}

const Param* Resource::find(std::string_view name) const {
    for (const auto& p : params) {
        if (p.name == name) return &p;
    }
    return nullptr;
}

const Value* Resource::get(std::string_view name) const {
    const Param* p = find(name);
    return p && !p->value.is_undef() ? &p->value : nullptr;
}

}  // namespace bunraku::compiler
