// SPDX-License-Identifier: Apache-2.0
// Explains the sources of an expression's value.
#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/catalog_explainer.h"
#include "compile/insight/expression.h"
#include "compile/insight/inputs.h"
#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/evaluator/closure.h"
#include "language/hiera/errors.h"

namespace bunraku::insight {

using compiler::Resource;
using evaluator::Scope;
using syntax::Node;
using syntax::NodeKind;
using From = History::From;
using Origin = History::Origin;

namespace {

bool is_template(std::string_view name) { return name == "epp" || name == "inline_epp"; }

bool is_lookup(std::string_view name) {
    return name == "lookup" || name == "hiera" || name == "hiera_array" || name == "hiera_hash" ||
           name == "hiera_include";
}

}  // namespace

// ---- expressions ----

void CatalogExplainer::sources(Id of, const Node* expression, Reasons& out, bool hidden) {
    if (const auto event = child(of, expression)) sources(*event, out, hidden);
}

void CatalogExplainer::children(Id id, Reasons& out, bool hidden, bool in_template) {
    for (const Id each : history_.inside(id)) sources(each, out, hidden, in_template);
}

void CatalogExplainer::sources(Id id, Reasons& out, bool hidden, bool in_template) {
    if (depth_ > kDeepest || count_ > kMostReasons) return;
    const auto& event = history_.at(id);
    struct Deeper {
        int& depth;
        ~Deeper() { --depth; }
    } const deeper{++depth_};
    hidden = hidden || holds_secret(event.value);
    if (!event.name.empty()) return variable(id, out, hidden);
    if (!event.node) return;
    switch (event.node->kind) {
        case NodeKind::AccessExpression:
            if (fact(id, out, hidden) || referenced_parameter(id, out, hidden) ||
                element(id, out, hidden))
                return;
            break;
        case NodeKind::CallNamedFunctionExpression:
        case NodeKind::CallMethodExpression:
            if (call(id, out, hidden)) return;
            break;
        case NodeKind::IfExpression:
        case NodeKind::UnlessExpression:
        case NodeKind::CaseExpression:
        case NodeKind::SelectorExpression: {
            const Node* taken = branch_taken(id);
            if (auto why = condition(id, taken, hidden)) out.push_back(std::move(*why));
            if (const auto part = taken ? child(id, taken) : std::nullopt)
                sources(*part, out, hidden, in_template);
            else
                literal(taken, out, hidden);
            return;
        }
        case NodeKind::AndExpression:
        case NodeKind::OrExpression: {
            // If the right operand decides the result, the left one does not matter.
            const bool is_and = event.node->kind == NodeKind::AndExpression;
            const auto& both = static_cast<const syntax::BinaryNode&>(*event.node);
            if (event.value.truthy() == is_and || value_of(id, both.left).truthy() != is_and) break;
            sources(id, both.right, out, hidden);
            return literal(both.right, out, hidden);
        }
        case NodeKind::EppExpression: return children(id, out, hidden, true);
        case NodeKind::BlockExpression: {
            if (in_template) break;
            // The last statement gives the value.
            const auto& statements = syntax::to<syntax::BlockExpression>(event.node).statements;
            if (statements.empty()) return;
            sources(id, statements.back(), out, hidden);
            literal(statements.back(), out, hidden);
            return;
        }
        case NodeKind::AssignmentExpression:
            return sources(id, syntax::to<syntax::AssignmentExpression>(event.node).right, out,
                           hidden);
        case NodeKind::ResourceExpression:
        case NodeKind::ResourceDefaultsExpression:
        case NodeKind::ResourceOverrideExpression:
        case NodeKind::CollectExpression: return;
        default: break;
    }
    children(id, out, hidden, in_template);
}

void CatalogExplainer::files(Id id, Reasons& out) {
    const auto& event = history_.at(id);
    const std::string_view name = called(event.node);
    const bool whole = name == "file";
    auto* host = compilation_.interpreter().hosts().templates;
    if (!host || !(whole || name == "epp" || name == "template")) return;
    const auto& all = compilation_.request().environment->files();
    std::vector<Value> names;
    for (const auto* each : arguments(event.node)) {
        const Value v = value_of(id, each);
        if (v.is_array()) names.insert(names.end(), v.as_array().begin(), v.as_array().end());
        if (v.is_string()) names.push_back(v);
    }
    for (const Value& each : names) {
        if (!each.is_string()) continue;
        auto path = host->find_file(each.as_string(), whole ? "files" : "templates");
        if (path && name == "epp" && !all.stat(*path).exists) *path += ".epp";
        if (!path || !all.stat(*path).exists) continue;
        const std::string_view what = whole ? "file" : "template";
        out.push_back(reason("file", fmt::format("the text of the {}", what)));
        put(out.back(), *path, 0);
        // The first existing file counts.
        if (whole || name == "epp") return;
    }
}

/// Explains a call: a lookup by its levels, another function by its arguments and by the values
/// that its code reads. Returns false if the call must be explained like any other expression.
bool CatalogExplainer::call(Id id, Reasons& out, bool hidden) {
    const auto& event = history_.at(id);
    const std::string_view name = called(event.node);
    if (!is_lookup(name)) {
        // A function in Puppet's language or a template gets its own reason.
        const auto inner = history_.inside(id);
        auto is_own = [&](Id each) {
            const auto& part = history_.at(each);
            return part.scope != event.scope &&
                   (part.in_function || (part.local && is_template(name)));
        };
        if (name.empty()) return false;
        if (!std::ranges::any_of(inner, is_own)) {
            files(id, out);
            return false;
        }
        Reason made = reason(
            "call",
            fmt::format("{} {}", call_head(event.node), is(event.value, hidden || secret(id))),
            event.node);
        made.name = std::string(name);
        files(id, made.because);
        // An argument counts only where the code reads it.
        for (const Id each : inner)
            if (is_own(each)) sources(each, made.because, hidden);
        out.push_back(std::move(made));
        return true;
    }
    ++count_;
    const auto given = arguments(event.node);
    std::vector<Value> args;
    for (const auto* each : given) args.push_back(value_of(id, each));
    if (args.empty()) return false;
    hiera::Lookup::Question question;
    auto add_names = [&](const Value& v) {
        if (v.is_string()) question.names.emplace_back(v.as_string());
        if (v.is_array())
            for (const Value& each : v.as_array())
                if (each.is_string()) question.names.emplace_back(each.as_string());
    };
    auto read_options = [&](const value::HashRep& hash) {
        if (const Value* v = hash.find("name")) add_names(*v);
        if (const Value* v = hash.find("merge")) question.merge = *v;
    };
    if (args[0].is_hash()) {
        read_options(args[0].as_hash());
    } else {
        add_names(args[0]);
        if (name == "lookup") {
            if (args.size() == 2 && args[1].is_hash()) read_options(args[1].as_hash());
            if (args.size() > 2) question.merge = args[2];
        } else {
            question.merge =
                Value::string(name == "hiera_hash"                               ? "hash"
                              : name == "hiera_array" || name == "hiera_include" ? "unique"
                                                                                 : "first");
        }
    }
    Reason made = reason(
        "data", fmt::format("{} {}", on_one_line(code_of(event.node)), is(event.value, hidden)),
        event.node);
    if (question.names.empty()) return false;
    made.name = question.names[0];
    made.value = json(event.value, hidden);
    for (const auto* each : given) sources(id, each, made.because, hidden);
    data(question, scope_of(id), event.value, made, hidden);
    out.push_back(std::move(made));
    return true;
}

/// Explains an element of a hash or array that has its own location in the code. The other elements
/// are left out.
bool CatalogExplainer::element(Id id, Reasons& out, bool hidden) {
    const auto& event = history_.at(id);
    const auto& access = syntax::to<syntax::AccessExpression>(event.node);
    const Value key = access.keys.size() == 1 ? value_of(id, access.keys[0]) : Value::undef();
    if (!key.is_string() && !key.is_integer()) return false;
    auto found = part(id, access.left, {key}, hidden || secret(id));
    if (!found) return false;
    ++count_;
    hidden = hidden || secret(id);
    Reason made = reason(
        "element", fmt::format("{} {}", on_one_line(code_of(event.node)), is(event.value, hidden)),
        found->code ? found->code : event.node);
    made.name = value::to_text(key);
    made.value = json(event.value, hidden);
    if (found->code && !hidden) made.expression = code_of(found->code);
    sources(id, access.keys[0], made.because, hidden);
    std::ranges::move(found->because, std::back_inserter(made.because));
    out.push_back(std::move(made));
    return true;
}

bool CatalogExplainer::referenced_parameter(Id id, Reasons& out, bool hidden) {
    const auto& event = history_.at(id);
    const auto& access = syntax::to<syntax::AccessExpression>(event.node);
    const Value left = value_of(id, access.left);
    if (!left.is_type() || access.keys.size() != 1) return false;
    const auto reference = types::as_reference(left.as_type());
    const Value key = value_of(id, access.keys[0]);
    if (!reference || !reference->has_title || !key.is_string()) return false;
    const auto* resource = compilation_.table().find(*reference);
    if (!resource) return false;
    ++count_;
    Reason made = reason(
        "parameter",
        fmt::format("{} of {} {}", key.as_string(), resource->ref(), is(event.value, hidden)),
        event.node);
    made.name = std::string(key.as_string());
    made.value = json(event.value, hidden);
    if (first_time(resource, key.as_string()))
        origins(*resource, key.as_string(), made.because, hidden);
    out.push_back(std::move(made));
    return true;
}

// ---- variables and facts ----

std::optional<std::pair<std::string, std::string>> CatalogExplainer::fact_path(Id id) const {
    const auto& event = history_.at(id);
    if (event.from == From::Top) {
        std::string_view name = event.name;
        if (name.starts_with("::")) name.remove_prefix(2);
        if (name == "facts") return std::pair("fact", "");
        if (name == "trusted") return std::pair("trusted", "");
        if (name == "server_facts") return std::pair("server fact", "");
        return std::nullopt;
    }
    const auto* access = syntax::as<syntax::AccessExpression>(event.node);
    const auto left = access ? child(id, access->left) : std::nullopt;
    auto out = left ? fact_path(*left) : std::nullopt;
    if (!out) return out;
    for (const auto* key : access->keys) {
        if (!out->second.empty()) out->second += '.';
        out->second += value::to_text(value_of(id, key));
    }
    return out;
}

bool CatalogExplainer::fact(Id id, Reasons& out, bool hidden) {
    const auto path = fact_path(id);
    if (!path || path->second.empty()) return false;
    const auto& event = history_.at(id);
    const bool known = std::ranges::any_of(
        out, [&](const Reason& r) { return r.kind == path->first && r.name == path->second; });
    if (known) return true;
    ++count_;
    Reason made = reason(
        path->first, fmt::format("{} {} {}", path->first, path->second, is(event.value, hidden)));
    made.name = path->second;
    made.value = json(event.value, hidden);
    // Explains the key of the access.
    const auto& access = syntax::to<syntax::AccessExpression>(event.node);
    for (const auto* key : access.keys) sources(id, key, made.because, hidden);
    out.push_back(std::move(made));
    return true;
}

void CatalogExplainer::top_variable(const History::Event& event, Reasons& out, bool hidden) {
    std::string_view name = event.name;
    if (name.starts_with("::")) name.remove_prefix(2);
    const auto& node = compilation_.request().node;
    auto has = [&](const Value& hash) { return hash.is_hash() && hash.as_hash().find(name); };
    std::string kind = "fact", what = fmt::format("fact {}", name);
    bool whole = false;
    if (name == "facts" || name == "trusted" || name == "server_facts") {
        kind = name == "facts" ? "fact" : name == "trusted" ? "trusted" : "server fact";
        what = fmt::format("${}", name);
        whole = true;
        name = "";
    } else if (name == "environment") {
        kind = "environment";
        what = "the name of the environment";
    } else if (std::ranges::any_of(node.variables,
                                   [&](const auto& each) { return each.first == name; })) {
        kind = "given";
        what = fmt::format("${}, set outside of the manifests,", name);
    } else if (has(node.parameters)) {
        kind = "classifier";
        what = fmt::format("the classifier's parameter {}", name);
    } else if (!has(node.facts) && has(node.server_facts)) {
        kind = "server fact";
        what = fmt::format("server fact {}", name);
    }
    ++count_;
    Reason made = reason(kind, whole ? what : fmt::format("{} {}", what, is(event.value, hidden)));
    made.name = std::string(name);
    if (!whole) made.value = json(event.value, hidden);
    out.push_back(std::move(made));
}

/// Explains the argument of a function, lambda or template that a variable holds.
Reason CatalogExplainer::argument(const History::Event& event, std::string_view name,
                                  const std::string& shown, bool hidden) {
    const auto& source = history_.at(event.source);
    const std::string_view callee = called(source.node);
    Reason out = reason(
        "argument",
        callee.empty() ? shown : fmt::format("{}, given by {}", shown, call_head(source.node)),
        source.node);
    if (!first_time(&source, name)) {
        out.text += " (see above)";
        return out;
    }
    const auto given = arguments(source.node);
    if (auto found = part_of_argument(event, {}, hidden)) {
        if (found->code && !hidden) out.expression = code_of(found->code);
        if (found->by_default) out.text = fmt::format("{}, the default", shown);
        // The code of a default value or an iterated element is not at the call.
        if (found->code) put(out, found->code);
        out.because = std::move(found->because);
        return out;
    }
    if (!given.empty() && !hidden) out.expression = code_of(given.front());
    for (const auto* each : given) sources(event.source, each, out.because, hidden);
    return out;
}

void CatalogExplainer::assigned_under(Id assignment, Reasons& out, bool hidden) {
    const auto* scope = history_.at(assignment).scope;
    for (Id inner = assignment, at = history_.at(inner).parent; at != History::kStart;
         inner = at, at = history_.at(at).parent) {
        if (history_.at(at).scope != scope) break;
        if (auto why = condition(at, history_.at(inner).node, hidden))
            out.push_back(std::move(*why));
    }
}

void CatalogExplainer::variable(Id id, Reasons& out, bool hidden) {
    const auto& event = history_.at(id);
    std::string_view name = event.name;
    if (name.starts_with("::")) name.remove_prefix(2);
    hidden = hidden || secret(id);
    if (std::ranges::any_of(out, [&](const Reason& r) {
            return r.name == name &&
                   (r.kind == "variable" || r.kind == "argument" || r.kind == "parameter" ||
                    r.kind == "title") &&
                   r.value == json(event.value, hidden);
        }))
        return;
    if (event.from == From::Top) return top_variable(event, out, hidden);
    ++count_;
    const std::string shown = fmt::format("${} {}", name, is(event.value, hidden));
    Reason made;
    switch (event.from) {
        case From::Assignment: {
            const auto& source = history_.at(event.source);
            const auto& assignment = syntax::to<syntax::AssignmentExpression>(source.node);
            made = reason(
                "variable",
                hidden ? shown : fmt::format("{}: {}", shown, on_one_line(code_of(source.node))),
                source.node);
            if (!hidden) made.expression = code_of(assignment.right);
            if (first_time(&source, {}))
                sources(event.source, assignment.right, made.because, hidden);
            else if (child(event.source, assignment.right))
                made.text += " (see above)";
            // If a condition surrounds the assignment, it is a reason too.
            assigned_under(event.source, made.because, hidden);
            break;
        }
        case From::Argument: made = argument(event, name, shown, hidden); break;
        case From::Parameter: {
            const Resource* resource = event.resource;
            if (!resource || name == "module_name" || name == "caller_module_name") {
                made = reason("variable", shown);
                break;
            }
            std::string_view leaf = name;
            if (const auto at = leaf.rfind("::"); at != leaf.npos) leaf.remove_prefix(at + 2);
            if (leaf == "title" || leaf == "name") {
                made = reason("title", fmt::format("{}, the title of {}", shown, owner(*resource)));
                put(made, resource->file, resource->line);
                break;
            }
            made =
                reason("parameter", fmt::format("{}, a parameter of {}", shown, owner(*resource)));
            if (first_time(resource, leaf))
                origins(*resource, leaf, made.because, hidden);
            else
                made.text += " (see above)";
            break;
        }
        case From::Setting: made = reason("setting", shown); break;
        default: made = reason("variable", fmt::format("${} is not set", name)); break;
    }
    made.name = std::string(name);
    made.value = json(event.value, hidden);
    out.push_back(std::move(made));
}

// ---- data ----

/// Explains the variables in a string of a data file, such as "%{facts.os.family}".
void CatalogExplainer::interpolated(std::string_view text, Reasons& out) {
    const auto& node = compilation_.request().node;
    for (auto at = text.find("%{"); at != text.npos; at = text.find("%{", at + 2)) {
        const auto end = text.find('}', at);
        if (end == text.npos) return;
        std::string_view path = base::trim(text.substr(at + 2, end - at - 2));
        // Lookups have their own reasons.
        if (path.empty() || path.find('(') != path.npos) continue;
        if (path.starts_with("::")) path.remove_prefix(2);
        const auto dot = path.find('.');
        const std::string_view root = path.substr(0, dot);
        auto& in = compilation_.interpreter();
        const auto found = in.lookup_variable(in.top_scope(), root);
        Value v = found.value_or(Value::undef());
        std::vector<Value> segments;
        if (dot != path.npos && value::split_dotted(in.arena(), path.substr(dot + 1), segments))
            for (const Value& segment : segments) {
                const Value* next = v.is_hash() ? v.as_hash().find(segment) : nullptr;
                v = next ? *next : Value::undef();
            }
        const bool whole = root == "facts" || root == "trusted" || root == "server_facts";
        const bool legacy = !whole && node.facts.is_hash() && node.facts.as_hash().find(root);
        Reason made = reason(root == "facts" || legacy ? "fact"
                             : root == "trusted"       ? "trusted"
                             : whole                   ? "server fact"
                                                       : "variable",
                             "");
        made.name = whole && dot != path.npos ? path.substr(dot + 1) : path;
        made.text = made.kind == "variable"
                        ? fmt::format("${} {}", path, is(v, false))
                        : fmt::format("{} {} {}", made.kind, made.name, is(v, false));
        made.value = json(v, false);
        out.push_back(std::move(made));
    }
}

void CatalogExplainer::levels(const hiera::ExplainNode& step, const std::string& level,
                              Reasons& out) {
    using StepKind = hiera::ExplainNode::Kind;
    using Event = hiera::ExplainNode::Event;
    constexpr std::string_view kEntry = "Hierarchy entry \"";
    const bool found = step.event == Event::Found || step.event == Event::FoundInOverrides ||
                       step.event == Event::FoundInDefaults;
    std::string name = level;
    if (step.kind == StepKind::DataProvider && step.name.starts_with(kEntry))
        name = step.name.substr(kEntry.size(), step.name.size() - kEntry.size() - 1);
    else if (step.kind == StepKind::DataProvider && step.name.starts_with("Module"))
        name = step.name;
    if (step.kind == StepKind::Top && step.name == "lookup_options") return;
    if (step.kind == StepKind::Path || step.kind == StepKind::Uri) {
        const std::string path = below(step.name, root_);
        Reason made =
            reason("level", fmt::format("{} ({}): {}", path, name,
                                        step.event == Event::LocationNotFound ? "does not exist"
                                        : found                               ? "has " + step.key
                                                : "has no " + step.key));
        made.name = step.key;
        made.value = found ? "true" : "false";
        made.file = path;
        if (found && step.kind == StepKind::Path) {
            const auto text = compilation_.request().environment->files().read(step.name);
            made.line = text ? line_of_key(step.name, *text, step.key) : 0;
        }
        for (const auto& each : step.branches) levels(*each, name, made.because);
        out.push_back(std::move(made));
        ++count_;
        return;
    }
    if (step.kind == StepKind::Interpolate) {
        Reason made = reason("interpolation", "made of " + shortened(step.name));
        interpolated(step.name, made.because);
        for (const auto& each : step.branches) levels(*each, name, made.because);
        if (!made.because.empty()) out.push_back(std::move(made));
        return;
    }
    // A level without files has a function as its data provider.
    const bool asked = step.kind == StepKind::DataProvider && step.branches.empty() &&
                       name != level && (found || step.event == Event::NotFound);
    if (asked) {
        Reason made = reason(
            "level", fmt::format("{}: {}", name, found ? "has " + step.key : "has no " + step.key));
        made.name = step.key;
        made.value = found ? "true" : "false";
        out.push_back(std::move(made));
        return;
    }
    for (const auto& each : step.branches) levels(*each, name, out);
}

void CatalogExplainer::data(const hiera::Lookup::Question& question, Scope& scope,
                            const Value& found, Reason& into, bool hidden) {
    hiera::Explainer explainer;
    auto& in = compilation_.interpreter();
    Value answer;
    bool any = true;
    try {
        answer = lookup_.ask(in, scope, question, &explainer);
    } catch (const hiera::LookupError&) {
        any = false;
    } catch (const base::PuppetError& error) {
        into.because.push_back(reason("note", "a repeated lookup fails: " + error.message()));
        return;
    }
    Reasons all;
    levels(explainer.root(), "", all);
    if (!any)
        all.push_back(reason("default", "no level has it; the default of the call applies"));
    else if (!hidden && !value::equal(answer, found))
        all.push_back(reason("note", "a repeated lookup gives another result"));
    std::ranges::move(all, std::back_inserter(into.because));
}

}  // namespace bunraku::insight
