// SPDX-License-Identifier: Apache-2.0
// The list of items that a completion returns.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "services/lsp/json_writer.h"
#include "services/lsp/text_position.h"

namespace bunraku::lsp {

/// CompletionItemKind of LSP.
enum class ItemKind : int {
    Function = 3,
    Field = 5,
    Variable = 6,
    Class = 7,
    Module = 9,
    Property = 10,
    Value = 12,
    Enum = 13,
    Keyword = 14,
    File = 17,
    Constant = 21,
    Struct = 22,
};

struct CompletionItem {
    std::string_view label;
    ItemKind kind{};
    std::string_view detail;    ///< may be empty
    std::string_view doc;       ///< Markdown; may be empty
    std::string_view insert;    ///< the label if it is empty
    std::string_view resolved;  ///< the kind of documentation that completionItem/resolve adds
    std::string_view filter;    ///< compared with the word instead of the label; may be empty
    std::string_view order;     ///< sorted by it instead of the label; may be empty
};

class CompletionItems {
public:
    CompletionItems();
    /// Sets the word before the cursor: only items that begin with it are added, and they replace
    /// `range`. Case does not matter.
    void set_word(std::string_view word, Range range);
    const std::string& prefix() const { return prefix_; }
    /// Adds an item unless one with the same label exists.
    void add(const CompletionItem& item);
    /// Marks the list as incomplete: the editor asks again at the next key.
    void more_later() { incomplete_ = true; }
    /// Returns the result of the request as JSON.
    std::string take();

private:
    std::string prefix_;
    Range range_;
    std::set<std::string, std::less<>> seen_;
    bool incomplete_ = false;
    JsonWriter out_;
};

}  // namespace bunraku::lsp
