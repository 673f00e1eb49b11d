// SPDX-License-Identifier: Apache-2.0
// Names and descriptions of the checks that compile/checks implements.
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

const Check check_unknown_class{.name = "unknown_class",
                                .group = CheckGroup::Compiler,
                                .description = "Included and declared classes exist."};

const Check check_unknown_resource_type{.name = "unknown_resource_type",
                                        .group = CheckGroup::Compiler,
                                        .description = "Resource types exist."};

const Check check_unknown_attribute{
    .name = "unknown_attribute",
    .group = CheckGroup::Compiler,
    .description = "Resources and classes have only attributes of their type."};

const Check check_unknown_function{.name = "unknown_function",
                                   .group = CheckGroup::Compiler,
                                   .description = "Called functions exist."};

const Check check_unknown_variable{.name = "unknown_variable",
                                   .group = CheckGroup::Compiler,
                                   .description = "Variables of other classes exist."};

const Check check_unreachable_code{
    .name = "unreachable_code", .group = CheckGroup::Compiler, .description = "All code can run."};

const Check check_deprecated_function{.name = "deprecated_function",
                                      .group = CheckGroup::Compiler,
                                      .description = "Called functions are not deprecated."};

}  // namespace bunraku::lint
