// Graphs as .dot files (--graph).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// Writes `graphdir`/NAME.dot where --graph asks for it; an error in the log where it cannot.
void write_dot(Context& context, std::string_view name, const std::vector<Resource*>& vertices,
               const std::vector<std::pair<const Resource*, const Resource*>>& edges);

/// The text with its double quotes escaped.
std::string dot_escaped(std::string_view text);

}  // namespace bunraku::apply
