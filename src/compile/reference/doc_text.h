// Comments that document something, as YARD and puppet-strings read them: a text with @tags.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::reference {

/// "@param name [Type] text" and the like. Which parts it has depends on what it is.
struct DocTag {
    std::string tag;  ///< "param"
    std::optional<std::string> name, text;
    std::optional<std::vector<std::string>> types;
    /// Of @option and @enum: what belongs to the parameter `name`.
    struct Choice {
        std::string name;
        std::optional<std::string> text;
        std::optional<std::vector<std::string>> types;
    };
    std::optional<Choice> choice;
};

struct DocText {
    std::string text;  ///< what is not tagged
    std::vector<DocTag> tags;

    const DocTag* find(std::string_view tag) const;
    DocTag* find(std::string_view tag);
    /// The text of the first such tag that has one; empty: there is none.
    std::string told(std::string_view tag) const;
    bool is_private() const;
    void remove(std::string_view tag);
};

/// A comment without its marks.
DocText parse_doc(std::string_view comment);

/// A description out of Ruby code without the indentation that it has from there.
std::string scrubbed(std::string_view text);

}  // namespace bunraku::reference
