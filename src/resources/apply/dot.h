// SPDX-License-Identifier: Apache-2.0
// Graphs as .dot files (--graph).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// Writes `graphdir`/NAME.dot if --graph is set. Logs an error on failure.
void write_dot(Context& context, std::string_view name, const std::vector<Resource*>& vertices,
               const std::vector<std::pair<const Resource*, const Resource*>>& edges);

/// Returns the text with its double quotes escaped.
std::string dot_escaped(std::string_view text);

}  // namespace bunraku::apply
