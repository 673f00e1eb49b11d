// SPDX-License-Identifier: Apache-2.0
// The plugin param-docs: the comments above a definition describe its parameters.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>

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

/// Returns the name at the start of the text after `@param` and the type.
DocumentedName strings_name(std::string_view text) {
    const std::size_t size = word_size(text);
    if (size == 0 || (size < text.size() && text[size] != ' ')) return {};
    return {"strings", text.substr(0, size)};
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
        if (!text.starts_with('[')) return strings_name(text);
        // The type is in brackets, up to the last bracket with a name after it.
        for (std::size_t type = text.rfind("] "); type != std::string_view::npos && type > 1;
             type = text.rfind("] ", type - 1))
            if (const auto found = strings_name(text.substr(type + 2)); !found.name.empty())
                return found;
    }
    return {};
}

bool is_private_tag(std::string_view comment) {
    constexpr std::string_view kTag = "@api ";
    const std::string_view text = base::trim(comment);
    return text.starts_with(kTag) && base::trim(text.substr(kTag.size())) == "private";
}

/// A comment that names a parameter.
struct DocComment {
    Token* token;
    DocumentedName documented;
};

/// All comments of a file. Like the plugin, a definition has all comments before it.
struct FileComments {
    std::vector<DocComment> comments;
    std::size_t first_private_tag = SIZE_MAX;  ///< its position
};

FileComments read_comments(const Manifest& manifest) {
    FileComments out;
    for (Token* token : manifest.tokens()) {
        if (!token->is(T::Comment)) continue;
        if (is_private_tag(token->value)) {
            out.first_private_tag = std::min<std::size_t>(out.first_private_tag, token->index);
        } else if (const auto documented = documented_name(token->value);
                   !documented.style.empty()) {
            out.comments.push_back({token, documented});
        }
    }
    return out;
}

/// The number of problems grows with the product of comments and definitions. Definitions after the
/// one that reaches this number are not checked.
constexpr std::size_t kMaxFindings = 10'000;

struct Entry {
    std::string_view name, style;
    std::vector<Token*> comments;  ///< the last comment of the file comes first
};

/// The comments above one definition.
struct Documentation {
    std::vector<Entry> entries;
    std::map<std::string_view, std::size_t> by_name;
    std::vector<std::size_t> duplicated;  ///< positions of entries, by their second comment

    const Entry* find(std::string_view name) const {
        const auto found = by_name.find(name);
        return found == by_name.end() ? nullptr : &entries[found->second];
    }
};

constexpr std::string_view kTitle = "name/title";

Documentation read_documentation(const FileComments& file, const Definition& definition) {
    Documentation docs;
    const auto end =
        std::ranges::lower_bound(file.comments, definition.range.first, {},
                                 [](const DocComment& one) { return one.token->index; });
    for (auto at = end; at != file.comments.begin();) {
        auto [token, documented] = *--at;
        if (definition.kind == T::Define &&
            (documented.name == "name" || documented.name == "title"))
            documented.name = kTitle;
        const auto [found, added] = docs.by_name.emplace(documented.name, docs.entries.size());
        if (added) docs.entries.push_back({documented.name, documented.style, {}});
        Entry& entry = docs.entries[found->second];
        entry.comments.push_back(token);
        if (entry.comments.size() == 2) docs.duplicated.push_back(found->second);
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

void check_documentation_of(const FileComments& file, const Definition& definition,
                            Report& report) {
    const Documentation docs = read_documentation(file, definition);
    const auto parameters = parameters_of(definition, Braces::Nest);
    std::set<std::string_view> names;
    for (const Token* parameter : parameters) names.insert(parameter->value);
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
        if ((entry.name == kTitle && definition.kind == T::Define) || names.contains(entry.name))
            continue;
        report_comment(report, *entry.comments.front(),
                       fmt::format("No matching {} parameter for documentation of {}::{}", kind,
                                   owner, entry.name));
    }
    if (file.first_private_tag < definition.range.first) return;
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
        const FileComments comments = read_comments(manifest);
        for (const Definition* definition : manifest.definitions()) {
            if (report.findings().size() > kMaxFindings) return;
            check_documentation_of(comments, *definition, report);
        }
    }};

}  // namespace bunraku::lint
