// SPDX-License-Identifier: Apache-2.0
// Explains an error with data that the failed compile still has, in addition to Puppet's message.
#include <algorithm>
#include <exception>
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/number.h"
#include "core/base/similar.h"
#include "language/syntax/visit.h"

namespace bunraku::compiler {

namespace {

/// Parses "(file: F, line: L, column: C)" without the parentheses. Returns an unknown location for
/// other text.
base::Location read_place(std::string_view inner) {
    base::Location out;
    const auto number = [&](std::string_view key) {
        const auto at = inner.rfind(key);
        if (at == std::string_view::npos) return 0;
        auto digits = inner.substr(at + key.size());
        digits = digits.substr(0, digits.find_first_not_of("0123456789"));
        return base::parse_integer<int>(digits).value_or(0);
    };
    out.line = number("line: ");
    out.column = number("column: ");
    if (inner.starts_with("file: ")) {
        inner.remove_prefix(6);
        const auto end = inner.rfind(", line: ");
        out.file = std::string(inner.substr(0, end));
    }
    return out;
}

}  // namespace

std::vector<base::Location> places_in(std::string_view text) {
    std::vector<base::Location> out;
    for (std::size_t at = 0; (at = text.find('(', at)) != std::string_view::npos; ++at) {
        const auto rest = text.substr(at + 1);
        if (!rest.starts_with("file: ") && !rest.starts_with("line: ")) continue;
        const auto end = rest.find(')');
        if (end == std::string_view::npos) break;
        auto place = read_place(rest.substr(0, end));
        if (place.line > 0) out.push_back(std::move(place));
    }
    return out;
}

namespace explaining {

bool Case::suggest(std::string_view wanted, const std::vector<std::string>& names) const {
    auto near = base::similar_names(wanted, names);
    for (auto& name : near) {
        if (std::ranges::find(out.suggestions, name) == out.suggestions.end())
            out.suggestions.push_back(std::move(name));
    }
    return !out.suggestions.empty();
}

base::Location place_of(const Case& mistake, const std::function<bool(const syntax::Node&)>& fits) {
    const syntax::Node* found = nullptr;
    const auto look = [&](const syntax::Node* node, const auto& self) -> void {
        if (found || !node) return;
        if (fits(*node)) {
            found = node;
            return;
        }
        syntax::for_each_child(node, [&](const syntax::Node* child) { self(child, self); });
    };
    for (const auto& parsed : mistake.environment().main_manifests())
        if (parsed->tree) look(parsed->tree->program, look);
    for (const Resource* r : mistake.compilation.table().all())
        if (r->type.definition) look(r->type.definition->node, look);
    return found ? found->where() : base::Location{};
}

void Case::hint(std::string sentence) const { out.hints.push_back(std::move(sentence)); }

void Case::place(base::Location at, std::string what) const {
    if (at.line <= 0) return;
    out.places.push_back({std::move(at), std::move(what)});
}

std::optional<std::string> between(std::string_view text, std::string_view before,
                                   std::string_view after) {
    const auto start = text.find(before);
    if (start == std::string_view::npos) return std::nullopt;
    const auto rest = text.substr(start + before.size());
    const auto end = after.empty() ? rest.size() : rest.find(after);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(rest.substr(0, end));
}

std::shared_ptr<const environment::ParsedFile> tree_of(const Case& mistake,
                                                       const std::string& file) {
    std::shared_ptr<const environment::ParsedFile> parsed;
    const auto& environment = mistake.environment();
    if (file.ends_with(".epp")) {
        parsed = environment.parse_template(file);
    } else {
        for (const auto& one : environment.main_manifests()) {
            if (one->tree && one->tree->source->file() == file) parsed = one;
        }
        if (!parsed && file.ends_with(".pp")) parsed = environment.parse_file(file);
    }
    return parsed && parsed->tree ? parsed : nullptr;
}

std::size_t offset_of(std::string_view text, int line, int column) {
    std::size_t at = 0;
    for (int i = 1; i < line; ++i) {
        at = text.find('\n', at);
        if (at == std::string_view::npos) return at;
        ++at;
    }
    for (int i = 1; i < column && at < text.size() && text[at] != '\n'; ++i) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    }
    return at <= text.size() ? at : std::string_view::npos;
}

const syntax::Node* definition_at(const syntax::Tree& tree, int line) {
    const syntax::Node* found = nullptr;
    for (const auto* definition : tree.program->definitions) {
        const int first = tree.source->line_of(definition->offset);
        const int last = tree.source->line_of(definition->offset + definition->length);
        if (line < first || line > last) continue;
        if (!found || definition->offset > found->offset) found = definition;
    }
    return found;
}

const syntax::AttributeOperation* attribute_at(const syntax::Tree& tree, int line,
                                               std::string_view attribute, int nth) {
    const syntax::AttributeOperation* found = nullptr;
    std::uint32_t nearest = 0;
    const auto walk = [&](const auto& self, const syntax::Node* node) -> void {
        const int first = tree.source->line_of(node->offset);
        const int last = tree.source->line_of(node->offset + node->length);
        if (node->kind != syntax::NodeKind::Program && (line < first || line > last)) return;
        if (node->kind == syntax::NodeKind::ResourceBody) {
            int seen = 0;
            for (const auto* operation : syntax::to<syntax::ResourceBody>(node).operations) {
                const auto* one = syntax::as<syntax::AttributeOperation>(operation);
                if (!one || one->attribute_name != attribute || seen++ != nth) continue;
                if (!found || node->offset >= nearest) found = one;
                nearest = node->offset;
            }
        }
        syntax::for_each_child(node, [&](const syntax::Node* child) { self(self, child); });
    };
    walk(walk, tree.program);
    return found;
}

}  // namespace explaining

Explanation explain_error(const base::PuppetError& error, Compilation& compilation) {
    Explanation out;
    // No time or memory is left for an explanation.
    if (error.issue_code() == "EXPIRED" || error.issue_code() == "NO_MEMORY") return out;
    try {
        const environment::Trace::Recording unseen(nullptr);
        explaining::Case mistake{error.message(), error.where(), error.where(), compilation, out};
        // An error inside a nested evaluation has its location in the message.
        for (auto& place : places_in(error.message())) {
            if (place.column > 0) mistake.where = std::move(place);
        }
        if (mistake.where.file != error.where().file || mistake.where.line != error.where().line) {
            out.where = mistake.where;
            mistake.place(error.where(), "reached from here");
        }
        if (error.shown_location().known()) out.where = mistake.where = error.shown_location();
        explaining::inline_template(mistake);
        if (error.authored) return out;
        explaining::explain_names(mistake) || explaining::explain_resources(mistake) ||
            explaining::explain_values(mistake) || explaining::explain_data(mistake);
    } catch (const std::exception&) {
        // The caller reports the error itself in any case.
    }
    return out;
}

}  // namespace bunraku::compiler
