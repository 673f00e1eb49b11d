// SPDX-License-Identifier: Apache-2.0
// Validates the bodies of /puppet/v4/catalog and /puppet/v3/compile.
#pragma once

#include <string>

#include "core/value/value.h"

namespace bunraku::server {

/// Returns puppetserver's error for a catalog request, which is its schema error in Clojure's
/// notation. Empty if the request is valid.
std::string catalog_input_problem(const value::Value& input);
/// Returns the error for a request to compile a syntax tree. Empty if the request is valid.
std::string tree_input_problem(const value::Value& input);

}  // namespace bunraku::server
