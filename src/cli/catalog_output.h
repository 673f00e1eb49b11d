// A compiled catalog as commands print it.
#pragma once

#include <string>

#include "core/value/value.h"

namespace bunraku::cli {

/// A catalog in an agent's form (parsed) as Graphviz draws it: what contains what.
std::string dot_graph(const value::Value& catalog);

}  // namespace bunraku::cli
