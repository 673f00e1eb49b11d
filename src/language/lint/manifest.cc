// SPDX-License-Identifier: Apache-2.0
#include "language/lint/manifest.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <ranges>

#include "core/base/text.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Sets the parameters of a definition whose tokens are `tokens`.
void find_parameters(Definition& definition, std::span<Token* const> tokens) {
    int depth = 0;
    std::size_t open = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        switch (tokens[i]->type) {
            case T::LeftParen:
                if (++depth == 1) open = i;
                break;
            case T::RightParen:
                if (--depth != 0) break;
                definition.has_parameters = true;
                definition.parameters = tokens.subspan(open + 1, i - open - 1);
                return;
            case T::LeftBrace:
                if (depth == 0) return;
                break;
            default: break;
        }
    }
}

/// Finds the closing brace that ends each class or defined type.
class DefinitionEnds {
public:
    explicit DefinitionEnds(std::span<Token* const> tokens) : depths_(tokens.size()) {
        Depth depth;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            depth.braces += tokens[i]->is(T::LeftBrace) ? 1 : tokens[i]->is(T::RightBrace) ? -1 : 0;
            depth.parens += tokens[i]->is(T::LeftParen) ? 1 : tokens[i]->is(T::RightParen) ? -1 : 0;
            depths_[i] = depth;
        }
    }

    /// Adds the closing brace at `position`. Braces must be added from the last to the first.
    void add(std::size_t position) {
        auto& ends = ends_[depths_[position].braces];
        const int parens = depths_[position].parens;
        // A definition that ends at a later brace with more open parentheses ends here instead.
        while (!ends.empty() && ends.back().parens >= parens) ends.pop_back();
        ends.push_back({parens, position});
    }

    /// Returns the first of the added braces that leaves as many braces open as there are at
    /// `keyword`, and that is not in parentheses which begin after `keyword`.
    std::optional<std::size_t> of(std::size_t keyword) const {
        const auto found = ends_.find(depths_[keyword].braces);
        if (found == ends_.end()) return std::nullopt;
        const auto end =
            std::ranges::upper_bound(found->second, depths_[keyword].parens, {}, &End::parens);
        return end == found->second.begin() ? std::nullopt : std::optional((end - 1)->position);
    }

private:
    struct Depth {
        int braces = 0, parens = 0;
    };
    struct End {
        int parens;
        std::size_t position;
    };
    std::vector<Depth> depths_;             ///< after each token
    std::map<int, std::vector<End>> ends_;  ///< by depth; the first brace and most parentheses last
};

}  // namespace

BlockEnds::BlockEnds(std::span<Token* const> tokens) : depths_(tokens.size()) {
    int depth = 0, highest = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        depths_[i] = depth;
        depth += tokens[i]->is(T::LeftBrace) ? 1 : tokens[i]->is(T::RightBrace) ? -1 : 0;
        lowest_ = std::min(lowest_, depth);
        highest = std::max(highest, depth);
    }
    closing_.resize(static_cast<std::size_t>(highest - lowest_) + 1);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (tokens[i]->is(T::RightBrace))
            closing_[static_cast<std::size_t>(depths_[i] - 1 - lowest_)].push_back(i);
}

std::optional<std::size_t> BlockEnds::after(std::size_t from) const {
    const auto& ends = closing_[static_cast<std::size_t>(depths_[from] - lowest_)];
    const auto end = std::ranges::lower_bound(ends, from);
    return end == ends.end() ? std::nullopt : std::optional(*end);
}

Manifest::Manifest(TokenStream& stream, std::string_view text, std::string_view path)
    : stream_(stream), path_(path), lines_(base::split(text, '\n')), block_ends_(stream.tokens()) {
    find_definitions();
}

std::span<Token* const> Manifest::tokens(TokenRange range) const {
    return tokens().subspan(range.first, range.last + 1 - range.first);
}

std::vector<const Definition*> Manifest::definitions() const {
    std::vector<const Definition*> all;
    for (const Definition& one : classes_) all.push_back(&one);
    for (const Definition& one : defined_types_) all.push_back(&one);
    return all;
}

void Manifest::find_definitions() {
    const auto all = tokens();
    std::vector<TokenRange> ranges;  // the last one first
    DefinitionEnds ends(all);
    for (std::size_t i = all.size(); i-- > 0;) {
        if (all[i]->is(T::RightBrace)) ends.add(i);
        if (!all[i]->is(T::Class, T::Define) || !all[i]->next_code ||
            all[i]->next_code->is(T::LeftBrace))
            continue;
        if (const auto end = ends.of(i)) ranges.push_back({i, *end});
    }
    std::vector<const Token*> last_inherits(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        last_inherits[i] = all[i]->is(T::Inherits) ? all[i]
                           : i > 0                 ? last_inherits[i - 1]
                                                   : nullptr;

    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> around;
    for (const TokenRange& range : ranges | std::views::reverse) {
        while (!around.empty() && around.top() < range.first) around.pop();
        if (around.size() > kMaxNesting) continue;
        around.push(range.last);
        const Token* inherits = last_inherits[range.last];
        Token* first = all[range.first];
        Definition definition{
            .kind = first->type,
            .range = range,
            .name = first->next_code,
            .inherited = inherits && inherits->index > range.first ? inherits->next_code : nullptr,
            .parameters = {}};
        find_parameters(definition, tokens(range));
        (first->is(T::Class) ? classes_ : defined_types_).push_back(std::move(definition));
    }
}

const std::vector<ResourceBody>& Manifest::resources() const {
    if (!resources_) resources_ = find_resources();
    return *resources_;
}

std::vector<ResourceBody> Manifest::find_resources() const {
    std::vector<ResourceBody> found;
    std::size_t searched = 0;      // position of the end of the last resource
    const Token* name = nullptr;   // the last name or reference before the colon
    const Token* brace = nullptr;  // the last opening brace that does not belong to a selector
    for (Token* colon : tokens()) {
        if (colon->is(T::Name, T::ClassReference)) name = colon;
        if (colon->is(T::LeftBrace) && !is_a(colon->previous_code, T::QuestionMark)) brace = colon;
        // After a reference, the colon belongs to resource defaults or to an override.
        if (!colon->is(T::Colon) || !colon->next_code || colon->next_code->is(T::LeftBrace) ||
            is_a(name, T::ClassReference)) {
            continue;
        }
        if (colon->index < searched) break;
        const Token* end = next_of(colon, {T::Semicolon, T::RightBrace}, {});
        Token* type = end && brace ? brace->previous_code : nullptr;
        if (!type) {
            syntax_error_ = colon;
            return {};
        }
        searched = end->index;
        ResourceBody resource{
            .range = {colon->index, end->index}, .type = type, .attributes = {}, .last = end};
        Token* at = colon->previous;
        while (at && (at = next_of(at, {T::Name}, {.last = end})))
            if (is_a(at->next_code, T::FatArrow)) resource.attributes.push_back(at);
        found.push_back(std::move(resource));
    }
    return found;
}

std::vector<Token*> Manifest::titles() const {
    std::vector<Token*> found;
    const auto all = tokens();
    // In a file with array titles, puppet-lint takes the last bracket of the file for the start of
    // each of them.
    std::size_t last_bracket = all.size();
    for (std::size_t i = all.size(); i-- > 0 && last_bracket == all.size();)
        if (all[i]->type == T::LeftBracket) last_bracket = i;
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i]->type != T::Colon) continue;
        if (all[i - 1]->type == T::RightBracket) {
            // Without a limit, the number of titles would be quadratic.
            if (found.size() > 2 * all.size()) return found;
            for (std::size_t j = last_bracket + 1; j + 1 < i; ++j)
                if (all[j]->is(T::String, T::Name)) found.push_back(all[j]);
        } else if (all[i]->next_code && !all[i]->next_code->is(T::LeftBrace)) {
            found.push_back(all[i - 1]);
        }
    }
    return found;
}

}  // namespace bunraku::lint
