// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/format.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml_writer.h"
#include "core/value/rich_data.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

template <typename Change>
std::string each_line(const std::string& text, Change change) {
    std::string out;
    bool first = true;
    for (std::string_view line : base::split(text, '\n')) {
        if (!std::exchange(first, false)) out += '\n';
        out += change(std::string(line));
    }
    return out;
}

/// Prints values as JSON. Integers beyond 64 bits, which are strings here, are printed without
/// quotes.
class Printer {
public:
    Printer(base::Arena& arena, const Options& options)
        : arena_(arena), large_(*options.large_integers) {}

    bool is_large(const Value& v) const {
        return v.is_string() && large_.contains(v.as_string().data());
    }

    std::string pretty_json(const Value& v) const {
        if (large_.empty()) return value::to_pretty_json(v);
        // Control characters mark the strings that lose their quotes.
        std::string text = value::to_pretty_json(marked(v));
        replace_all(text, "\"\\u0001", "");
        replace_all(text, "\\u0001\"", "");
        return text;
    }

private:
    Value marked(const Value& v) const {
        if (is_large(v)) return value::make_string(arena_, fmt::format("\1{}\1", v.as_string()));
        if (v.is_array()) {
            std::vector<Value> items;
            for (const Value& item : v.as_array()) items.push_back(marked(item));
            return value::make_array(arena_, items);
        }
        if (!v.is_hash()) return v;
        HashBuilder out(arena_, v.as_hash().size());
        for (const value::Entry& e : v.as_hash()) out.set(e.key, marked(e.value));
        return out.build();
    }

    base::Arena& arena_;
    const std::set<const char*>& large_;
};

// Facter converts JSON to its own format by text replacement. The effects on unusual values are
// part of the format.

/// Changes `"a": 1` to `a => 1`.
std::string arrows(const Printer& printer, const Value& v) {
    std::string text = printer.pretty_json(v);
    replace_all(text, "\": ", "\" => ");
    text = each_line(text, [](std::string line) {
        const auto open = line.find('"'), close = line.rfind("\" =>");
        if (open == std::string::npos || close == std::string::npos || close <= open) return line;
        line.erase(close, 1);
        line.erase(open, 1);
        return line;
    });
    replace_all(text, "\\\\", "\\");
    return text;
}

/// Prints a whole hash without its braces; names and strings at the top level have no quotes.
std::string bare_hash(const Printer& printer, const Value& hash) {
    std::string text = arrows(printer, hash);
    BUNRAKU_ASSERT(hash.is_hash() && text.size() >= 2);
    text = text.substr(1, text.size() - 2);
    std::string lines;
    for (std::string_view line : base::split(text, '\n')) {
        if (line.empty()) continue;
        std::string out(line.starts_with("  ") ? line.substr(2) : line);
        if (out.starts_with("},")) out.erase(1, 1);
        if (!std::isspace(static_cast<unsigned char>(out.empty() ? 'x' : out[0]))) {
            if (out.ends_with(',')) out.pop_back();
            std::string bare;
            for (std::size_t i = 0; i < out.size(); ++i)
                if (out[i] != '"' || (i > 0 && out[i - 1] == '\\')) bare += out[i];
            replace_all(bare, "\\\"", "\"");
            out = std::move(bare);
        }
        if (!lines.empty()) lines += '\n';
        lines += out;
    }
    replace_all(lines, "\\n", "\n");
    return lines;
}

std::string facter_text(const Printer& printer, const Value& shown,
                        const std::vector<std::string>& queries, base::Arena& arena) {
    BUNRAKU_ASSERT(shown.is_hash());
    if (queries.size() == 1) {
        const Value* value = shown.as_hash().find(queries[0]);
        if (!value || value->is_undef()) return {};
        if (value->is_string()) return value::to_text(*value);
        return each_line(arrows(printer, *value), [](std::string line) {
            const auto close = line.rfind('"');
            if (!line.starts_with('"') || close == 0) return line;
            return line.substr(1, close - 1) + line.substr(close + 1);
        });
    }
    if (queries.empty()) return bare_hash(printer, shown);
    HashBuilder filled(arena);
    for (const value::Entry& e : shown.as_hash())
        filled.set(e.key, e.value.is_undef() ? Value::string("") : e.value);
    return bare_hash(printer, filled.build());
}

// ---- YAML as Psych writes it, with Facter's rules for quoting ----

bool has_any_of(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts,
                               [&](std::string_view part) { return text.find(part) != text.npos; });
}

bool needs_quotes(std::string_view text) {
    if (has_any_of(text, {"true", "false"})) return false;
    for (std::string_view line : base::split(text, '\n'))
        if (!line.empty() && line.find_first_not_of("0123456789") == line.npos) return false;
    // Each of "yes", "No", "ON" and so on contains one of these.
    if (has_any_of(
            text, {"y", "Y", "n", "N", "True", "TRUE", "False", "FALSE", "off", "Off", "OFF", ":"}))
        return true;
    if (std::ranges::any_of(text, [](unsigned char c) { return c < 128 && std::isalpha(c); }))
        return false;
    for (std::size_t dot = text.find('.'); dot != text.npos; dot = text.find('.', dot + 1)) {
        const auto digit = [&](std::size_t i) {
            return i < text.size() && text[i] >= '0' && text[i] <= '9';
        };
        if (dot > 0 && digit(dot - 1) && digit(dot + 1)) return false;
    }
    return true;
}

void write_yaml(const Printer& printer, codec::YamlWriter& out, const Value& v) {
    if (v.is_hash()) {
        out.start_mapping();
        for (const value::Entry& e : v.as_hash()) {
            out.key(value::to_text(e.key));
            write_yaml(printer, out, e.value);
        }
        out.end_mapping();
    } else if (v.is_array()) {
        out.start_sequence();
        for (const Value& item : v.as_array()) write_yaml(printer, out, item);
        out.end_sequence();
    } else if (v.is_string()) {
        const std::string text = value::to_text(v);
        if (needs_quotes(text)) {
            out.quoted(text);
        } else if (printer.is_large(v)) {
            out.plain(text);
        } else {
            out.string(text);
        }
    } else {
        const std::string text = v.is_undef() ? std::string() : value::to_json(v);
        if (needs_quotes(text)) {
            out.quoted(text);
        } else {
            out.plain(text);
        }
    }
}

std::string yaml_text(const Printer& printer, const Value& shown) {
    codec::YamlWriter writer({.line_width = 0});
    write_yaml(printer, writer, shown);
    std::string text = writer.finish();
    if (shown.is_hash() && shown.as_hash().size() == 0) return "--- {}\n";
    if (text.starts_with("---")) text.erase(0, text.find_first_not_of(" \n", 3));
    return text;
}

// ---- HOCON as the gem renders it without comments ----

std::string hocon_word(std::string_view text) {
    const bool plain = !text.empty() && text[0] != '-' && (text[0] < '0' || text[0] > '9') &&
                       std::ranges::all_of(text, [](unsigned char c) {
                           return c >= 128 || std::isalnum(c) || c == '-';
                       });
    return plain ? std::string(text) : codec::json_string(text);
}

void write_hocon(const Printer& printer, std::string& out, const Value& v, std::size_t depth,
                 bool top) {
    const auto indent = [&](std::size_t n) { out.append(4 * n, ' '); };
    if (v.is_hash()) {
        if (v.as_hash().size() == 0) {
            out += "{}";
            if (top) out += '\n';
            return;
        }
        const std::size_t inner = top ? depth : depth + 1;
        if (!top) out += "{\n";
        for (const value::Entry& e : v.as_hash()) {
            indent(inner);
            out += hocon_word(value::to_text(e.key)) + "=";
            write_hocon(printer, out, e.value, inner, false);
            out += '\n';
        }
        if (top) return;
        indent(depth);
        out += "}";
    } else if (v.is_array()) {
        if (v.as_array().empty()) {
            out += "[]";
            return;
        }
        out += "[\n";
        bool first = true;
        for (const Value& item : v.as_array()) {
            if (!std::exchange(first, false)) out += ",\n";
            indent(depth + 1);
            write_hocon(printer, out, item, depth + 1, false);
        }
        out += '\n';
        indent(depth);
        out += "]";
    } else if (printer.is_large(v)) {
        out += v.as_string();
    } else if (v.is_string()) {
        out += hocon_word(value::to_text(v));
    } else {
        out += v.is_undef() ? "null" : value::to_json(v);
    }
}

std::string hocon_text(const Printer& printer, const Value& shown,
                       const std::vector<std::string>& queries) {
    BUNRAKU_ASSERT(shown.is_hash());
    std::string out;
    if (queries.size() != 1) {
        write_hocon(printer, out, shown, 0, true);
        return out;
    }
    const Value* value = shown.as_hash().find(queries[0]);
    if (!value || !value->truthy()) return out;
    if (value->is_hash()) {
        write_hocon(printer, out, *value, 0, true);
    } else if (value->is_array()) {
        // Like `puts` of a list: one line per item.
        for (const Value& item : value->as_array())
            out.append(out.empty() ? "" : "\n").append(value::to_text(item));
    } else {
        out = value::to_text(*value);
    }
    return out;
}

}  // namespace

Value query_value(const Value& facts, std::string_view query) {
    if (facts.is_hash()) {
        if (const Value* whole = facts.as_hash().find(query)) return *whole;
    }
    // Ignore trailing dots.
    while (query.ends_with('.')) query.remove_suffix(1);
    Value at = facts;
    for (std::string_view key : base::split(query, '.')) {
        if (at.is_hash()) {
            const Value* found = at.as_hash().find(key);
            if (!found) return Value::undef();
            at = *found;
        } else if (at.is_array()) {
            const auto items = at.as_array();
            const auto index = static_cast<std::size_t>(to_integer(key));
            if (key.empty() || key.size() > 9 || key.find_first_not_of("0123456789") != key.npos ||
                index >= items.size())
                return Value::undef();
            at = items[index];
        } else {
            return Value::undef();
        }
    }
    return at;
}

std::string format_facts(base::Arena& arena, std::span<const Resolved> facts,
                         const std::vector<std::string>& queries, Format format,
                         const Options& options) {
    Value shown;
    // Only queries with a result are listed, even if the result is that the fact does not exist. A
    // built-in fact without a value on this machine is omitted silently.
    std::vector<std::string> names = queries;
    std::erase_if(names, [&](const std::string& query) {
        return std::ranges::find(facts, query, &Resolved::query) == facts.end();
    });
    if (queries.empty()) {
        shown = assemble(arena, facts, options);
    } else {
        if (names.empty() && (format == Format::Facter || format == Format::Hocon)) return {};
        std::ranges::sort(names);
        HashBuilder some(arena);
        for (const std::string& query : names) {
            std::vector<Resolved> own;
            for (const Resolved& fact : facts)
                if (fact.query == query) own.push_back(fact);
            BUNRAKU_ASSERT(!own.empty());
            some.set(value::make_string(arena, query),
                     query_value(assemble(arena, own, options), query));
        }
        shown = some.build();
    }
    BUNRAKU_ASSERT(shown.is_hash() && names.size() <= queries.size());
    const Printer printer(arena, options);
    switch (format) {
        case Format::Json: return printer.pretty_json(shown);
        case Format::Yaml: return yaml_text(printer, shown);
        case Format::Hocon: return hocon_text(printer, shown, names);
        case Format::Facter: break;
    }
    return facter_text(printer, shown, names, arena);
}

}  // namespace bunraku::facts
