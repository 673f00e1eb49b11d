// SPDX-License-Identifier: Apache-2.0
// Digests of the definitions of a manifest, so that a change affects only the catalogs that use the
// changed definition.
#include <algorithm>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "language/environment/environment.h"
#include "language/syntax/lexer.h"

namespace bunraku::environment {

namespace {

using codec::short_digest;

const syntax::NamedDefinition* named(const syntax::Node& node) {
    using enum syntax::NodeKind;
    switch (node.kind) {
        case HostClassDefinition:
        case ResourceTypeDefinition:
        case FunctionDefinition:
        case PlanDefinition: return static_cast<const syntax::NamedDefinition*>(&node);
        default: return nullptr;
    }
}

/// Returns the ranges of the definitions that are tracked one by one, in the order of the text.
/// Type definitions count as code outside of definitions, because they take effect as soon as the
/// file is read.
std::vector<std::pair<std::size_t, std::size_t>> definition_ranges(const syntax::Tree& tree) {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    for (const auto* node : tree.program->definitions)
        if (named(*node) || node->kind == syntax::NodeKind::NodeDefinition)
            out.emplace_back(node->offset, node->offset + node->length);
    std::ranges::sort(out);
    return out;
}

/// Returns the text of a definition. If it contains a heredoc, the text extends to the next
/// definition, because the heredoc's text may follow the definition's end.
std::string_view text_of(const syntax::Tree& tree, const syntax::Node& node) {
    const std::string_view text = node.text();
    if (text.find("@(") == std::string_view::npos) return text;
    std::size_t end = tree.source->text().size();
    for (const auto& [begin, ignored] : definition_ranges(tree))
        if (begin >= node.offset + node.length) end = std::min(end, begin);
    return tree.source->text().substr(node.offset, end - node.offset);
}

/// Returns the text outside of definitions, without comments.
std::string outside(const syntax::Tree& tree) {
    const std::string_view text = tree.source->text();
    const auto cut = definition_ranges(tree);
    auto covered = [&](std::size_t at) {
        return std::ranges::any_of(
            cut, [&](const auto& place) { return at >= place.first && at < place.second; });
    };
    // The text of a heredoc is not a token at its position, so the text is used as it is.
    if (text.find("@(") != std::string_view::npos) {
        std::string all;
        std::size_t at = 0;
        for (const auto& [begin, end] : cut) {
            if (begin > at) all += text.substr(at, begin - at);
            at = std::max(at, end);
        }
        return all += text.substr(at);
    }
    base::Arena arena(16 * 1024);
    std::string all;
    const auto stream = syntax::tokenize(*tree.source, arena, {});
    for (std::size_t i = 0; i < stream.tokens.size(); ++i) {
        const auto& token = stream.tokens.data()[i];
        if (covered(token.offset)) continue;
        all += text.substr(token.offset, token.length);
        all += '\0';
    }
    return all;
}

}  // namespace

std::string definition_name(const syntax::Node& definition) {
    using enum syntax::NodeKind;
    auto with = [](std::string_view word, std::string_view name) {
        return std::string(word) + " " + std::string(name);
    };
    switch (definition.kind) {
        case HostClassDefinition: return with("class", named(definition)->name);
        case ResourceTypeDefinition: return with("define", named(definition)->name);
        case FunctionDefinition: return with("function", named(definition)->name);
        case PlanDefinition: return with("plan", named(definition)->name);
        case TypeAlias: return with("type", syntax::to<syntax::TypeAlias>(&definition).name);
        case TypeDefinition:
            return with("type", syntax::to<syntax::TypeDefinition>(&definition).name);
        case NodeDefinition: {
            std::string name = "node ";
            for (const auto* match : syntax::to<syntax::NodeDefinition>(&definition).host_matches) {
                if (name.size() > 5) name += ", ";
                name += match->text();
            }
            return name;
        }
        default: return {};
    }
}

std::string ParsedFile::names_digest() const {
    // A file with an error counts as one piece, because a compile may fail before or after it
    // reaches a given definition.
    const bool refused = error || std::ranges::any_of(findings, [](const auto& finding) {
                             return finding.level >= base::Level::Err;
                         });
    BUNRAKU_ASSERT(tree || error);
    if (refused)
        return tree ? short_digest(tree->source->text()) : short_digest(error->full_text());
    std::string all;
    for (const auto* definition : tree->program->definitions) {
        all += definition_name(*definition);
        // A parameter that is named like a metaparameter makes a definition invalid, whether it is
        // used or not.
        if (const auto* with = named(*definition)) {
            for (const auto* parameter : with->parameters) {
                all += ' ';
                all += parameter->name;
                if (parameter->value) all += '=';
            }
        }
        all += '\n';
    }
    all += outside(*tree);
    return short_digest(all);
}

std::string ParsedFile::definition_digest(std::string_view definition) const {
    BUNRAKU_ASSERT(tree || error);
    if (!tree) return short_digest(error->full_text());
    std::string all;
    for (const auto* each : tree->program->definitions)
        if (definition_name(*each) == definition) all += short_digest(text_of(*tree, *each));
    return all;
}

}  // namespace bunraku::environment
