// SPDX-License-Identifier: Apache-2.0
// Checks of the titles and attributes of resources.
#include <algorithm>
#include <set>

#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// How many node keywords without a block may follow each other.
constexpr int kMaxNodes = 16;

bool quote_resource_word(TokenStream&, const Finding& finding) {
    finding.token->type = T::SingleQuoted;
    return true;
}

void find_duplicates(const Manifest& manifest, Report& report) {
    for (const ResourceBody& resource : manifest.resources()) {
        std::vector<std::set<std::string_view>> seen(1);  // by depth of braces
        for (const Token* token : manifest.tokens(resource.range)) {
            if (token->is(T::LeftBrace)) {
                seen.emplace_back();
            } else if (token->is(T::RightBrace)) {
                if (seen.size() > 1) seen.pop_back();
            } else if (token->is(T::FatArrow) && is_a(token->previous_code, T::Name)) {
                Token* name = token->previous_code;
                if (!seen.back().insert(name->value).second)
                    report.error(name, "duplicate parameter found in resource");
            }
        }
    }
}

void find_late_ensure(const Manifest& manifest, Report& report) {
    for (const ResourceBody& resource : manifest.resources()) {
        if (resource.type->is(T::Class)) continue;
        const auto ensure = std::ranges::find(resource.attributes, "ensure", &Token::value);
        if (ensure == resource.attributes.end() || ensure == resource.attributes.begin()) continue;
        report.warning(*ensure, "ensure found on line but it's not the first attribute").resource =
            &resource;
    }
}

/// Exchanges the first attribute and `ensure`.
bool move_ensure_first(TokenStream& stream, const Finding& finding) {
    Token* first = finding.resource->attributes.front();
    // Without commas in this resource, the fix of puppet-lint exchanges parts of several resources.
    const Token* last = finding.resource->last;
    Token* first_comma = next_of(first, {T::Comma}, {.last = last});
    Token* ensure =
        first_comma ? next_of(first_comma, {T::Name}, {.value = "ensure", .last = last}) : nullptr;
    Token* ensure_comma =
        ensure ? next_of(ensure, {T::Comma, T::Semicolon}, {.last = last}) : nullptr;
    if (!ensure_comma || !stream.swap_ranges(first, first_comma, ensure, ensure_comma))
        return false;

    std::swap(first->previous, ensure->previous);
    std::swap(first->previous_code, ensure->previous_code);
    const Token* after = ensure_comma->next;
    ensure_comma->next_code = after ? after->next_code : nullptr;
    ensure_comma->next = first_comma->next;
    return true;
}

void find_symlink_targets(const Manifest& manifest, Report& report) {
    for (const ResourceBody& resource : manifest.resources()) {
        if (resource.type->value != "file") continue;
        for (Token* name : resource.attributes) {
            Token* value = name->next_code->next_code;
            if (name->value != "ensure" || !value || !value->value.starts_with('/')) continue;
            report.warning(value, "symlink target specified in ensure attr").begin = name;
        }
    }
}

bool add_target(TokenStream& stream, const Finding& finding) {
    const Token* before = finding.begin->previous;
    if (!finding.token->listed || !before) return false;
    Token* const added[] = {
        stream.make(T::Name, "symlink"), stream.make(T::Comma, ","),
        stream.make(T::Newline, "\n"),   stream.make(T::Indent, before->value),
        stream.make(T::Name, "target"),  stream.make(T::Whitespace, " "),
        stream.make(T::FatArrow, "=>"),  stream.make(T::Whitespace, " "),
    };
    for (Token* token : added) stream.insert_unlinked_before(finding.token, token);
    return true;
}

/// Reports whether the text is a symbolic mode such as "u=rw,go-w".
bool is_symbolic_mode(std::string_view mode) {
    const auto skip = [&mode](std::string_view characters) {
        const std::size_t end = std::min(mode.find_first_not_of(characters), mode.size());
        mode.remove_prefix(end);
        return end > 0;
    };
    while (true) {
        skip("ugoa");
        if (mode.empty() || !std::string_view("-=+").contains(mode[0])) return false;
        skip("-=+rstwxXugo");
        if (mode.empty()) return true;
        if (mode[0] != ',') return false;
        mode.remove_prefix(1);
    }
}

bool is_octal(std::string_view mode, std::size_t size) {
    return mode.size() == size && mode.find_first_not_of("01234567") == std::string_view::npos;
}

bool has_mode(const ResourceBody& resource) {
    return resource.type->value == "file" || resource.type->value == "concat";
}

void find_bad_modes(const Manifest& manifest, Report& report) {
    for (const ResourceBody& resource : manifest.resources()) {
        if (!has_mode(resource)) continue;
        for (const Token* name : resource.attributes) {
            Token* value = name->next_code->next_code;
            if (name->value != "mode" || !value) continue;
            if (value->is(T::Variable, T::Undef, T::FunctionName) || is_octal(value->value, 4) ||
                is_symbolic_mode(value->value))
                break;
            report.warning(value,
                           "mode should be represented as a 4 digit octal value or symbolic mode");
        }
    }
}

}  // namespace

const Check check_unquoted_node_name{
    .name = "unquoted_node_name",
    .description = "Names of nodes are quoted.",
    .run =
        [](const Manifest& manifest, Report& report) {
            const auto tokens = manifest.tokens();
            std::size_t braces = tokens.size();  // end of the tokens with a brace after them
            while (braces > 0 && !tokens[braces - 1]->is(T::LeftBrace)) --braces;
            for (Token* node : tokens) {
                if (!node->is(T::Node)) continue;
                if (node->index >= braces) {
                    report.error(node, "Syntax error (try running `puppet parser validate <file>`)")
                        .problem.check = "syntax";
                    continue;
                }
                // Like in puppet-lint, attributes named node count, too. The limit keeps the number
                // of problems from being quadratic.
                int nodes = 0;
                for (std::size_t i = node->index; !tokens[i]->is(T::LeftBrace); ++i) {
                    if (tokens[i]->is(T::Node) && ++nodes > kMaxNodes) break;
                    if (tokens[i]->is(T::Name))
                        report.warning(tokens[i], "unquoted node name found");
                }
            }
        },
    .fix = quote_resource_word};

const Check check_duplicate_params{.name = "duplicate_params",
                                   .description = "A resource has each attribute only once.",
                                   .run = find_duplicates};

const Check check_ensure_first_param{.name = "ensure_first_param",
                                     .description = "The attribute ensure comes first.",
                                     .run = find_late_ensure,
                                     .fix = move_ensure_first};

const Check check_ensure_not_symlink_target{
    .name = "ensure_not_symlink_target",
    .description = "The target of a symbolic link is in the attribute target, not in ensure.",
    .run = find_symlink_targets,
    .fix = add_target};

const Check check_file_mode{.name = "file_mode",
                            .description = "A file mode has four octal digits or is symbolic.",
                            .run = find_bad_modes,
                            .fix = [](TokenStream& stream, const Finding& finding) {
                                if (!is_octal(finding.token->value, 3)) return false;
                                finding.token->type = T::SingleQuoted;
                                finding.token->value =
                                    stream.keep("0" + std::string(finding.token->value));
                                return true;
                            }};

const Check check_unquoted_file_mode{
    .name = "unquoted_file_mode",
    .description = "File modes are quoted.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const ResourceBody& resource : manifest.resources()) {
                if (!has_mode(resource)) continue;
                for (const Token* name : resource.attributes) {
                    Token* value = name->next_code->next_code;
                    if (name->value == "mode" && is_a(value, T::Name, T::Number))
                        report.warning(value, "unquoted file mode");
                }
            }
        },
    .fix = quote_resource_word};

const Check check_unquoted_resource_title{.name = "unquoted_resource_title",
                                          .description = "Titles of resources are quoted.",
                                          .run =
                                              [](const Manifest& manifest, Report& report) {
                                                  for (Token* title : manifest.titles())
                                                      if (title->is(T::Name))
                                                          report.warning(title,
                                                                         "unquoted resource title");
                                              },
                                          .fix = quote_resource_word};

}  // namespace bunraku::lint
