// SPDX-License-Identifier: Apache-2.0
// Data files of Hiera and hiera.yaml.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/codec/yaml_outline.h"
#include "services/lsp/analyze.h"

namespace bunraku::lsp {

namespace {

using codec::YamlOutline;
using codec::YamlScalar;

class HieraAnalyzer {
public:
    HieraAnalyzer(std::string_view text, bool config)
        : text_(text), lines_(text), config_(config), outline_(codec::outline_yaml(text)) {}

    FileSymbols run() {
        for (const YamlScalar& scalar : outline_.scalars) {
            begin_ = offset(scalar.start);
            end_ = std::max(begin_, offset(scalar.end));
            begin_ = after_properties(begin_, end_);
            if (!config_) {
                if (scalar.key && scalar.depth == 1) {
                    key(scalar);
                } else if (is_lookup_option(scalar)) {
                    lookup_option(scalar);
                } else {
                    class_name(scalar);
                }
            }
            interpolations();
        }
        end_keys();
        value_types();
        out_.finish();
        return std::move(out_);
    }

private:
    /// Returns the offset of a place. Scalars are in the order of the text, so this continues from
    /// the last place: data may be one line of megabytes.
    std::uint32_t offset(const codec::YamlPlace& place) {
        const auto line = static_cast<std::uint32_t>(place.line);
        const auto column = static_cast<std::uint32_t>(place.column);
        if (line != line_ || column < column_) {
            line_ = line;
            column_ = 0;
            at_ = lines_.offset(text_, {line, 0}, Encoding::Utf32);
        }
        for (; column_ < column && at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r';
             ++column_) {
            ++at_;
            while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0x80)
                ++at_;
        }
        return at_;
    }
    /// Returns the offset of the content of a scalar, after its anchor and tag.
    std::uint32_t after_properties(std::uint32_t begin, std::uint32_t end) const {
        std::uint32_t at = begin;
        while (at < end && (text_[at] == '&' || text_[at] == '!')) {
            while (at < end && base::kBlanks.find(text_[at]) == std::string_view::npos) ++at;
            while (at < end &&
                   (base::kBlanks.find(text_[at]) != std::string_view::npos || text_[at] == '#')) {
                if (text_[at] == '#')
                    while (at < end && text_[at] != '\n') ++at;
                else
                    ++at;
            }
        }
        return at;
    }
    /// Returns the span of the content of the current scalar without quotes.
    Span span_of_scalar(const YamlScalar& scalar) const {
        std::uint32_t begin = begin_, end = end_;
        if (scalar.quoted && end >= begin + 2 && (text_[begin] == '"' || text_[begin] == '\'')) {
            ++begin;
            --end;
        }
        return {begin, end - begin};
    }
    void key(const YamlScalar& scalar) {
        const Span span = span_of_scalar(scalar);
        if (span.length != scalar.text.size() || scalar.text.empty()) return;
        Definition definition;
        definition.kind = DefinitionKind::Key;
        definition.key = symbol_key(SymbolKind::HieraKey, scalar.text);
        definition.shown = scalar.text;
        definition.name_span = span;
        definition.span = span;
        out_.definitions.push_back(std::move(definition));
        out_.occurrences.push_back(
            {symbol_key(SymbolKind::HieraKey, scalar.text), span, Role::Define});
        if (scalar.text.find("::") != std::string::npos)
            add_qualified_name(out_, scalar.text, span, Role::Key);
    }
    /// A definition of a key reaches up to the next one.
    void end_keys() {
        for (std::size_t i = 0; i < out_.definitions.size(); ++i) {
            const auto end = i + 1 < out_.definitions.size()
                                 ? out_.definitions[i + 1].name_span.offset
                                 : static_cast<std::uint32_t>(text_.size());
            Definition& definition = out_.definitions[i];
            std::uint32_t last = end;
            while (last > definition.name_span.end() &&
                   base::kBlanks.find(text_[last - 1]) != std::string_view::npos)
                --last;
            definition.span.length = last - definition.span.offset;
        }
    }
    /// Returns the text of the top-level key to whose value a scalar belongs; empty if there is
    /// none.
    std::string_view top_key(const YamlScalar& scalar) const {
        int top = scalar.parent;
        while (top >= 0 && outline_.scalars[static_cast<std::size_t>(top)].parent >= 0)
            top = outline_.scalars[static_cast<std::size_t>(top)].parent;
        return top < 0 ? std::string_view() : outline_.scalars[static_cast<std::size_t>(top)].text;
    }
    /// Reports whether a scalar is a key of `lookup_options`, which is a key of Hiera or a pattern.
    bool is_lookup_option(const YamlScalar& scalar) const {
        return scalar.key && scalar.depth == 2 && top_key(scalar) == "lookup_options";
    }
    void lookup_option(const YamlScalar& scalar) {
        const Span span = span_of_scalar(scalar);
        if (span.length != scalar.text.size() || scalar.text.starts_with('^')) return;
        out_.occurrences.push_back(
            {symbol_key(SymbolKind::HieraKey, scalar.text), span, Role::Key});
        if (scalar.text.find("::") != std::string::npos)
            add_qualified_name(out_, scalar.text, span, Role::Key);
    }
    /// Values of keys such as "classes" name classes. Other texts with "::" may name a class or a
    /// define, for example for create_resources.
    void class_name(const YamlScalar& scalar) {
        const std::string_view top = top_key(scalar);
        if (top.empty()) return;
        const bool listed = !scalar.key && base::lower(last_segment(top)).ends_with("classes");
        if (!listed && without_top(scalar.text).find("::") == std::string_view::npos) return;
        const Span span = span_of_scalar(scalar);
        if (span.length != scalar.text.size()) return;
        const auto name = without_top(scalar.text);
        if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_:") !=
                                std::string_view::npos)
            return;
        const Span plain{span.end() - static_cast<std::uint32_t>(name.size()),
                         static_cast<std::uint32_t>(name.size())};
        out_.occurrences.push_back(
            {symbol_key(SymbolKind::Class, name), plain, listed ? Role::Use : Role::Key});
        if (!listed)
            out_.occurrences.push_back({symbol_key(SymbolKind::Type, name), plain, Role::Key});
    }
    /// Adds the data type of the value of each key.
    void value_types() {
        std::size_t at = 0;
        for (std::size_t i = 0; i < outline_.scalars.size(); ++i) {
            const YamlScalar& scalar = outline_.scalars[i];
            if (!scalar.key || scalar.depth != 1) continue;
            if (at == out_.definitions.size()) return;
            if (out_.definitions[at].shown != scalar.text) continue;  // a key with escapes
            out_.definitions[at].returns = value_type(i, out_.definitions[at]);
            ++at;
        }
    }
    std::string_view value_type(std::size_t key, const Definition& definition) const {
        const YamlScalar* value =
            key + 1 < outline_.scalars.size() ? &outline_.scalars[key + 1] : nullptr;
        if (value && value->parent != static_cast<int>(key)) value = nullptr;
        if (!value) {  // an empty collection, or an alias
            const std::string_view rest = text_.substr(
                definition.name_span.end(), definition.span.end() - definition.name_span.end());
            const std::size_t open = rest.find_first_not_of("'\": \t");
            if (open == std::string_view::npos) return "";
            return rest[open] == '[' ? "Array" : rest[open] == '{' ? "Hash" : "";
        }
        if (value->key) return "Hash";
        if (value->depth > 1) return "Array";
        if (value->quoted) return "String";
        const std::string_view plain = value->text;
        if (plain.empty() || plain == "~" || plain == "null") return "Undef";
        if (plain == "true" || plain == "false") return "Boolean";
        const std::string_view digits = plain.substr(plain.starts_with('-') ? 1 : 0);
        if (!digits.empty() && digits.find_first_not_of("0123456789") == digits.npos)
            return "Integer";
        if (!digits.empty() && digits.find_first_not_of("0123456789.") == digits.npos &&
            std::ranges::count(digits, '.') == 1)
            return "Float";
        return "String";
    }

    void interpolations() {
        const std::string_view raw = text_.substr(begin_, end_ - begin_);
        for (std::size_t at = 0; (at = raw.find("%{", at)) != std::string_view::npos;) {
            const std::size_t close = raw.find('}', at);
            if (close == std::string_view::npos) return;
            interpolation(raw.substr(at + 2, close - at - 2),
                          begin_ + static_cast<std::uint32_t>(at) + 2);
            at = close;
        }
    }
    void interpolation(std::string_view body, std::uint32_t at) {
        const std::size_t open = body.find('(');
        if (open != std::string_view::npos) {
            const std::string_view method = base::trim(body.substr(0, open));
            const bool variable = method == "scope";
            if (!variable && method != "lookup" && method != "hiera" && method != "alias") return;
            const std::size_t from = body.find_first_of("'\"", open);
            if (from == std::string_view::npos) return;
            const std::size_t to = body.find(body[from], from + 1);
            if (to == std::string_view::npos) return;
            std::string_view key = body.substr(from + 1, to - from - 1);
            if (key.ends_with('\\')) key.remove_suffix(1);  // escaped quotes in a quoted text
            key = key.substr(0, key.find('.'));
            const Span span{at + static_cast<std::uint32_t>(from) + 1,
                            static_cast<std::uint32_t>(key.size())};
            if (key.empty()) return;
            if (variable) return add_qualified_name(out_, key, span, Role::Use);
            out_.occurrences.push_back({symbol_key(SymbolKind::HieraKey, key), span, Role::Use});
            if (key.find("::") != std::string_view::npos)
                add_qualified_name(out_, key, span, Role::Key);
            return;
        }
        const std::string_view name = base::trim(body);
        if (name.empty()) return;
        const auto start = at + static_cast<std::uint32_t>(name.data() - body.data());
        const std::string_view plain = without_top(name);
        const std::uint32_t skipped = static_cast<std::uint32_t>(name.size() - plain.size());
        if (plain.starts_with("facts.")) {
            out_.occurrences.push_back(
                {symbol_key(SymbolKind::Fact, plain.substr(6)),
                 {start + skipped + 6, static_cast<std::uint32_t>(plain.size() - 6)},
                 Role::Use});
        } else if (plain.find('.') == std::string_view::npos) {
            add_qualified_name(out_, name, {start, static_cast<std::uint32_t>(name.size())},
                               Role::Use);
        }
    }

    std::string_view text_;
    LineIndex lines_;
    bool config_;
    YamlOutline outline_;
    std::uint32_t begin_ = 0, end_ = 0;                      ///< of the current scalar
    std::uint32_t line_ = UINT32_MAX, column_ = 0, at_ = 0;  ///< the last place of offset()
    FileSymbols out_;
};

}  // namespace

FileSymbols symbols_of_hiera(std::string_view text, FileKind kind) {
    return HieraAnalyzer(text, kind == FileKind::HieraConfig).run();
}

}  // namespace bunraku::lsp
