// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/symbols.h"

#include <algorithm>

#include "core/base/text.h"

namespace bunraku::lsp {

const Definition* FileSymbols::enclosing(std::uint32_t offset) const {
    const auto after = std::ranges::upper_bound(
        definitions, offset, {}, [](const Definition& each) { return each.span.offset; });
    const Definition* best = nullptr;
    for (auto i = static_cast<std::size_t>(after - definitions.begin());
         i-- > 0 && reach_[i] >= offset;) {
        const Definition& definition = definitions[i];
        if (!definition.span.touches(offset)) continue;
        if (!best || definition.span.length <= best->span.length) best = &definition;
    }
    return best;
}

void FileSymbols::finish() {
    std::ranges::stable_sort(definitions, {},
                             [](const Definition& each) { return each.span.offset; });
    reach_.clear();
    for (const Definition& definition : definitions)
        reach_.push_back(std::max(reach_.empty() ? 0 : reach_.back(), definition.span.end()));
    std::ranges::stable_sort(occurrences, [](const Occurrence& a, const Occurrence& b) {
        return a.span.offset != b.span.offset ? a.span.offset < b.span.offset
                                              : a.span.length > b.span.length;
    });
}

std::string_view namespace_of(std::string_view name) {
    const std::size_t at = name.rfind("::");
    return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

std::string_view last_segment(std::string_view name) {
    const std::size_t at = name.rfind("::");
    return at == std::string_view::npos ? name : name.substr(at + 2);
}

std::string_view without_top(std::string_view name) {
    return name.starts_with("::") ? name.substr(2) : name;
}

std::string capitalized_name(std::string_view name) {
    std::string out(name);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (i == 0 || (i > 1 && out[i - 1] == ':' && out[i - 2] == ':'))
            out[i] = base::upper(out[i]);
    return out;
}

}  // namespace bunraku::lsp
