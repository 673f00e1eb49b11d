// SPDX-License-Identifier: Apache-2.0
// Checks Hiera data: keys that set no parameter, and values of the wrong type.
#pragma once

#include <string>
#include <string_view>

#include "compile/checks/code_names.h"
#include "compile/checks/problems.h"

namespace bunraku::checks {

/// The place of a data file.
struct DataPlace {
    std::string module;  ///< the module to which the data belongs; empty for an environment
};

/// Checks a YAML text, which must be valid.
void check_data(std::string_view text, const std::string& path, const DataPlace& place,
                CodeNames& names, Problems& problems);

/// Checks a hiera.yaml.
void check_hiera_config(std::string_view text, const std::string& path, Problems& problems);

}  // namespace bunraku::checks
