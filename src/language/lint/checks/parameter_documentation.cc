// SPDX-License-Identifier: Apache-2.0
// The plugin param-docs: the comments above a definition describe its parameters.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/lint/characters.h"
#include "language/lint/checks/checks.h"
#include "language/lint/checks/parameters.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

struct DocumentedName {
    std::string_view style;  ///< "doc", "kafo" or "strings"; empty if a comment names no parameter
    std::string_view name;
};

std::string_view skip_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(base::kBlanks), text.size()));
}

std::size_t word_size(std::string_view text) {
    std::size_t size = 0;
    while (is_word(char_at(text, size))) ++size;
    return size;
}

/// Returns the parameter that a comment describes, in one of three styles: RDoc ("[*name*] ..."),
/// Kafo ("$name:: ...") or Puppet Strings ("@param name ...").
DocumentedName documented_name(std::string_view comment) {
    constexpr std::string_view kParam = "@param ";
    std::string_view text = skip_blanks(comment);
    if (text.starts_with("[*")) {
        text.remove_prefix(2);
        const std::size_t size = word_size(text);
        if (size > 0 && text.substr(size).starts_with("*]")) return {"doc", text.substr(0, size)};
    } else if (text.starts_with('$')) {
        text.remove_prefix(1);
        const std::size_t size = word_size(text);
        if (size > 0 && text.substr(size).starts_with(":: ")) return {"kafo", text.substr(0, size)};
    } else if (text.starts_with(kParam)) {
        text.remove_prefix(kParam.size());
        // The type is in brackets, up to the last bracket.
        if (const std::size_t type = text.rfind("] ");
            text.starts_with('[') && type != std::string_view::npos && type > 1)
            text.remove_prefix(type + 2);
        const std::size_t size = word_size(text);
        const char after = char_at(text, size);
        if (size > 0 && (size == text.size() || after == ' '))
            return {"strings", text.substr(0, size)};
    }
    return {};
}

bool is_private_tag(std::string_view comment) {
    constexpr std::string_view kTag = "@api ";
    const std::string_view text = base::trim(comment);
    return text.starts_with(kTag) && base::trim(text.substr(kTag.size())) == "private";
}

struct Entry {
    std::string_view name, style;
    std::vector<Token*> comments;  ///< the last comment of the file comes first
};

/// The comments above one definition.
struct Documentation {
    std::vector<Entry> entries;
    std::vector<std::size_t> duplicated;  ///< positions of entries, by their second comment
    bool is_private = false;

    const Entry* find(std::string_view name) const {
        const auto found = std::ranges::find(entries, name, &Entry::name);
        return found == entries.end() ? nullptr : &*found;
    }
};

constexpr std::string_view kTitle = "name/title";

Documentation read_documentation(const Manifest& manifest, const Definition& definition) {
    Documentation docs;
    for (std::size_t i = definition.range.first; i-- > 0;) {
        Token* token = manifest.tokens()[i];
        if (!token->is(T::Comment)) continue;
        if (is_private_tag(token->value)) {
            docs.is_private = true;
            continue;
        }
        DocumentedName documented = documented_name(token->value);
        if (documented.style.empty()) continue;
        if (definition.kind == T::Define &&
            (documented.name == "name" || documented.name == "title"))
            documented.name = kTitle;
        auto entry = std::ranges::find(docs.entries, documented.name, &Entry::name);
        if (entry == docs.entries.end()) {
            docs.entries.push_back({documented.name, documented.style, {}});
            entry = docs.entries.end() - 1;
        }
        entry->comments.push_back(token);
        if (entry->comments.size() == 2)
            docs.duplicated.push_back(static_cast<std::size_t>(entry - docs.entries.begin()));
    }
    return docs;
}

/// Returns the column of the parameter in a comment.
int name_column(const Token& comment) {
    std::string_view rest = skip_blanks(comment.value);
    if (rest.starts_with("@param")) rest = skip_blanks(rest.substr(6));
    return comment.column + 1 +
           static_cast<int>(
               count_characters(comment.value.substr(0, comment.value.size() - rest.size())));
}

void report_comment(Report& report, const Token& comment, std::string message) {
    report.warning_at(comment.line, name_column(comment), std::move(message));
}

void check_documentation_of(const Manifest& manifest, const Definition& definition,
                            Report& report) {
    const Documentation docs = read_documentation(manifest, definition);
    const auto parameters = parameters_of(definition, Braces::Nest);
    const std::string_view kind = definition.kind == T::Class ? "class" : "defined type";
    const std::string_view owner = definition.name->value;

    for (const std::size_t position : docs.duplicated) {
        const Entry& entry = docs.entries[position];
        for (const Token* comment : entry.comments)
            report_comment(report, *comment,
                           fmt::format("Duplicate {} parameter documentation for {}::{}", kind,
                                       owner, entry.name));
    }
    for (const Entry& entry : docs.entries) {
        if ((entry.name == kTitle && definition.kind == T::Define) ||
            std::ranges::find(parameters, entry.name, &Token::value) != parameters.end())
            continue;
        report_comment(report, *entry.comments.front(),
                       fmt::format("No matching {} parameter for documentation of {}::{}", kind,
                                   owner, entry.name));
    }
    if (docs.is_private) return;
    const auto& styles = report.options().docs_styles;
    for (Token* parameter : parameters) {
        const Entry* entry = docs.find(parameter->value);
        if (!entry) {
            report.warning(parameter, fmt::format("missing documentation for {} parameter {}::{}",
                                                  kind, owner, parameter->value));
        } else if (!styles.empty() && std::ranges::find(styles, entry->style) == styles.end()) {
            report.warning(parameter,
                           fmt::format("invalid documentation style for {} parameter {}::{} ({})",
                                       kind, owner, parameter->value, entry->style));
        }
    }
}

}  // namespace

const Check check_parameter_documentation{
    .name = "parameter_documentation",
    .group = CheckGroup::Plugin,
    .description = "The comments above a definition describe exactly its parameters.",
    .run = [](const Manifest& manifest, Report& report) {
        for (const Definition* definition : manifest.definitions())
            check_documentation_of(manifest, *definition, report);
    }};

}  // namespace bunraku::lint
