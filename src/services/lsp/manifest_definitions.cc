// SPDX-License-Identifier: Apache-2.0
// Classes, defines, functions, types and nodes of manifests.
#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "services/lsp/manifest_analyzer.h"

namespace bunraku::lsp {

Span ManifestAnalyzer::name_after_keyword(std::uint32_t offset) const {
    std::size_t at = offset;
    while (at < text_.size() && is_name_character(text_[at])) ++at;
    at = skip_blank(at);
    std::size_t end = at;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at)};
}

std::size_t ManifestAnalyzer::skip_blank(std::size_t at) const {
    while (at < text_.size()) {
        if (base::kBlanks.find(text_[at]) != std::string_view::npos) {
            ++at;
        } else if (text_[at] == '#') {
            at = std::min(text_.find('\n', at), text_.size());
        } else if (text_.substr(at, 2) == "/*") {
            const std::size_t end = text_.find("*/", at + 2);
            at = end == std::string_view::npos ? text_.size() : end + 2;
        } else {
            break;
        }
    }
    return at;
}

std::string_view ManifestAnalyzer::written(Span span) const {
    return text_.substr(span.offset, span.length);
}

Definition& ManifestAnalyzer::add_definition(DefinitionKind kind, SymbolKind symbol,
                                             std::string_view name, Span name_span,
                                             const Node* node) {
    Definition out;
    out.kind = kind;
    out.key = symbol_key(symbol, base::lower(without_top(name)));
    out.shown = name;
    out.name_span = name_span;
    out.span = node_span(node);
    if (name_span.length > 0) out_.occurrences.push_back({out.key, name_span, Role::Define});
    return out_.definitions.emplace_back(std::move(out));
}

std::string ManifestAnalyzer::expression_text(const Node* node) const {
    std::size_t end = node->offset + node->length;
    const auto widen = [&](const auto& self, const Node* part) -> void {
        if (part->source != node->source) return;
        end = std::max<std::size_t>(end, part->offset + part->length);
        syntax::for_each_child(part, [&](const Node* child) { self(self, child); });
    };
    widen(widen, node);
    std::string out(text_.substr(node->offset, end - node->offset));
    const auto missing = std::ranges::count(out, '[') - std::ranges::count(out, ']');
    for (std::ptrdiff_t i = 0; i < missing; ++i) out += ']';
    return out;
}

void ManifestAnalyzer::documented_parameters(std::uint32_t offset, std::string_view prefix) {
    std::size_t end = text_.rfind('\n', offset);
    while (end != std::string_view::npos && end > 0) {
        const std::size_t before = text_.rfind('\n', end - 1);
        const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
        const std::string_view line = text_.substr(begin, end - begin);
        const std::string_view content = base::trim(line);
        if (!content.starts_with('#')) break;
        constexpr std::string_view kTag = "@param ";
        if (const std::size_t tag = line.find(kTag); tag != std::string_view::npos) {
            std::size_t from = line.find_first_not_of(' ', tag + kTag.size());
            if (from == std::string_view::npos) from = line.size();
            std::size_t to = from;
            while (to < line.size() && is_name_character(line[to])) ++to;
            if (to > from)
                use(SymbolKind::Variable, scoped(prefix, line.substr(from, to - from)),
                    {static_cast<std::uint32_t>(begin + from),
                     static_cast<std::uint32_t>(to - from)},
                    Role::Key);
        }
        end = before;
    }
}

void ManifestAnalyzer::inherited_class(const syntax::NamedDefinition& node, Span name,
                                       std::string_view parent) {
    std::size_t at = name.end();
    for (const auto* parameter : node.parameters) {
        const Node* last = parameter->value ? parameter->value : parameter;
        at = std::max<std::size_t>(at, last->offset + last->length);
    }
    while ((at = skip_blank(at)) < text_.size() && text_[at] != '{') {
        if (text_.substr(at, 8) != "inherits") {
            ++at;
            continue;
        }
        const Span span = name_after_keyword(static_cast<std::uint32_t>(at));
        use_lower(SymbolKind::Class, parent, without_top_span(written(span), span));
        return;
    }
}

void ManifestAnalyzer::type_alias(const syntax::TypeAlias& node) {
    const auto size = static_cast<std::uint32_t>(node.name.size());
    Definition& out = add_definition(DefinitionKind::DataType, SymbolKind::Type, node.name,
                                     {node.offset, size}, &node);
    out.returns = node.type_expr ? expression_text(node.type_expr) : "";
    visit(node.type_expr);
}

void ManifestAnalyzer::node_definition(const syntax::NodeDefinition& node) {
    std::string name;
    for (const Node* host : node.host_matches) {
        if (!name.empty()) name += ", ";
        const auto text = literal_text(host);
        name += text ? *text : host->text();
    }
    const Node* first = node.host_matches.empty() ? &node : node.host_matches.front();
    Definition out;
    out.kind = DefinitionKind::Node;
    out.key = symbol_key(SymbolKind::Plan, "");
    out.shown = name;
    out.name_span = node_span(first);
    out.span = node_span(&node);
    out_.definitions.push_back(std::move(out));
    // Classes that the node includes see its variables like those of the top scope.
    ScopeFrame frame{"", {}, true, ""};
    collect_assignments(node.body, frame);
    const auto outer = std::exchange(frames_, {});
    frames_.push_back(std::move(frame));
    visit(node.body);
    frames_ = outer;
}

}  // namespace bunraku::lsp
