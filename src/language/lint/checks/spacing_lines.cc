// SPDX-License-Identifier: Apache-2.0
// The plugin manifest_whitespace-check: empty lines, and spaces around names of definitions.
#include "language/lint/checks/checks.h"
#include "language/lint/checks/spaces.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

bool remove_finding(TokenStream& stream, const Finding& finding) {
    stream.remove(finding.token);
    return true;
}

void find_empty_lines(const Manifest& manifest, Report& report) {
    for (Token* token : manifest.tokens()) {
        if (!token->is(T::Newline)) continue;
        int line_ends = 0;
        for (const Token* at = token->previous; is_blank(at) && line_ends < 2; at = at->previous)
            line_ends += at->is(T::Newline) ? 1 : 0;
        if (line_ends == 2) report.error(token, "there should be no two consecutive empty lines");
    }
}

/// Reports whether exactly one space separates a keyword and the name after it.
bool is_followed_by_name(const Token* keyword, const Token* name) {
    return name->index == keyword->index + 2 && is_single_space(keyword->next);
}

bool make_blank_single(TokenStream&, const Finding& finding) {
    if (!finding.token->is(T::Whitespace)) return false;
    finding.token->value = " ";
    return true;
}

/// Returns the first name in the definition, or null.
Token* name_after(const Manifest& manifest, const Definition& definition) {
    return next_of(manifest.tokens()[definition.range.first], {T::Name, T::FunctionName},
                   {.last = manifest.tokens()[definition.range.last]});
}

void find_bad_names(const Manifest& manifest, Report& report) {
    for (const Definition* definition : manifest.definitions()) {
        const Token* keyword = manifest.tokens()[definition->range.first];
        const Token* name = name_after(manifest, *definition);
        if (name && !is_followed_by_name(keyword, name))
            report.error(keyword->next,
                         "there should be a single space between the class or defined resource "
                         "statement and the name");
    }
}

void find_bad_ends_of_names(const Manifest& manifest, Report& report) {
    for (const Definition* definition : manifest.definitions()) {
        Token* name = name_after(manifest, *definition);
        const Token* after = name ? solid_after(name) : nullptr;
        if (after && (after->index != name->index + 2 || !is_single_space(name->next)))
            report.error(name,
                         "there should be a single space between the class or resource name and "
                         "the next item");
    }
}

bool fix_end_of_name(TokenStream& stream, const Finding& finding) {
    Token* after = solid_after(finding.token);
    if (!after) return false;
    for (Token* at = finding.token->next; at && at != after; at = at->next) stream.remove(at);
    return insert_space_before(stream, after);
}

}  // namespace

const Check check_manifest_whitespace_inherits_name_single_space_before{
    .name = "manifest_whitespace_inherits_name_single_space_before",
    .group = CheckGroup::Plugin,
    .description = "There is one space between inherits and the name.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const Token* token : manifest.tokens()) {
                if (!token->is(T::Inherits)) continue;
                const Token* name = next_of(token, {T::Name, T::FunctionName}, {.reach = kReach});
                if (name && !is_followed_by_name(token, name))
                    report.error(token->next,
                                 "there should be a single space between the inherits statement "
                                 "and the name");
            }
        },
    .fix = make_blank_single};

const Check check_manifest_whitespace_class_name_single_space_before{
    .name = "manifest_whitespace_class_name_single_space_before",
    .group = CheckGroup::Plugin,
    .description = "There is one space before the name of a definition.",
    .run = find_bad_names,
    .fix = make_blank_single};

const Check check_manifest_whitespace_class_name_single_space_after{
    .name = "manifest_whitespace_class_name_single_space_after",
    .group = CheckGroup::Plugin,
    .description = "There is one space after the name of a definition.",
    .run = find_bad_ends_of_names,
    .fix = fix_end_of_name};

const Check check_manifest_whitespace_two_empty_lines{
    .name = "manifest_whitespace_two_empty_lines",
    .group = CheckGroup::Plugin,
    .description = "No two empty lines follow each other.",
    .run = find_empty_lines,
    .fix = remove_finding};

const Check check_manifest_whitespace_newline_beginning_of_file{
    .name = "manifest_whitespace_newline_beginning_of_file",
    .group = CheckGroup::Plugin,
    .description = "A file does not begin with an empty line.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens()) {
                if (!token->is(T::Newline)) return;
                report.error(token, "there should not be a newline at the beginning of a manifest");
            }
        },
    .fix = remove_finding};

const Check check_manifest_whitespace_missing_newline_end_of_file{
    .name = "manifest_whitespace_missing_newline_end_of_file",
    .group = CheckGroup::Plugin,
    .description = "The last line of a file is complete.",
    .run =
        [](const Manifest& manifest, Report& report) {
            if (manifest.tokens().empty() || manifest.tokens().back()->is(T::Newline)) return;
            report.error(manifest.tokens().back(),
                         "there should be a single newline at the end of a manifest");
        },
    .fix =
        [](TokenStream& stream, const Finding& finding) {
            if (!finding.token->listed) return false;
            stream.insert_unlinked_after(finding.token, stream.make(T::Newline, "\n"));
            return true;
        }};

const Check check_manifest_whitespace_double_newline_end_of_file{
    .name = "manifest_whitespace_double_newline_end_of_file",
    .group = CheckGroup::Plugin,
    .description = "A file does not end with an empty line.",
    .run =
        [](const Manifest& manifest, Report& report) {
            if (manifest.tokens().empty()) return;
            for (Token* last = manifest.tokens().back();
                 last->is(T::Newline) && is_a(last->previous, T::Newline); last = last->previous)
                report.error(last, "there should be a single newline at the end of a manifest");
        },
    .fix =
        [](TokenStream& stream, const Finding& finding) {
            stream.erase(finding.token);
            return true;
        }};

}  // namespace bunraku::lint
