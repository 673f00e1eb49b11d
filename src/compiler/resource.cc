#include "compiler/resource.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/diagnostic.h"

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
    for (auto id : other.ids_) add(id);
}

namespace {

// [[:alnum:]_] or a letter beyond ASCII.
bool word(unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; }

std::string down(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
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
    // \A..\Z lets one newline stand at the end.
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    if (text.empty() || !word(static_cast<unsigned char>(text[0]))) return false;
    return std::all_of(text.begin() + 1, text.end(), [](char ch) {
        auto c = static_cast<unsigned char>(ch);
        return word(c) || c == ':' || c == '.' || c == '-';
    });
}

void tag(Tags& tags, TagTable& table, std::string_view text) {
    auto name = down(text);
    if (auto id = table.find(name); id && tags.has(id)) return;
    if (!is_valid_tag(name)) {
        throw base::PuppetError(fmt::format("Invalid tag '{}'", name), "",
                                base::PuppetError::Class::Plain);
    }
    add_with_parts(tags, table, name);
}

void tag_if_valid(Tags& tags, TagTable& table, std::string_view text) {
    if (is_valid_tag(text)) add_with_parts(tags, table, down(text));
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
