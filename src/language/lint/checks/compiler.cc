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

const Check check_wrong_type{
    .name = "wrong_type",
    .group = CheckGroup::Compiler,
    .description = "Literals and data have the type of the parameter that they set."};

const Check check_missing_parameter{
    .name = "missing_parameter",
    .group = CheckGroup::Compiler,
    .description = "Resources set all parameters that their defined type requires."};

const Check check_unbound_key{.name = "unbound_key",
                              .group = CheckGroup::Compiler,
                              .description = "Keys of Hiera data set a parameter or are read."};

const Check check_hiera_config{
    .name = "hiera_config", .group = CheckGroup::Compiler, .description = "A hiera.yaml is valid."};

const Check check_metadata_json{.name = "metadata_json",
                                .group = CheckGroup::Compiler,
                                .description = "A metadata.json has valid members."};

const Check check_puppetfile{.name = "puppetfile",
                             .group = CheckGroup::Compiler,
                             .description = "A Puppetfile has valid modules, each once."};

const Check check_environment_conf{
    .name = "environment_conf",
    .group = CheckGroup::Compiler,
    .description = "An environment.conf has valid settings of environments."};

}  // namespace bunraku::lint
