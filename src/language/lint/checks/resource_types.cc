// SPDX-License-Identifier: Apache-2.0
// Plugins that check resources of certain types: anchor, exec, file and package.
#include <algorithm>

#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Returns the name token of the first attribute `name` in the resource, or null.
Token* find_attribute(const Manifest& manifest, const ResourceBody& resource,
                      std::string_view name) {
    for (Token* token : manifest.tokens(resource.range))
        if (token->is(T::Name) && token->value == name && is_a(token->next_code, T::FatArrow))
            return token;
    return nullptr;
}

/// Reports `ensure => UNWANTED` of resources of a type.
void find_ensure(const Manifest& manifest, Report& report, std::string_view type,
                 std::string_view unwanted, std::string_view message) {
    for (const ResourceBody& resource : manifest.resources()) {
        if (resource.type->value != type) continue;
        const Token* ensure = find_attribute(manifest, resource, "ensure");
        Token* value = ensure ? ensure->next_code->next_code : nullptr;
        if (!is_a(value, T::Name, T::String, T::SingleQuoted) || value->value != unwanted) continue;
        report.warning(value, std::string(message)).begin =
            find_attribute(manifest, resource, "target");
    }
}

/// Reports whether an exec has an attribute that keeps it from running every time. `unless` is a
/// keyword, so it is not among the attributes of the resource.
bool is_idempotent(const Manifest& manifest, const ResourceBody& exec) {
    const Token* at = manifest.tokens()[exec.range.first]->previous;
    while (at && (at = next_of(at, {T::Name, T::Unless}, {.last = exec.last}))) {
        const std::string_view name = at->value;
        if (is_a(at->next_code, T::FatArrow) &&
            (name == "onlyif" || name == "unless" || name == "creates" || name == "refreshonly"))
            return true;
    }
    return false;
}

}  // namespace

const Check check_anchor_resource{.name = "anchor_resource",
                                  .group = CheckGroup::Plugin,
                                  .description = "There are no anchor resources.",
                                  .run = [](const Manifest& manifest, Report& report) {
                                      for (const ResourceBody& resource : manifest.resources())
                                          if (resource.type->value == "anchor")
                                              report.warning(resource.type,
                                                             "manifest includes anchor resource");
                                  }};

const Check check_exec_idempotency{
    .name = "exec_idempotency",
    .group = CheckGroup::Plugin,
    .description = "An exec has an attribute that determines whether it runs.",
    .run = [](const Manifest& manifest, Report& report) {
        for (const ResourceBody& resource : manifest.resources()) {
            if (resource.type->value == "exec" && !is_idempotent(manifest, resource))
                report.warning(manifest.tokens()[resource.range.first],
                               "exec without idempotency. set at least one of the attributes: "
                               "onlyif, unless, creates, refreshonly");
        }
    }};

const Check check_file_ensure{
    .name = "file_ensure",
    .group = CheckGroup::Plugin,
    .description = "The attribute ensure of a file says what kind of file it is.",
    .run =
        [](const Manifest& manifest, Report& report) {
            find_ensure(manifest, report, "file", "present",
                        "ensure set to present on file resource");
        },
    .fix =
        [](TokenStream&, const Finding& finding) {
            finding.token->value = finding.begin ? "link" : "file";
            return true;
        }};

const Check check_package_ensure{.name = "package_ensure",
                                 .group = CheckGroup::Plugin,
                                 .description = "A package is not upgraded by every run.",
                                 .run =
                                     [](const Manifest& manifest, Report& report) {
                                         find_ensure(manifest, report, "package", "latest",
                                                     "ensure set to latest on a package resource");
                                     },
                                 .fix =
                                     [](TokenStream&, const Finding& finding) {
                                         finding.token->value = "installed";
                                         return true;
                                     }};

}  // namespace bunraku::lint
