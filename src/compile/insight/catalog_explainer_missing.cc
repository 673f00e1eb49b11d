// SPDX-License-Identifier: Apache-2.0
// Explains why a resource or class is not in a catalog: the code that would declare it, and the
// reason why each place did not.
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "compile/compiler/collector.h"
#include "compile/insight/catalog_explainer.h"
#include "compile/insight/expression.h"
#include "compile/insight/inputs.h"
#include "core/base/text.h"
#include "language/syntax/visit.h"

namespace bunraku::insight {

using compiler::Resource;
using syntax::Node;
using syntax::NodeKind;

/// A place in the code that would declare it.
struct CatalogExplainer::Candidate {
    /// Quality of the match: the title is literal, a string with variables matches it, or any title
    /// is possible.
    enum class Fit : std::uint8_t { Exact, Pattern, Any } fit = Fit::Exact;
    const Node* node = nullptr;
    /// enclosing definition; null for the code of the main manifest
    const Node* definition = nullptr;
    std::vector<const Node*> path;  ///< from the body of `definition` down to the node
};

namespace {

constexpr std::size_t kMostCandidates = 8;
constexpr int kMostMissing = 6;

using Fit = std::optional<int>;  // 0 exact, 1 pattern, 2 any; nullopt if it does not match

bool is_definition(const Node* node) {
    return node->kind == NodeKind::HostClassDefinition ||
           node->kind == NodeKind::ResourceTypeDefinition ||
           node->kind == NodeKind::NodeDefinition || node->kind == NodeKind::FunctionDefinition ||
           node->kind == NodeKind::PlanDefinition || node->kind == NodeKind::TypeAlias ||
           node->kind == NodeKind::TypeDefinition;
}

const Node* body_of(const Node* definition) {
    if (const auto* n = syntax::as<syntax::NodeDefinition>(definition)) return n->body;
    if (definition->kind == NodeKind::HostClassDefinition ||
        definition->kind == NodeKind::ResourceTypeDefinition ||
        definition->kind == NodeKind::FunctionDefinition)
        return static_cast<const syntax::NamedDefinition*>(definition)->body;
    return nullptr;
}

/// Reports whether `text` contains the literal parts in this order, with any text between them.
bool fits_parts(const std::vector<std::string_view>& parts, std::string_view text) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto at = i == 0 ? (text.starts_with(parts[0]) ? 0 : text.npos) : text.find(parts[i]);
        if (at == text.npos) return false;
        text.remove_prefix(at + parts[i].size());
    }
    return true;
}

Fit title_fit(const Node* node, std::string_view title) {
    if (const auto* n = syntax::as<syntax::LiteralString>(node))
        return n->value == title ? Fit(0) : std::nullopt;
    if (const auto* n = syntax::as<syntax::QualifiedName>(node))
        return n->value == title ? Fit(0) : std::nullopt;
    if (node->kind == NodeKind::LiteralDefault) return std::nullopt;
    if (const auto* n = syntax::as<syntax::LiteralList>(node)) {
        Fit best;
        for (const auto* each : n->values)
            if (const auto fit = title_fit(each, title); fit && (!best || *fit < *best)) best = fit;
        return best;
    }
    if (const auto* n = syntax::as<syntax::ConcatenatedString>(node)) {
        std::vector<std::string_view> parts;
        bool any = false;
        for (std::size_t i = 0; i < n->segments.size(); ++i) {
            const auto* text = syntax::as<syntax::LiteralString>(n->segments[i]);
            if (!text && i == 0) parts.emplace_back();
            if (!text) continue;
            any = true;
            parts.push_back(text->value);
        }
        if (!any) return Fit(2);
        return fits_parts(parts, title) ? Fit(1) : std::nullopt;
    }
    return Fit(2);
}

std::string_view without_colons(std::string_view name) {
    return name.starts_with("::") ? name.substr(2) : name;
}

/// Returns how well a node could declare a resource of a down-cased type. Without a title, any
/// resource matches.
Fit declares(const Node* node, std::string_view type, std::string_view title, bool has_title) {
    const auto* expression = syntax::as<syntax::ResourceExpression>(node);
    if (!expression) return std::nullopt;
    std::string_view name;
    if (const auto* n = syntax::as<syntax::QualifiedName>(expression->type_name)) name = n->value;
    if (const auto* n = syntax::as<syntax::QualifiedReference>(expression->type_name))
        name = n->value;
    if (without_colons(name) != type) return std::nullopt;
    if (!has_title) return Fit(0);
    Fit best;
    for (const auto* body : expression->bodies) {
        const auto fit = title_fit(body->title, title);
        if (fit && (!best || *fit < *best)) best = fit;
    }
    return best;
}

/// Returns how well a node could include a class.
Fit includes(const Node* node, std::string_view wanted) {
    if (const auto* n = syntax::as<syntax::HostClassDefinition>(node))
        return without_colons(n->parent_class) == wanted ? Fit(0) : std::nullopt;
    if (const auto fit = declares(node, "class", wanted, true)) return fit;
    std::string_view name;
    std::vector<const Node*> args;
    if (const auto* c = syntax::as<syntax::CallNamedFunctionExpression>(node)) {
        if (const auto* n = syntax::as<syntax::QualifiedName>(c->functor)) name = n->value;
        args.assign(c->arguments.begin(), c->arguments.end());
    } else if (const auto* m = syntax::as<syntax::CallMethodExpression>(node)) {
        const auto* n = m->functor ? syntax::as<syntax::QualifiedName>(m->functor->right) : nullptr;
        if (n) name = n->value;
        if (m->functor) args.push_back(m->functor->left);
    }
    if (name != "include" && name != "contain" && name != "require") return std::nullopt;
    auto named = [&](auto&& self, const Node* arg) -> Fit {
        if (const auto* n = syntax::as<syntax::QualifiedName>(arg))
            return without_colons(n->value) == wanted ? Fit(0) : std::nullopt;
        if (const auto* n = syntax::as<syntax::LiteralString>(arg))
            return without_colons(n->value) == wanted ? Fit(0) : std::nullopt;
        Fit best;
        auto take = [&](const Node* each) {
            if (const auto fit = self(self, each); fit && (!best || *fit < *best)) best = fit;
        };
        if (const auto* n = syntax::as<syntax::LiteralList>(arg)) {
            for (const auto* each : n->values) take(each);
            return best;
        }
        if (const auto* n = syntax::as<syntax::AccessExpression>(arg)) {
            for (const auto* each : n->keys) take(each);
            return best;
        }
        if (arg->kind == NodeKind::ConcatenatedString) return title_fit(arg, wanted);
        return Fit(2);
    };
    Fit best;
    for (const auto* arg : args)
        if (const auto fit = named(named, arg); fit && (!best || *fit < *best)) best = fit;
    return best;
}

/// Reports whether `node` may prevent the evaluation of `next`, the node inside it.
bool may_skip(const Node* node, const Node* next) {
    switch (node->kind) {
        case NodeKind::IfExpression:
        case NodeKind::UnlessExpression:
        case NodeKind::CaseExpression:
        case NodeKind::SelectorExpression:
        case NodeKind::AndExpression:
        case NodeKind::OrExpression: return true;
        default: return next && next->kind == NodeKind::LambdaExpression;
    }
}

bool is_event(const Node* node) {
    return node->kind != NodeKind::CaseOption && node->kind != NodeKind::SelectorEntry &&
           node->kind != NodeKind::LambdaExpression && node->kind != NodeKind::ResourceBody &&
           node->kind != NodeKind::AttributeOperation && node->kind != NodeKind::KeyedEntry;
}

}  // namespace

void CatalogExplainer::search(const types::Reference& reference, std::vector<Candidate>& out) {
    const auto& environment = *compilation_.request().environment;
    const std::string type = base::lower(reference.type_name);
    const std::string name = base::lower(std::string(without_colons(reference.title)));
    std::vector<const Node*> path;
    auto walk = [&](auto&& self, const Node* node, const Node* definition) -> void {
        path.push_back(node);
        const auto fit = type == "class"
                             ? includes(node, name)
                             : declares(node, type, reference.title, reference.has_title);
        if (fit) out.push_back({static_cast<Candidate::Fit>(*fit), node, definition, path});
        syntax::for_each_child(node, [&](const Node* each) {
            if (!is_definition(each)) self(self, each, definition);
        });
        path.pop_back();
    };
    auto look = [&](const syntax::Program& program) {
        for (const auto* definition : program.definitions) {
            const auto* subclass = syntax::as<syntax::HostClassDefinition>(definition);
            if (subclass && type == "class" && includes(subclass, name))
                out.push_back({Candidate::Fit::Exact, subclass, subclass, {}});
            if (const auto* body = body_of(definition)) walk(walk, body, definition);
        }
        if (program.body && !is_definition(program.body)) walk(walk, program.body, nullptr);
    };
    for (const auto& file : environment.main_manifests())
        if (file && file->tree) look(*file->tree->program);
    for (const auto& module : environment.modules()) {
        std::vector<std::string> paths;
        files_below(environment.files(), module.path + "/manifests", paths);
        files_below(environment.files(), module.path + "/functions", paths);
        for (const auto& each : paths) {
            const auto file = each.ends_with(".pp") ? environment.parse_manifest(each) : nullptr;
            if (file && file->tree) look(*file->tree->program);
        }
    }
    std::ranges::stable_sort(out, {}, &Candidate::fit);
    // Candidates for any title are only useful if no better candidate exists.
    if (!out.empty() && out.front().fit != Candidate::Fit::Any)
        std::erase_if(out, [](const Candidate& c) { return c.fit == Candidate::Fit::Any; });
}

/// Explains the titles of a declaration, or the classes of a call.
void CatalogExplainer::titles(Id id, Reasons& out) {
    const auto* node = history_.at(id).node;
    if (const auto* expression = syntax::as<syntax::ResourceExpression>(node))
        for (const auto* body : expression->bodies) sources(id, body->title, out, false);
    for (const auto* argument : arguments(node)) sources(id, argument, out, false);
}

/// Explains why the candidate was not reached. Returns false if nothing prevented it.
bool CatalogExplainer::not_reached(Id from, const Candidate& candidate, Reasons& out) {
    Id at = from;
    auto find = [&](const Node* node) -> std::optional<Id> {
        for (Id i = at + 1; i < history_.at(at).end; ++i)
            if (history_.at(i).node == node && history_.at(i).name.empty()) return i;
        return std::nullopt;
    };
    const auto& path = candidate.path;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        if (!may_skip(path[i], path[i + 1])) continue;
        const auto event = find(path[i]);
        if (!event) {
            out.push_back(
                reason("not reached", "the surrounding code ended before reaching it", path[i]));
            return true;
        }
        std::size_t part = i + 1;
        while (part + 1 < path.size() && !is_event(path[part])) ++part;
        at = *event;
        if (find(path[part])) continue;
        auto why = condition(*event, nullptr, false);
        const auto what = branches(path[i]);
        for (std::size_t b = 0; why && b < what.all.size(); ++b) {
            const auto& branch = what.all[b];
            if (branch.code != path[part]) continue;
            std::vector<std::string> options;
            for (const auto* option : branch.options) options.push_back(code_of(option));
            why->text +=
                options.empty()
                    ? fmt::format(", and it is in the branch for {}", b == 0)
                    : fmt::format(", and it is in the case {}",
                                  on_one_line(fmt::format("{}", fmt::join(options, ", "))));
        }
        if (!why) {
            why = reason("condition",
                         fmt::format("{} has no effect there", on_one_line(code_of(path[i]))),
                         path[i]);
            children(*event, why->because, false);
        }
        out.push_back(std::move(*why));
        return true;
    }
    return false;
}

void CatalogExplainer::explain_candidate(const Candidate& candidate, Reasons& out, int depth) {
    const std::string what = on_one_line(
        candidate.node->kind == NodeKind::HostClassDefinition
            ? "class " +
                  std::string(static_cast<const syntax::NamedDefinition*>(candidate.node)->name)
            : std::string(code_of(candidate.node)));
    const auto* definition = candidate.definition;
    const std::string where =
        definition ? environment::definition_name(*definition) : std::string("the main manifest");
    Reason made = reason("candidate", fmt::format("{} in {}", what, where), candidate.node);
    made.expression =
        std::string(code_of(candidate.node).substr(0, code_of(candidate.node).find('\n')));
    std::vector<Id> bodies;
    for (const Resource* each : compilation_.table().all()) {
        const auto* d = each->type.definition;
        const bool same =
            definition ? d && d->node == definition : each->is_class() && each->title_is_main;
        if (same)
            if (const auto body = history_.body(*each)) bodies.push_back(*body);
    }
    if (definition && definition->kind == NodeKind::FunctionDefinition) {
        for (Id i = 1; i < history_.events().size(); ++i)
            if (history_.at(i).node == body_of(definition)) bodies.push_back(history_.at(i).parent);
        if (bodies.empty())
            made.because.push_back(reason("not called", where + " is not called", definition));
    } else if (bodies.empty() && definition) {
        if (definition->kind == NodeKind::NodeDefinition) {
            const bool other = !compilation_.table().of_type("Node").empty();
            made.because.push_back(
                reason(other ? "not this node" : "not reached",
                       other ? fmt::format("{} is not {}", where, compilation_.request().node.name)
                             : "the compile ended before " + where + " was evaluated",
                       definition));
        } else {
            const auto* named = static_cast<const syntax::NamedDefinition*>(definition);
            const bool is_class = definition->kind == NodeKind::HostClassDefinition;
            Reason gone = reason("not in the catalog",
                                 is_class ? fmt::format("{} is not in the catalog", where)
                                          : fmt::format("no {} is in the catalog", named->name),
                                 definition);
            gone.name = std::string(named->name);
            if (depth < kMostMissing && first_time(definition, "missing")) {
                if (is_class)
                    missing({"Class", named->name, true}, gone.because, depth + 1);
                else
                    missing({named->name, "", false}, gone.because, depth + 1);
            }
            made.because.push_back(std::move(gone));
        }
    }
    std::size_t listed = 0;
    for (const Id body : bodies) {
        if (++listed > kMostCandidates) break;
        if (not_reached(body, candidate, made.because)) continue;
        const std::size_t before = made.because.size();
        for (Id i = body + 1; i < history_.at(body).end; ++i) {
            const auto& event = history_.at(i);
            if (event.node != candidate.node || !event.name.empty()) continue;
            made.because.push_back(
                reason("other titles",
                       event.failed ? std::string("its evaluation failed")
                                    : fmt::format("its value there {}", is(event.value, false)),
                       event.node));
            titles(i, made.because.back().because);
        }
        if (made.because.size() == before)
            made.because.push_back(reason(
                "not reached", "the surrounding code ended before reaching it", candidate.node));
    }
    out.push_back(std::move(made));
}

void CatalogExplainer::missing(const types::Reference& reference, Reasons& out, int depth) {
    const bool is_class = base::lower(reference.type_name) == "class";
    if (const Resource* there =
            reference.has_title ? compilation_.table().find(reference) : nullptr) {
        if (!there->virtual_) {
            Reason made = reason("present", fmt::format("{} is in the catalog", there->ref()));
            declaration(*there, made.because);
            out.push_back(std::move(made));
            return;
        }
        Reason made =
            reason("virtual", fmt::format("{} is {}, and no collector matches it", there->ref(),
                                          there->exported ? "exported" : "virtual"));
        put(made, there->file, there->line);
        declaration(*there, made.because);
        for (const auto& each : history_.all_collections()) {
            const auto* collector = each.collector;
            if (collector->kind == compiler::Collector::Kind::Fixed ||
                collector->type.name != there->type.name)
                continue;
            const auto* statement = history_.at(each.event).node;
            Reason by = reason("collector",
                               fmt::format("{} does not match it",
                                           statement ? on_one_line(code_of(statement)) : ""),
                               statement);
            children(each.event, by.because, false);
            made.because.push_back(std::move(by));
        }
        out.push_back(std::move(made));
        return;
    }
    std::vector<Candidate> candidates;
    search(reference, candidates);
    if (is_class && compilation_.request().node.classes.empty() == false)
        out.push_back(reason("classifier", "the classifier does not assign it"));
    if (candidates.empty()) {
        out.push_back(reason("nothing", is_class ? "no manifest of the environment includes it"
                                                 : "no manifest of the environment declares it"));
        return;
    }
    const std::size_t all = candidates.size();
    if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
    for (const auto& each : candidates) explain_candidate(each, out, depth);
    if (all > candidates.size())
        out.push_back(reason("note", fmt::format("and {} more places", all - candidates.size())));
}

}  // namespace bunraku::insight
