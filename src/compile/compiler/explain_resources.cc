// SPDX-License-Identifier: Apache-2.0
// Explanations of resource conflicts, missing resources and unknown attributes.
#include <algorithm>
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "resources/restype/spec.h"

namespace bunraku::compiler::explaining {

using namespace syntax;

namespace {

struct Name {
    std::string type, title;
};

/// Finds "Package[vim]" at the start of a text or after a space.
std::optional<Name> reference_in(std::string_view text) {
    const auto open = text.find('[');
    const auto close = text.find(']', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
    auto type = text.substr(0, open);
    if (const auto blank = type.find_last_of(" '\""); blank != std::string_view::npos)
        type.remove_prefix(blank + 1);
    return Name{std::string(type), std::string(text.substr(open + 1, close - open - 1))};
}

/// Adds the locations of the resources that contain a resource, up to the main class.
void reached(const Case& mistake, const Resource* resource, std::string_view which) {
    for (int steps = 0; resource && steps < 8; ++steps) {
        const Resource* outer =
            resource->contained_in.empty() ? nullptr : resource->contained_in.front();
        if (!outer || outer->is_stage() || outer->title_is_main) return;
        if (outer->line > 0)
            mistake.place(
                {std::string(outer->file), outer->line, 0},
                fmt::format("{} is contained in {}, which is declared here", which, outer->ref()));
        resource = outer;
    }
}

/// Returns the class or define of the catalog whose body contains a location.
const Resource* owner_of(const Case& mistake, const base::Location& where) {
    const Resource* found = nullptr;
    std::uint32_t nearest = 0;
    for (const Resource* r : mistake.compilation.table().all()) {
        const Definition* definition = r->type.definition;
        if (!definition || !definition->node || definition->file != where.file) continue;
        const auto& node = *definition->node;
        const int first = node.source->line_of(node.offset);
        const int last = node.source->line_of(node.offset + node.length);
        if (where.line < first || where.line > last) continue;
        // Among several instances of a define, the unfinished one caused the error.
        if (!found || node.offset > nearest ||
            (found->evaluation_finished && node.offset == nearest)) {
            found = r;
            nearest = node.offset;
        }
    }
    return found;
}

/// Finds the call of include, contain or require that names a class.
base::Location inclusion_of(const Case& mistake, const std::string& class_name) {
    const std::string wanted = base::lower(class_name);
    return place_of(mistake, [&](const Node& node) {
        const auto* call = as<CallNamedFunctionExpression>(&node);
        const auto* function = call ? as<QualifiedName>(call->functor) : nullptr;
        if (!function || (function->value != "include" && function->value != "contain" &&
                          function->value != "require"))
            return false;
        return std::ranges::any_of(call->arguments, [&](const Node* argument) {
            std::string_view name;
            if (const auto* text = as<LiteralString>(argument)) name = text->value;
            if (const auto* word = as<QualifiedName>(argument)) name = word->value;
            if (name.starts_with("::")) name.remove_prefix(2);
            return name == wanted;
        });
    });
}

bool duplicate(const Case& mistake) {
    const auto rest = between(mistake.text, "Duplicate declaration: ", "");
    if (!rest) return false;
    const auto name = reference_in(*rest);
    if (!name) return true;
    const Resource* first = mistake.compilation.table().find(name->type, name->title);
    base::Location second = mistake.where;
    if (first) {
        base::Location at{std::string(first->file), first->line, 0};
        if (at.line <= 0 && name->type == "Class") at = inclusion_of(mistake, name->title);
        mistake.place(std::move(at), "the first declaration");
        reached(mistake, first, "the first");
    }
    if (const Resource* owner = owner_of(mistake, second); owner && !owner->title_is_main) {
        if (owner->line > 0)
            mistake.place(
                {std::string(owner->file), owner->line, 0},
                fmt::format("the second is contained in {}, which is declared here", owner->ref()));
        reached(mistake, owner, "the second");
    }
    if (name->type == "Class") {
        mistake.hint(
            "`class { ... }` declares a class with parameters; it is allowed once, before any "
            "`include` of the class. `include` can be repeated, with the parameters in "
            "Hiera");
    } else {
        mistake.hint(fmt::format(
            "Declare it once in a class that both include, or once as @{} and `realize` it in "
            "both, or use ensure_packages or ensure_resource of stdlib",
            base::lower(name->type)));
    }
    return true;
}

bool alias_taken(const Case& mistake) {
    if (mistake.text.find("Cannot alias ") == std::string::npos) return false;
    for (const auto& place : places_in(mistake.text)) {
        if (place.line != mistake.where.line || place.file != mistake.where.file)
            mistake.place(place, "the first declaration");
    }
    mistake.hint("Two resources of a type may not manage the same thing, even under two titles");
    return true;
}

std::vector<std::string> titles_of(const Case& mistake, const std::string& type) {
    std::vector<std::string> out;
    for (const Resource* r : mistake.compilation.table().of_type(type))
        out.push_back(fmt::format("{}[{}]", type, r->title));
    return out;
}

/// Reports whether a node is the reference as written in code: Package['vim'].
bool is_reference(const Node& node, const Name& name) {
    const auto* access = as<AccessExpression>(&node);
    const auto* type = access ? as<QualifiedReference>(access->left) : nullptr;
    if (!type || type->value != base::lower(name.type)) return false;
    return std::ranges::any_of(access->keys, [&](const Node* key) {
        if (const auto* text = as<LiteralString>(key)) return text->value == name.title;
        const auto* word = as<QualifiedName>(key);
        return word && word->value == base::lower(name.title);
    });
}

bool missing(const Case& mistake) {
    auto rest = between(mistake.text, "Could not find resource '", "'");
    if (!rest) rest = between(mistake.text, "Failed to realize virtual resources ", "");
    if (!rest) rest = between(mistake.text, "Could not find resource(s) ", " for overriding");
    if (!rest) return false;
    const auto name = reference_in(*rest);
    if (!name) return true;
    if (const auto parameter = between(mistake.text, "in parameter '", "'")) {
        if (const auto parsed = tree_of(mistake, mistake.where.file)) {
            if (const auto* attribute = attribute_at(*parsed->tree, mistake.where.line, *parameter))
                mistake.out.where = attribute->where();
        }
    }
    if (!mistake.where.known() && !mistake.out.where.known())
        mistake.out.where =
            place_of(mistake, [&](const Node& node) { return is_reference(node, *name); });
    if (!mistake.suggest(name->type + "[" + name->title + "]", titles_of(mistake, name->type))) {
        std::vector<std::string> same_title;
        for (const Resource* r : mistake.compilation.table().all()) {
            if (r->title == name->title && !r->title_is_main) same_title.push_back(r->ref());
        }
        if (same_title.size() > 3) same_title.resize(3);
        mistake.out.suggestions = std::move(same_title);
    }
    mistake.hint(
        name->type == "Class"
            ? fmt::format("A relationship needs the class in the catalog: add `include {}`",
                          base::lower(name->title))
            : fmt::format("No {} with this title is in the node's catalog; the title "
                          "counts, not the name",
                          name->type));
    return true;
}

/// Explains "has no parameter named 'x'" and "no parameter named 'x' ... on File[/x]".
bool unknown_attribute(const Case& mistake) {
    const auto attribute = between(mistake.text, "no parameter named '", "'");
    if (!attribute) return false;
    std::vector<std::string> names;
    std::optional<Name> name;
    if (const auto subject = between(mistake.text, "", ": has no parameter named"))
        name = reference_in(*subject);
    if (!name)
        if (const auto subject = between(mistake.text, " on ", "")) name = reference_in(*subject);
    if (name) {
        auto& definitions = mistake.compilation.definitions();
        const Definition* definition = name->type == "Class"
                                           ? definitions.known_class(base::lower(name->title))
                                           : definitions.known_define(base::lower(name->type));
        if (definition) {
            for (const auto* p : definition->parameters) names.emplace_back(p->name);
            if (definition->node)
                mistake.place(definition->node->where(),
                              fmt::format("{} is defined here", definition->name));
        } else if (const auto* spec = restype::find_type(base::lower(name->type))) {
            for (const auto& a : spec->attributes) names.emplace_back(a.name);
        }
    }
    for (const auto& a : restype::metaparameters()) names.emplace_back(a.name);
    mistake.suggest(*attribute, names);
    if (name && mistake.out.suggestions.empty())
        mistake.hint(fmt::format("`describe {}` lists its attributes",
                                 base::lower(name->type == "Class" ? name->title : name->type)));
    if (const auto parsed = tree_of(mistake, mistake.where.file)) {
        if (const auto* found = attribute_at(*parsed->tree, mistake.where.line, *attribute))
            mistake.out.where = found->where();
    }
    return true;
}

bool attribute_twice(const Case& mistake) {
    const auto name = between(mistake.text, "The attribute '", "' has already been set");
    if (!name) return false;
    if (const auto parsed = tree_of(mistake, mistake.where.file)) {
        if (const auto* first = attribute_at(*parsed->tree, mistake.where.line, *name))
            mistake.place(first->where(), "it is set here");
        if (const auto* second = attribute_at(*parsed->tree, mistake.where.line, *name, 1))
            mistake.out.where = second->where();
    }
    return true;
}

bool override_refused(const Case& mistake) {
    if (mistake.text.find("Only subclasses can override parameters") == std::string::npos &&
        !(mistake.text.find("Parameter '") != std::string::npos &&
          mistake.text.find("is already set on") != std::string::npos))
        return false;
    if (const auto rest = between(mistake.text, "is already set on ", "")) {
        if (const auto name = reference_in(*rest)) {
            const auto* first = mistake.compilation.table().find(name->type, name->title);
            if (first && first->line > 0)
                mistake.place({std::string(first->file), first->line, 0},
                              "the resource is declared here");
        }
    }
    mistake.hint(
        "Only a class that inherits from the declaring class can override it; a collector "
        "(`File<| title == '/x' |> { ... }`) can do so anywhere. A parameter of the class is "
        "better");
    return true;
}

}  // namespace

bool explain_resources(const Case& mistake) {
    return duplicate(mistake) || alias_taken(mistake) || missing(mistake) ||
           unknown_attribute(mistake) || attribute_twice(mistake) || override_refused(mistake);
}

}  // namespace bunraku::compiler::explaining
