// A compiled catalog as commands print it.
#pragma once

#include <string>

#include "core/value/value.h"

namespace bunraku::cli {

/// Plain data as Ruby's Psych writes it, without the "--- TAG" of the document's start: that is
/// `heading`'s.
std::string yaml_document(const value::Value& data, std::string_view heading);

/// A catalog in an agent's form (parsed) as Graphviz draws it: what contains what.
std::string dot_graph(const value::Value& catalog);

}  // namespace bunraku::cli
