// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/doc_text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::reference {

namespace {

std::size_t indent_of(std::string_view line) {
    return std::min(line.find_first_not_of(base::kBlanks), line.size());
}

bool is_empty_line(std::string_view line) {
    return line.find_first_not_of(base::kBlanks) == std::string_view::npos;
}

struct Mark {
    bool directive = false;
    std::string_view name, rest;
};

/// "@name rest", "@!name rest".
std::optional<Mark> mark_of(base::TextView line BUNRAKU_LIFETIMEBOUND) {
    if (!line.starts_with('@')) return std::nullopt;
    Mark out;
    line.remove_prefix(1);
    if (line.starts_with('!')) {
        out.directive = true;
        line.remove_prefix(1);
    }
    std::size_t end = 0;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 ||
                                 line[end] == '_' || (line[end] == '.' && end > 0)))
        ++end;
    if (end == 0) return std::nullopt;
    out.name = line.substr(0, end);
    line.remove_prefix(end);
    if (line.empty()) return out;
    if (base::kBlanks.find(line[0]) == std::string_view::npos) return std::nullopt;
    const std::size_t begin = line.find_first_not_of(base::kBlanks);
    if (begin != std::string_view::npos) out.rest = line.substr(begin);
    return out;
}

constexpr std::string_view kDirectives[] = {"attribute", "endgroup", "group",     "macro",
                                            "method",    "scope",    "visibility"};

/// The first word and the rest of a text.
struct Named {
    std::optional<std::string> name, text;
};
Named named(std::string_view text) {
    text = base::trim(text);
    Named out;
    if (text.empty()) return out;
    const std::size_t end = text.find_first_of(base::kBlanks);
    out.name = std::string(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    const std::size_t next = text.find_first_not_of(base::kBlanks, end);
    if (next != std::string_view::npos) out.text = std::string(text.substr(next));
    return out;
}

/// "[Types] text" and "name [Types] text". Quotes protect their content, and brackets nest.
struct Typed {
    std::optional<std::string> name;
    std::optional<std::vector<std::string>> types;
    std::string text;
};
Typed typed(std::string_view text, std::string_view open, std::string_view close) {
    std::size_t end = 0;
    std::string before;
    std::vector<std::string> list{""};
    int level = 0;
    bool space = false;
    char last = 0;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            // A string has at least one character and ends on the same line.
            const std::size_t quote = text.find(c, i + 2);
            if (quote != std::string_view::npos &&
                text.substr(i, quote - i).find('\n') == std::string_view::npos) {
                list.back() += text.substr(i, quote + 1 - i);
                i = quote + 1;
                continue;
            }
        }
        const bool blank = c == ' ' || c == '\t';
        const bool is_space = base::kBlanks.find(c) != std::string_view::npos;
        if (open.find(c) != std::string_view::npos) {
            if (level > 0) list.back() += c;
            ++level;
        } else if (close.find(c) != std::string_view::npos) {
            if (!(last == '=' && c == '>')) --level;
            if (level == 0) {
                end = i;
                break;
            }
            list.back() += c;
        } else if (c == ',' && level == 1) {
            list.emplace_back();
        } else if (!is_space && level == 0) {
            if (space && list.size() == 1 && list[0].empty()) {
                end = i;
                break;
            }
            before += c;
        } else if (blank && level == 0 && !before.empty()) {
            space = true;
        } else if (level >= 1) {
            list.back() += c;
        } else if (level == 0 && c == '\n') {
            end = i;
            break;
        }
        last = c;
        ++i;
    }
    Typed out;
    if (list.size() == 1 && list[0].empty()) {
        out.text = base::trim(text);
        return out;
    }
    if (!before.empty()) out.name = std::move(before);
    out.types.emplace();
    for (const auto& one : list) out.types->emplace_back(base::trim(one));
    if (end + 1 <= text.size()) out.text = base::trim(text.substr(end + 1));
    return out;
}

constexpr std::string_view kOpen = "[({<", kClose = ">})]";

void with_types_and_name(DocTag& tag, std::string_view text) {
    Typed t = typed(text, kOpen, kClose);
    if (t.name) {
        tag.name = std::move(t.name);
        tag.text = std::move(t.text);
    } else {
        Named n = named(t.text);
        tag.name = std::move(n.name);
        tag.text = std::move(n.text);
    }
    tag.types = std::move(t.types);
}

void with_choice(DocTag& tag, std::string_view text, bool types) {
    Named parent = named(text);
    tag.name = parent.name;
    const std::string rest = parent.text.value_or("");
    DocTag::Choice choice;
    if (types) {
        // Parentheses are not type brackets here, because they may contain a default.
        Typed t = typed(rest, "[{<", ">}]");
        Named n{t.name, t.text};
        if (!t.name) n = named(t.text);
        choice.name = n.name.value_or("");
        choice.types = std::move(t.types);
        choice.text = n.text;
        if (choice.text && choice.text->starts_with('('))
            choice.text = typed(*choice.text, "(", ")").text;
    } else {
        Named n = named(rest);
        choice.name = n.name.value_or("");
        choice.text = n.text;
    }
    tag.choice = std::move(choice);
}

void add_tag(DocText& out, std::string_view name, std::string_view text) {
    DocTag tag{.tag = std::string(name), .name = {}, .text = {}, .types = {}, .choice = {}};
    if (name == "param" || name == "attr" || name == "yieldparam") {
        with_types_and_name(tag, text);
    } else if (name == "return" || name == "raise" || name == "yield" || name == "yieldreturn") {
        Typed t = typed(text, kOpen, kClose);
        if (t.name) return;
        tag.types = std::move(t.types);
        tag.text = std::move(t.text);
    } else if (name == "example") {
        if (text.empty()) return;
        const std::size_t end = text.find('\n');
        // Collapses repeated spaces.
        std::string title;
        for (const char c : base::trim(text.substr(0, end)))
            if (c != ' ' || !title.ends_with(' ')) title += c;
        tag.name = std::move(title);
        tag.text = end == std::string_view::npos ? "" : std::string(text.substr(end + 1));
        while (tag.text->ends_with('\n')) tag.text->pop_back();
    } else if (name == "option" || name == "enum") {
        with_choice(tag, text, name == "option");
    } else if (name == "see") {
        Named n = named(text);
        tag.name = std::move(n.name);
        tag.text = std::move(n.text);
    } else {
        constexpr std::string_view kPlain[] = {"abstract", "api",     "author", "deprecated",
                                               "note",     "private", "since",  "todo",
                                               "version",  "summary"};
        if (std::ranges::find(kPlain, name) == std::end(kPlain)) return;
        tag.text = std::string(base::trim(text));
    }
    out.tags.push_back(std::move(tag));
}

}  // namespace

const DocTag* DocText::find(std::string_view tag) const {
    const auto at = std::ranges::find(tags, tag, &DocTag::tag);
    return at == tags.end() ? nullptr : &*at;
}
DocTag* DocText::find(std::string_view tag) {
    const auto at = std::ranges::find(tags, tag, &DocTag::tag);
    return at == tags.end() ? nullptr : &*at;
}

std::string DocText::tag_text(std::string_view tag) const {
    for (const auto& t : tags)
        if (t.tag == tag && t.text && !t.text->empty()) return *t.text;
    return {};
}

bool DocText::is_private() const {
    return std::ranges::any_of(
        tags, [](const DocTag& t) { return t.tag == "api" && t.text == "private"; });
}

void DocText::remove(std::string_view tag) {
    std::erase_if(tags, [&](const DocTag& t) { return t.tag == tag; });
}

// Follows YARD's DocstringParser (0.9.28): a tag includes the following indented lines.
DocText parse_doc(std::string_view comment) {
    DocText out;
    std::vector<std::string> lines = base::texts(base::lines(comment));
    for (auto& line : lines)
        if (line.ends_with('\r')) line.pop_back();
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    lines.emplace_back();
    std::size_t last_indent = 0, within = 0;
    std::optional<std::string> tag;
    bool directive = false;
    std::string held, last;
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& line = lines[i];
        const std::size_t indent = indent_of(line);
        const bool empty = is_empty_line(line), done = i + 1 == lines.size();
        const auto mark = mark_of(line);
        if (tag && ((indent < within && !empty) || done || (indent == 0 && !empty) ||
                    (indent <= last_indent && mark))) {
            if (!directive && std::ranges::find(kDirectives, *tag) == std::end(kDirectives))
                add_tag(out, *tag, held);
            tag.reset();
            held.clear();
            within = 0;
        }
        if (mark) {
            directive = mark->directive;
            tag = std::string(mark->name);
            held = mark->rest;
        } else if (tag && indent >= within && !empty) {
            if (within == 0) within = indent;
            if (is_empty_line(last)) held += '\n';
            held += '\n';
            held += std::string_view(line).substr(std::min(within, line.size()));
        } else if (!tag) {
            text += line + "\n";
        }
        last_indent = indent;
        last = line;
    }
    out.text = base::trim(text);
    return out;
}

// Like Puppet::Util::Docs.scrub, but also removes quotation syntax around the text.
std::string scrubbed(std::string_view text) {
    if ((text.starts_with("%q{") || text.starts_with("%Q{")) && text.ends_with('}'))
        text = text.substr(3, text.size() - 4);
    const std::string_view all = base::trim(text);
    if (all.find('\n') == std::string_view::npos) return std::string(all);
    std::optional<std::string_view> indent;
    const std::string_view behind_first = text.substr(text.find('\n') + 1);
    for (const auto line : base::lines(behind_first)) {
        if (is_empty_line(line)) continue;
        const std::string_view mine =
            line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
        if (!indent || mine < *indent) indent = mine;
    }
    std::string out;
    for (auto line : base::lines(text)) {
        if (indent && line.starts_with(*indent)) line.remove_prefix(indent->size());
        const std::size_t end = line.find_last_not_of(base::kBlanks);
        out += line.substr(0, end == std::string_view::npos ? 0 : end + 1);
        out += '\n';
    }
    return std::string(out.substr(0, out.find_last_not_of(base::kBlanks) + 1));
}

}  // namespace bunraku::reference
