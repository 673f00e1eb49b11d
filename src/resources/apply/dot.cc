// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/dot.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::apply {

std::string dot_escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '"') out += '\\';
        out += c;
    }
    return out;
}

void write_dot(Context& context, std::string_view name, const std::vector<Resource*>& vertices,
               const std::vector<std::pair<const Resource*, const Resource*>>& edges) {
    if (!context.options.graph) return;
    std::string out = fmt::format("digraph {0} {{\n    label = \"{0}\"\n", base::capitalized(name));
    std::string_view gap;
    for (const Resource* r : vertices) {
        out += gap;
        gap = "\n";
        const std::string ref = dot_escaped(r->ref());
        out += fmt::format("    \"{0}\" [\n        fontsize = 8,\n        label = \"{0}\"\n    ]\n",
                           ref);
    }
    for (const auto& [from, to] : edges) {
        out += gap;
        gap = "\n";
        out += fmt::format("    \"{}\" -> \"{}\" [\n        fontsize = 8\n    ]\n",
                           dot_escaped(from->ref()), dot_escaped(to->ref()));
    }
    out += "\n}\n";
    (void)context.system.files.make_directories(context.options.graphdir, 0755);
    std::string file = sys::join(context.options.graphdir, std::string(name) + ".dot");
    if (auto r = context.system.files.write(file, out, 0644); !r) {
        context.message(Level::Err, fmt::format("Could not write {}: {}", file, r.error().message));
    }
}

}  // namespace bunraku::apply
