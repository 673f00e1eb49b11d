// SPDX-License-Identifier: Apache-2.0
#include "compile/diagnostics/source_attributes.h"

#include <fmt/format.h>

#include "core/base/similar.h"
#include "core/base/text.h"
#include "language/syntax/visit.h"

namespace bunraku::diagnostics {

namespace {

/// Returns the text between `before` and the next `after`, or an empty text.
std::string_view enclosed(std::string_view text, std::string_view before, std::string_view after) {
    const auto start = text.find(before);
    if (start == std::string_view::npos) return {};
    const auto rest = text.substr(start + before.size());
    const auto end = rest.find(after);
    return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

/// Returns the attribute of that name in the innermost resource that begins in `line` or contains
/// it, or null.
const syntax::AttributeOperation* attribute_near(const syntax::Tree& tree, int line,
                                                 std::string_view name) {
    const syntax::AttributeOperation* found = nullptr;
    const auto walk = [&](const auto& self, const syntax::Node* node) -> void {
        const int first = tree.source->line_of(node->offset);
        const int last = tree.source->line_of(node->offset + node->length);
        if (node->kind != syntax::NodeKind::Program && (line < first || line > last)) return;
        if (const auto* body = syntax::as<syntax::ResourceBody>(node)) {
            for (const auto* operation : body->operations) {
                const auto* one = syntax::as<syntax::AttributeOperation>(operation);
                if (one && one->attribute_name == name) found = one;
            }
        }
        syntax::for_each_child(node, [&](const syntax::Node* child) { self(self, child); });
    };
    walk(walk, tree.program);
    return found;
}

}  // namespace

void explain_attribute(const syntax::Tree& tree, std::string_view text, std::string_view message,
                       SourceError& out) {
    const auto name = enclosed(message, "Parameter ", " failed on ");
    if (name.empty()) return;
    const auto* attribute = attribute_near(tree, out.main.from.line, name);
    if (attribute) {
        const auto* shown = attribute->value_expr ? attribute->value_expr
                                                  : static_cast<const syntax::Node*>(attribute);
        out.main = span_at(text, shown->where());
    }
    if (message.find("The file mode specification must be a string") != std::string_view::npos &&
        attribute && attribute->value_expr) {
        const auto given =
            text.substr(attribute->value_expr->offset, attribute->value_expr->length);
        if (given.find_first_not_of("01234567") == std::string_view::npos && given.size() <= 4)
            out.suggestions.push_back(fmt::format("'{:0>4}'", given));
    }
    const auto value = enclosed(message, "Invalid value \"", "\"");
    const auto valid = enclosed(message, "Valid values are ", ".");
    if (value.empty() || valid.empty()) return;
    std::vector<std::string> values;
    for (const auto part : base::split(valid, ',')) values.emplace_back(base::trim(part));
    for (auto& near : base::similar_names(value, values)) out.suggestions.push_back(near);
}

}  // namespace bunraku::diagnostics
