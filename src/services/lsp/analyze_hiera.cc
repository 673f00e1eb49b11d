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
            if (scalar.key && scalar.depth == 1 && !config_) key(scalar);
            if (!scalar.key && !config_) class_name(scalar);
            interpolations();
        }
        end_keys();
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
    /// Values of keys such as "classes" name classes.
    void class_name(const YamlScalar& scalar) {
        int top = scalar.parent;
        while (top >= 0 && outline_.scalars[static_cast<std::size_t>(top)].parent >= 0)
            top = outline_.scalars[static_cast<std::size_t>(top)].parent;
        if (top < 0) return;
        const std::string& key = outline_.scalars[static_cast<std::size_t>(top)].text;
        if (!base::lower(last_segment(key)).ends_with("classes")) return;
        const Span span = span_of_scalar(scalar);
        if (span.length != scalar.text.size()) return;
        const auto name = without_top(scalar.text);
        if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_:") !=
                                std::string_view::npos)
            return;
        out_.occurrences.push_back({symbol_key(SymbolKind::Class, name),
                                    {span.end() - static_cast<std::uint32_t>(name.size()),
                                     static_cast<std::uint32_t>(name.size())},
                                    Role::Use});
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
            if (method != "lookup" && method != "hiera" && method != "alias") return;
            const std::size_t from = body.find_first_of("'\"", open);
            if (from == std::string_view::npos) return;
            const std::size_t to = body.find(body[from], from + 1);
            if (to == std::string_view::npos) return;
            std::string_view key = body.substr(from + 1, to - from - 1);
            key = key.substr(0, key.find('.'));
            const Span span{at + static_cast<std::uint32_t>(from) + 1,
                            static_cast<std::uint32_t>(key.size())};
            if (key.empty()) return;
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
