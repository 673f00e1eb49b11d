// SPDX-License-Identifier: Apache-2.0
// REFERENCE.md with the headings, anchors and order of puppet-strings (4.1).
#include <algorithm>
#include <fmt/format.h>

#include "compile/reference/documents.h"
#include "core/base/text.h"

namespace bunraku::reference {

namespace {

using Kind = DocItem::Kind;

struct ReferenceGroup {
    std::string_view title;
    Kind kind, also;
    std::string_view noun;
};
constexpr ReferenceGroup kGroups[] = {
    {"Classes", Kind::Class, Kind::Class, "class"},
    {"Defined types", Kind::Define, Kind::Define, "defined type"},
    {"Resource types", Kind::Type, Kind::Type, "type"},
    {"Functions", Kind::Function, Kind::Function, "function"},
    {"Data types", Kind::DataType, Kind::Alias, "data type"},
    {"Tasks", Kind::Task, Kind::Task, "task"},
    {"Plans", Kind::Plan, Kind::Plan, "plan"},
};

std::string anchor(std::string_view name) {
    std::string out(name);
    for (char& c : out) {
        const char l = base::lower(c);
        if (!((l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) c = '-';
    }
    // Keeps one byte per character and drops UTF-8 continuation bytes.
    std::string short_form;
    for (std::size_t i = 0; i < name.size(); ++i)
        if ((static_cast<unsigned char>(name[i]) & 0xC0) != 0x80) short_form += out[i];
    return short_form;
}

std::string code_text(std::string_view text, std::string_view language = "puppet") {
    if (text.find('\n') == std::string_view::npos) return fmt::format(" `{}`", text);
    return fmt::format("\n\n```{}\n{}\n```", language, text);
}

/// Returns at most `most` characters.
std::string_view cut(base::TextView text BUNRAKU_LIFETIMEBOUND, std::size_t most) {
    std::size_t end = 0;
    for (std::size_t n = 0; end < text.size(); ++end)
        if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++n > most) break;
    return text.substr(0, end);
}

/// Breaks lines of more than 120 characters at spaces.
std::string wrapped_lines(std::string_view text) {
    constexpr std::size_t kWidth = 120;
    std::string out;
    bool first = true;
    for (auto line : base::lines(text)) {
        if (!std::exchange(first, false)) out += '\n';
        if (cut(line, kWidth).size() == line.size()) {
            out += line;
            continue;
        }
        std::string broken;
        while (!line.empty()) {
            std::string_view piece = cut(line, kWidth);
            if (piece.size() < line.size() &&
                base::kBlanks.find(line[piece.size()]) == std::string_view::npos) {
                const std::size_t blank = piece.find_last_of(base::kBlanks);
                if (blank == std::string_view::npos || blank == 0) {
                    // A single word is too long and cannot be broken.
                    const std::size_t end =
                        std::min(line.find_first_of(base::kBlanks), line.size());
                    piece = line.substr(0, end);
                } else {
                    piece = piece.substr(0, blank);
                }
            }
            broken += std::string(piece) + "\n";
            line.remove_prefix(piece.size());
            line.remove_prefix(std::min(line.find_first_not_of(base::kBlanks), line.size()));
        }
        out += base::trim(broken);
    }
    return out;
}

class Page {
public:
    std::string text;

    void item(const DocItem& i, const ReferenceGroup& group) {
        text += fmt::format("### <a name=\"{}\"></a>`{}`\n\n", anchor(i.name), i.name);
        switch (i.kind) {
            case Kind::Function: function(i); return;
            case Kind::Task: task(i); return;
            default: break;
        }
        // puppet-strings uses the same template for these.
        const bool coded = i.kind == Kind::Define || i.kind == Kind::Plan;
        about(i.doc, i.name, coded ? "class" : group.noun);
        notes(i, true, i.kind == Kind::Class || i.kind == Kind::Define || i.kind == Kind::Plan);
        examples(i.doc, "####");
        if (i.kind == Kind::Type) {
            attributes(i);
            return;
        }
        if (!i.alias_of.empty()) text += fmt::format("Alias of{}\n\n", code_text(i.alias_of));
        parameters(i, group.noun);
        if (!i.methods.empty()) methods(i, group.noun);
    }

private:
    void about(const DocText& doc, std::string_view name, std::string_view noun) {
        const std::string summary = doc.tag_text("summary");
        if (!doc.text.empty())
            text += doc.text;
        else if (!summary.empty())
            text += summary;
        else
            text += fmt::format("The {} {}.", name, noun);
        text += "\n\n";
    }

    void note(const DocText& doc, std::string_view tag, std::string_view title) {
        if (const auto tag_text = doc.tag_text(tag); !tag_text.empty())
            text += fmt::format("* **{}** {}\n\n", title, tag_text);
    }

    void notes(const DocItem& i, bool all, bool deeper_see) {
        note(i.doc, "deprecated", "DEPRECATED");
        note(i.doc, "todo", "TODO");
        note(i.doc, "note", "Note");
        if (!all) return;
        note(i.doc, "since", "Since");
        if (!i.doc.find("see")) return;
        text += "* **See also**\n";
        for (const auto& tag : i.doc.tags) {
            if (tag.tag != "see") continue;
            if (tag.name) text += fmt::format("  * {}\n", *tag.name);
            if (tag.text) text += fmt::format("{}  * {}\n", deeper_see ? "  " : "", *tag.text);
        }
        text += "\n";
    }

    void examples(const DocText& doc, std::string_view level) {
        if (!doc.find("example")) return;
        text += fmt::format("{} Examples\n\n", level);
        for (const auto& tag : doc.tags)
            if (tag.tag == "example")
                text += fmt::format("{}# {}\n\n```puppet\n{}\n```\n\n", level,
                                    tag.name.value_or(""), tag.text.value_or(""));
    }

    void choices(const DocText& doc, std::string_view tag, const std::optional<std::string>& of,
                 bool types) {
        bool any = false;
        for (const auto& t : doc.tags) {
            if (t.tag != tag || !t.choice || t.name != of) continue;
            if (!std::exchange(any, true)) text += "Options:\n\n";
            text += fmt::format("* **{}**", t.choice->name);
            if (types && t.choice->types && !t.choice->types->empty())
                text += fmt::format(" `{}`", t.choice->types->front());
            text += fmt::format(": {}\n", t.choice->text.value_or(""));
        }
        if (any) text += "\n";
    }
    void choices(const DocText& doc, const std::optional<std::string>& of) {
        choices(doc, "option", of, true);
        choices(doc, "enum", of, false);
    }

    std::string link_to(const DocItem& i, std::string_view part) {
        return anchor(fmt::format("${}::{}", i.name, part));
    }

    void parameters(const DocItem& i, std::string_view noun) {
        if (!i.doc.find("param")) return;
        text += fmt::format(
            "#### Parameters\n\nThe following parameters are available in the `{}` {}:\n\n", i.name,
            noun);
        for (const auto& t : i.doc.tags)
            if (t.tag == "param")
                text += fmt::format("* [`{0}`](#{1})\n", t.name.value_or(""),
                                    link_to(i, t.name.value_or("")));
        text += "\n";
        for (const auto& t : i.doc.tags) {
            if (t.tag != "param") continue;
            const std::string name = t.name.value_or("");
            text += fmt::format("##### <a name=\"{}\"></a>`{}`\n\n", link_to(i, name), name);
            if (t.types)
                text += fmt::format("Data type:{}\n\n",
                                    code_text(fmt::format("{}", fmt::join(*t.types, ", "))));
            text += t.text.value_or("") + "\n\n";
            choices(i.doc, t.name);
            if (const auto* given = i.default_of(name))
                text += fmt::format("Default value:{}\n\n", code_text(*given));
        }
    }

    /// Appends the return value, errors and parameters of one signature.
    void signature(const DocText& doc, const DocText& of_all, bool gap) {
        if (const auto* tag = doc.find("return"); tag && tag->types && !tag->types->empty()) {
            text += fmt::format("Returns: `{}`", tag->types->front());
            if (const auto tag_text = doc.tag_text("return"); !tag_text.empty())
                text += " " + tag_text;
            text += "\n\n";
        }
        if (of_all.find("raise")) {
            text += gap ? "Raises:\n\n" : "Raises:\n";
            for (const auto& tag : of_all.tags) {
                if (tag.tag != "raise") continue;
                const std::string tag_text = tag.text.value_or("");
                const auto words = base::words(tag_text, base::kBlanks);
                const std::string first(words.empty() ? std::string_view() : words[0]);
                std::string rest;
                for (std::size_t n = 1; n < words.size(); ++n)
                    rest += (n == 1 ? "" : " ") + std::string(words[n]);
                text += fmt::format("* `{}` {}\n", first, rest);
            }
            text += "\n";
        }
        examples(doc, "#####");
        for (const auto& tag : doc.tags) {
            if (tag.tag != "param") continue;
            text +=
                fmt::format("##### `{}`\n\nData type:{}\n\n{}\n\n", tag.name.value_or(""),
                            code_text(tag.types && !tag.types->empty() ? tag.types->front() : ""),
                            tag.text.value_or(""));
            choices(doc, tag.name);
        }
    }

    void function(const DocItem& i) {
        text += fmt::format("Type: {}\n\n", i.function_type == "ruby4x"   ? "Ruby 4.x API"
                                            : i.function_type == "ruby3x" ? "Ruby 3.x API"
                                                                          : "Puppet Language");
        about(i.doc, i.name, "function");
        notes(i, false, false);
        examples(i.doc, "####");
        for (const auto& s : i.signatures) {
            text += fmt::format("#### `{}`\n\n", s.text);
            // A signature only shows these tags.
            DocText doc{s.doc.text, {}};
            for (const auto& t : s.doc.tags)
                if (t.tag == "param" || t.tag == "option" || t.tag == "enum" || t.tag == "return" ||
                    t.tag == "example")
                    doc.tags.push_back(t);
            about(doc, i.name, "function");
            signature(doc, i.doc, true);
        }
    }

    void methods(const DocItem& i, std::string_view noun) {
        text += fmt::format(
            "#### Functions\n\nThe following functions are available in the `{}` {}.\n\n", i.name,
            noun);
        for (std::size_t n = 0; n < i.methods.size(); ++n) {
            const auto& name = i.method_names[n];
            text += fmt::format("### <a name=\"{}\"></a>`{}`\n\n#### `{}`\n\n", anchor(name), name,
                                i.methods[n].text);
            about(i.methods[n].doc, name, "function");
            signature(i.methods[n].doc, i.methods[n].doc, false);
        }
    }

    void task(const DocItem& i) {
        about(i.doc, i.name, "task");
        text += fmt::format("**Supports noop?** {}\n\n", i.supports_noop);
        if (i.doc.tags.empty()) return;
        text += "#### Parameters\n\n";
        for (const auto& t : i.doc.tags)
            text += fmt::format("##### `{}`\n\nData type:{}\n\n{}\n\n", t.name.value_or(""),
                                code_text(fmt::format("{}", fmt::join(*t.types, ", "))),
                                t.text.value_or(""));
    }

    void attribute(const DocItem& i, const DocAttribute& a, bool property) {
        if (property)
            text += fmt::format("##### `{}`\n\n", a.name);
        else
            text += fmt::format("##### <a name=\"{}\"></a>`{}`\n\n", link_to(i, a.name), a.name);
        if (!a.values.empty())
            text += fmt::format("Valid values: `{}`\n\n", fmt::join(a.values, "`, `"));
        if (a.namevar) text += "namevar\n\n";
        if (!a.aliases.empty()) {
            std::string list;
            for (const auto& [alias, value] : a.aliases)
                list += fmt::format("{}\"{}\"=>\"{}\"", list.empty() ? "" : ", ", alias, value);
            text += fmt::format("Aliases: `{}`\n\n", list);
        }
        if (!a.data_type.empty()) {
            text += fmt::format("Data type: `{}`", a.data_type);
            if (const auto at = a.data_type.find("[/");
                at != std::string::npos && at > 0 &&
                a.data_type.find("/]", at) != std::string::npos)
                text +=
                    "\n_*this data type contains a regex that may not be accurately reflected in "
                    "generated documentation_";
            text += "\n\n";
        }
        if (property)
            text += a.doc + "\n\n";
        else
            text += a.doc.empty() ? "\n" : wrapped_lines(a.doc) + "\n\n";
        choices(i.doc, a.name);
        if (a.has_default)
            text += property
                        ? fmt::format("Default value:{}\n\n", code_text(a.default_value, "ruby"))
                        : fmt::format("Default value: `{}`\n\n", a.default_value);
        if (!property && !a.features.empty())
            text += fmt::format("Required features: {}.\n\n", a.features);
    }

    void attributes(const DocItem& i) {
        const auto by_name = [](std::vector<DocAttribute> list) {
            std::ranges::stable_sort(list, {}, &DocAttribute::name);
            return list;
        };
        std::vector<DocAttribute> properties = i.properties;
        properties.insert(properties.end(), i.checks.begin(), i.checks.end());
        if (!properties.empty()) {
            text += fmt::format(
                "#### Properties\n\nThe following properties are available in the `{}` type.\n\n",
                i.name);
            for (const auto& a : by_name(properties)) attribute(i, a, true);
        }
        if (i.parameters.empty()) return;
        text += fmt::format(
            "#### Parameters\n\nThe following parameters are available in the `{}` type.\n\n",
            i.name);
        const auto parameters = by_name(i.parameters);
        for (const auto& a : parameters)
            text += fmt::format("* [`{}`](#{})\n", a.name, link_to(i, a.name));
        text += "\n";
        for (const auto& a : parameters) attribute(i, a, false);
    }
};

std::vector<const DocItem*> members(const std::vector<DocItem>& items,
                                    const ReferenceGroup& group) {
    std::vector<const DocItem*> out;
    for (const auto& i : items)
        if (i.kind == group.kind || i.kind == group.also) out.push_back(&i);
    std::ranges::stable_sort(out, {}, [](const DocItem* i) { return i->name; });
    return out;
}

std::string entry(const DocItem& i, bool linked) {
    std::string tag_text = i.doc.tag_text("summary");
    if (tag_text.empty()) {
        tag_text = cut(i.doc.text, 141);
        std::ranges::replace(tag_text, '\n', ' ');
    }
    std::string out = linked ? fmt::format("* [`{}`](#{})", i.name, anchor(i.name))
                             : fmt::format("* `{}`", i.name);
    if (!tag_text.empty()) out += ": " + tag_text;
    return out + "\n";
}

}  // namespace

std::string reference_markdown(const std::vector<DocItem>& all) {
    // For data types in Ruby, puppet-strings only shows tags that concern calls.
    std::vector<DocItem> items = all;
    for (auto& i : items)
        if (i.kind == Kind::DataType)
            std::erase_if(i.doc.tags, [](const DocTag& t) {
                return t.tag != "param" && t.tag != "option" && t.tag != "enum" &&
                       t.tag != "return" && t.tag != "example";
            });
    Page page;
    page.text =
        "# Reference\n\n<!-- DO NOT EDIT: This document was generated by Puppet Strings -->\n\n"
        "## Table of Contents\n\n";
    for (const auto& group : kGroups) {
        std::string open, hidden;
        for (const auto* i : members(items, group))
            (i->doc.is_private() ? hidden : open) += entry(*i, !i->doc.is_private());
        if (open.empty() && hidden.empty()) continue;
        page.text += fmt::format("### {}\n", group.title);
        if (!open.empty()) {
            if (!hidden.empty()) page.text += fmt::format("\n#### Public {}\n", group.title);
            page.text += "\n" + open;
        }
        if (!hidden.empty())
            page.text += fmt::format("\n#### Private {}\n\n{}", group.title, hidden);
        page.text += "\n";
    }
    for (const auto& group : kGroups) {
        bool titled = false;
        for (const auto* i : members(items, group)) {
            if (i->doc.is_private()) continue;
            if (!std::exchange(titled, true)) page.text += fmt::format("## {}\n\n", group.title);
            page.item(*i, group);
        }
    }
    return std::move(page.text);
}

}  // namespace bunraku::reference
