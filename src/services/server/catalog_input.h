// What /puppet/v4/catalog and /puppet/v3/compile take, and how it says what is wrong with it.
#pragma once

#include <string>

#include "core/value/value.h"

namespace bunraku::server {

/// What puppetserver (its schema, printed as Clojure prints) says of a request for a catalog;
/// empty: it is good.
std::string catalog_input_problem(const value::Value& input);
/// And of one to compile a syntax tree.
std::string tree_input_problem(const value::Value& input);

}  // namespace bunraku::server
