// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/completion_items.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::lsp {

namespace {

constexpr std::size_t kMaxItems = 2000;

}  // namespace

CompletionItems::CompletionItems() { out_.object().key("items").array(); }

void CompletionItems::set_word(std::string_view word, Range range) {
    prefix_ = base::lower(word);
    range_ = range;
}

void CompletionItems::add(const CompletionItem& item) {
    const std::string_view compared = item.filter.empty() ? item.label : item.filter;
    if (!base::lower(compared).starts_with(prefix_)) return;
    if (!seen_.emplace(item.label).second) return;
    if (seen_.size() > kMaxItems) {
        incomplete_ = true;
        return;
    }
    out_.object().member("label", item.label).member("kind", static_cast<int>(item.kind));
    if (!item.detail.empty()) out_.member("detail", item.detail);
    if (!item.doc.empty()) {
        out_.key("documentation").object().member("kind", "markdown");
        out_.member("value", item.doc).end_object();
    }
    if (!item.filter.empty()) out_.member("filterText", item.filter);
    if (!item.order.empty()) out_.member("sortText", item.order);
    out_.key("textEdit").object().member("range", range_);
    out_.member("newText", item.insert.empty() ? item.label : item.insert).end_object();
    if (!item.resolved.empty())
        out_.member("data", fmt::format("{}:{}", item.resolved, item.label));
    out_.end_object();
}

std::string CompletionItems::take() {
    out_.end_array().member("isIncomplete", incomplete_);
    return out_.end_object().take();
}

}  // namespace bunraku::lsp
