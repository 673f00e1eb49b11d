// SPDX-License-Identifier: Apache-2.0
// The list of checks (internal to this folder). A check NAME is the object check_NAME in one of the
// files here. Problems are reported in this order, which is puppet-lint's.
#pragma once

#include "language/lint/check.h"

#define BUNRAKU_LINT_CHECKS(CHECK)                               \
    CHECK(arrow_on_right_operand_line)                           \
    CHECK(autoloader_layout)                                     \
    CHECK(class_inherits_from_params_class)                      \
    CHECK(code_on_top_scope)                                     \
    CHECK(inherits_across_namespaces)                            \
    CHECK(names_containing_dash)                                 \
    CHECK(names_containing_uppercase)                            \
    CHECK(nested_classes_or_defines)                             \
    CHECK(parameter_order)                                       \
    CHECK(right_to_left_relationship)                            \
    CHECK(variable_scope)                                        \
    CHECK(slash_comments)                                        \
    CHECK(star_comments)                                         \
    CHECK(case_without_default)                                  \
    CHECK(selector_inside_resource)                              \
    CHECK(documentation)                                         \
    CHECK(unquoted_node_name)                                    \
    CHECK(duplicate_params)                                      \
    CHECK(ensure_first_param)                                    \
    CHECK(ensure_not_symlink_target)                             \
    CHECK(file_mode)                                             \
    CHECK(unquoted_file_mode)                                    \
    CHECK(unquoted_resource_title)                               \
    CHECK(double_quoted_strings)                                 \
    CHECK(only_variable_string)                                  \
    CHECK(puppet_url_without_modules)                            \
    CHECK(quoted_booleans)                                       \
    CHECK(single_quote_string_with_variables)                    \
    CHECK(variables_not_enclosed)                                \
    CHECK(variable_contains_dash)                                \
    CHECK(variable_is_lowercase)                                 \
    CHECK(140chars)                                              \
    CHECK(2sp_soft_tabs)                                         \
    CHECK(80chars)                                               \
    CHECK(arrow_alignment)                                       \
    CHECK(hard_tabs)                                             \
    CHECK(space_before_arrow)                                    \
    CHECK(trailing_whitespace)                                   \
    CHECK(legacy_facts)                                          \
    CHECK(top_scope_facts)                                       \
    /* Plugins, ordered by the names of their packages. */       \
    CHECK(relative_classname_inclusion)                          \
    CHECK(relative_classname_reference)                          \
    CHECK(anchor_resource)                                       \
    CHECK(exec_idempotency)                                      \
    CHECK(file_ensure)                                           \
    CHECK(leading_zero)                                          \
    CHECK(lookup_in_parameter)                                   \
    CHECK(manifest_whitespace_arrows_single_space_after)         \
    CHECK(manifest_whitespace_inherits_name_single_space_before) \
    CHECK(manifest_whitespace_class_name_single_space_before)    \
    CHECK(manifest_whitespace_class_name_single_space_after)     \
    CHECK(manifest_whitespace_closing_brace_before)              \
    CHECK(manifest_whitespace_closing_brace_after)               \
    CHECK(manifest_whitespace_closing_bracket_before)            \
    CHECK(manifest_whitespace_closing_bracket_after)             \
    CHECK(manifest_whitespace_two_empty_lines)                   \
    CHECK(manifest_whitespace_newline_beginning_of_file)         \
    CHECK(manifest_whitespace_missing_newline_end_of_file)       \
    CHECK(manifest_whitespace_double_newline_end_of_file)        \
    CHECK(manifest_whitespace_opening_brace_before)              \
    CHECK(manifest_whitespace_opening_brace_after)               \
    CHECK(manifest_whitespace_opening_bracket_before)            \
    CHECK(manifest_whitespace_opening_bracket_after)             \
    CHECK(optional_default)                                      \
    CHECK(package_ensure)                                        \
    CHECK(parameter_documentation)                               \
    CHECK(parameter_types)                                       \
    CHECK(params_empty_string_assignment)                        \
    CHECK(params_not_optional_with_undef)                        \
    CHECK(resource_reference_chain_without_whitespace)           \
    CHECK(resource_reference_with_unquoted_title)                \
    CHECK(resource_reference_without_title_capital)              \
    CHECK(resource_reference_without_whitespace)                 \
    CHECK(strict_indent)                                         \
    CHECK(topscope_variable)                                     \
    CHECK(trailing_comma)                                        \
    CHECK(unquoted_string_in_case)                               \
    CHECK(unquoted_string_in_selector)                           \
    CHECK(variable_contains_upcase)                              \
    CHECK(version_comparison)                                    \
    /* The checks of compile/checks. */                          \
    CHECK(unknown_class)                                         \
    CHECK(unknown_resource_type)                                 \
    CHECK(unknown_attribute)                                     \
    CHECK(unknown_function)                                      \
    CHECK(unknown_variable)                                      \
    CHECK(unreachable_code)                                      \
    CHECK(deprecated_function)                                   \
    CHECK(wrong_type)                                            \
    CHECK(missing_parameter)                                     \
    CHECK(unbound_key)                                           \
    CHECK(hiera_config)                                          \
    CHECK(metadata_json)                                         \
    CHECK(puppetfile)                                            \
    CHECK(environment_conf)

namespace bunraku::lint {

#define BUNRAKU_DECLARE_CHECK(NAME) extern const Check check_##NAME;
BUNRAKU_LINT_CHECKS(BUNRAKU_DECLARE_CHECK)
#undef BUNRAKU_DECLARE_CHECK

}  // namespace bunraku::lint
