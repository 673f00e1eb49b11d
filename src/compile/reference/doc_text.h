// SPDX-License-Identifier: Apache-2.0
// Documentation comments as YARD and puppet-strings parse them: a text with @tags.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::reference {

/// A tag such as "@param name [Type] text". The kind of tag decides which parts it has.
struct DocTag {
    std::string tag;  ///< such as "param"
    std::optional<std::string> name, text;
    std::optional<std::vector<std::string>> types;
    /// The entry of an @option or @enum, which belongs to the parameter `name`.
    struct Choice {
        std::string name;
        std::optional<std::string> text;
        std::optional<std::vector<std::string>> types;
    };
    std::optional<Choice> choice;
};

struct DocText {
    std::string text;  ///< the text outside of tags
    std::vector<DocTag> tags;

    const DocTag* find(std::string_view tag) const;
    DocTag* find(std::string_view tag);
    /// Returns the text of the first such tag that has a text, or an empty string.
    std::string tag_text(std::string_view tag) const;
    bool is_private() const;
    void remove(std::string_view tag);
};

/// Parses a comment whose comment markers have been removed.
DocText parse_doc(std::string_view comment);

/// Removes the indentation that a description has in Ruby code.
std::string scrubbed(std::string_view text);

}  // namespace bunraku::reference
