// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/catalog_explainer.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "compile/compiler/collector.h"
#include "compile/compiler/naming.h"
#include "compile/insight/expression.h"
#include "compile/insight/inputs.h"
#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "core/value/rich_data.h"

namespace bunraku::insight {

using compiler::Resource;
using evaluator::Scope;
using syntax::Node;
using syntax::NodeKind;
using From = History::From;
using Origin = History::Origin;

bool CatalogExplainer::holds_secret(const Value& v) {
    base::step();
    if (v.is(value::Kind::Sensitive)) return true;
    if (v.is_array()) return std::ranges::any_of(v.as_array(), holds_secret);
    if (!v.is_hash()) return false;
    return std::ranges::any_of(v.as_hash(), [](const value::Entry& e) {
        return holds_secret(e.key) || holds_secret(e.value);
    });
}

CatalogExplainer::CatalogExplainer(const History& history, compiler::Compilation& compilation,
                                   hiera::Lookup& lookup)
    : history_(history),
      compilation_(compilation),
      lookup_(lookup),
      root_(compilation.request().environment->directory()) {}

// ---- sentences ----

void CatalogExplainer::put(Reason& reason, std::string_view file, int line) const {
    reason.file = below(file, root_);
    reason.line = line;
}

Reason CatalogExplainer::reason(std::string kind, std::string text, const Node* node) const {
    Reason out;
    out.kind = std::move(kind);
    out.text = std::move(text);
    put(out, node);
    return out;
}

void CatalogExplainer::put(Reason& reason, const Node* node) const {
    if (node && node->source)
        put(reason, node->source->file(), node->source->line_of(node->offset));
}

std::string CatalogExplainer::json(const Value& v, bool hidden) const {
    if (hidden || holds_secret(v)) return {};
    if (v.is(value::Kind::Closure) || v.is(value::Kind::Iterator)) return {};
    return value::to_json(value::to_rich_data(compilation_.arena(), v));
}

std::string CatalogExplainer::is(const Value& v, bool hidden) const {
    if (v.is_undef()) return "is undef";
    const std::string text = json(v, hidden);
    return text.empty() ? "is hidden" : "is " + shortened(text);
}

bool CatalogExplainer::first_time(const void* what, std::string_view name) {
    return reported_.emplace(what, std::string(name)).second;
}

std::string CatalogExplainer::owner(const Resource& resource) const {
    if (resource.title_is_main) return "the main manifest";
    if (resource.is_class()) {
        std::string name(resource.title);
        base::make_lower(name);
        return "class " + name;
    }
    if (resource.type.kind == compiler::ResourceType::Kind::Node)
        return "node " + std::string(resource.title);
    return resource.ref();
}

Scope& CatalogExplainer::scope_of(Id id) {
    const auto* body = history_.body_around(id);
    if (body && body->is_class() && body->type.definition)
        if (Scope* scope = compilation_.class_scope(body->type.definition->name)) return *scope;
    return compilation_.interpreter().top_scope();
}

bool CatalogExplainer::secret(Id id) {
    if (id == History::kStart) return false;
    const auto [it, fresh] = secrets_.emplace(id, false);
    if (!fresh) return it->second;
    const auto& event = history_.at(id);
    bool found = holds_secret(event.value);
    if (!found && event.from == From::Assignment) found = secret(event.source);
    if (!found && event.from == From::Argument)
        for (const auto* argument : arguments(history_.at(event.source).node))
            if (const auto given = child(event.source, argument)) found = found || secret(*given);
    if (!found && event.from == From::Parameter && event.resource)
        for (const auto& each : history_.origins(*event.resource, event.name))
            if (const auto* site = syntax::as<syntax::AttributeOperation>(each.site))
                if (const auto given = child(each.event, site->value_expr))
                    found = found || secret(*given);
    for (const Id inner : history_.inside(id)) found = found || secret(inner);
    secrets_[id] = found;
    return found;
}

// ---- events ----

std::optional<History::Id> CatalogExplainer::child(Id of, const Node* node) const {
    node = bare(node);
    std::optional<Id> out;
    for (Id each : history_.inside(of)) {
        // Parentheses have their own events.
        while (history_.at(each).node &&
               history_.at(each).node->kind == NodeKind::ParenthesizedExpression &&
               history_.at(each).end > each + 1)
            ++each;
        if (history_.at(each).node == node) out = each;
    }
    return out;
}

Value CatalogExplainer::value_of(Id in, const Node* node) const {
    node = bare(node);
    if (!node) return Value::undef();
    switch (node->kind) {
        case NodeKind::LiteralString:
            return Value::string(syntax::to<syntax::LiteralString>(node).value);
        case NodeKind::QualifiedName:
            return Value::string(syntax::to<syntax::QualifiedName>(node).value);
        case NodeKind::LiteralInteger:
            return Value::integer(syntax::to<syntax::LiteralInteger>(node).value);
        case NodeKind::LiteralBoolean:
            return Value::boolean(syntax::to<syntax::LiteralBoolean>(node).value);
        default: break;
    }
    const auto event = child(in, node);
    return event ? history_.at(*event).value : Value::undef();
}

// ---- parameters ----

Reason CatalogExplainer::parameter(const Resource& resource, std::string_view name) {
    const auto* param = resource.find(name);
    const Value v = param ? param->value : Value::undef();
    Reason out = reason("parameter", fmt::format("{} {}", name, is(v, false)));
    out.name = std::string(name);
    out.value = json(v, false);
    origins(resource, name, out.because, holds_secret(v));
    return out;
}

void CatalogExplainer::titled(const Resource& resource, Reasons& out) const {
    const compiler::TypeNames naming(compilation_.request().environment);
    for (const auto& [name, text] : naming.parse_title(resource.type.name, resource.title)) {
        const bool same = text == resource.title && resource.title_is_text;
        if (same || text.empty() || resource.find(name)) continue;
        const Value v = Value::string(text);
        Reason made = reason("parameter", fmt::format("{} {}", name, is(v, false)));
        made.name = std::string(name);
        made.value = json(v, false);
        made.because.push_back(reason("title", fmt::format("the title of {}", resource.ref())));
        put(made.because.back(), resource.file, resource.line);
        out.push_back(std::move(made));
    }
}

void CatalogExplainer::origins(const Resource& resource, std::string_view name, Reasons& out,
                               bool hidden) {
    if (depth_ > kDeepest || count_ > kMostReasons) return;
    const auto all = history_.origins(resource, name);
    if (all.empty()) {
        const bool title = name == "title" || name == "name" || name == resource.type.namevar();
        out.push_back(title ? reason("title", fmt::format("the title of {}", resource.ref()))
                            : reason("unknown",
                                     "set by code that is not recorded (Ruby, or a "
                                     "native function)"));
        put(out.back(), resource.file, resource.line);
        return;
    }
    ++depth_;
    // If a value was appended, the earlier values count too.
    std::size_t first = all.size() - 1;
    while (first > 0 && all[first].appended) --first;
    for (std::size_t i = first; i < all.size(); ++i)
        out.push_back(origin(resource, all[i], hidden));
    for (std::size_t i = 0; i < first; ++i) {
        const auto* site = syntax::as<syntax::AttributeOperation>(all[i].site);
        out.push_back(reason("replaced",
                             site && !hidden
                                 ? fmt::format("in place of {}", on_one_line(code_of(site)))
                                 : std::string("in place of another value"),
                             all[i].site ? all[i].site : history_.at(all[i].event).node));
    }
    --depth_;
}

/// Explains a parameter by the attribute of a statement.
void CatalogExplainer::set_in(Id statement, const Origin& o, Reason& into, bool hidden) {
    const Node* site = o.site;
    const Node* expression = site;
    if (const auto* one = syntax::as<syntax::AttributeOperation>(site))
        expression = one->value_expr;
    if (const auto* splat = syntax::as<syntax::AttributesOperation>(site)) {
        expression = splat->expr;
        if (auto found = part(statement, expression, {Value::string(o.parameter)}, hidden)) {
            if (found->code) {
                if (!hidden) into.text += fmt::format(": {}", on_one_line(code_of(found->code)));
                if (!hidden) into.expression = code_of(found->code);
                put(into, found->code);
            }
            into.because = std::move(found->because);
            return;
        }
    }
    if (!expression) return;
    if (!hidden) into.expression = code_of(expression);
    sources(statement, expression, into.because, hidden);
}

Reason CatalogExplainer::data_origin(const Resource& resource, std::string_view parameter,
                                     bool hidden) {
    std::string owner_name(resource.title);
    base::make_lower(owner_name);
    hiera::Lookup::Question question;
    question.names = {owner_name + "::" + std::string(parameter)};
    Reason out = reason("data", fmt::format("Hiera has {}", question.names[0]));
    out.name = question.names[0];
    const auto* param = resource.find(parameter);
    auto* scope = resource.type.definition
                      ? compilation_.class_scope(resource.type.definition->name)
                      : nullptr;
    data(question, scope ? *scope : compilation_.interpreter().top_scope(),
         param ? param->value : Value::undef(), out, hidden);
    return out;
}

Reason CatalogExplainer::origin(const Resource& resource, const Origin& o, bool hidden) {
    ++count_;
    const Node* statement = history_.at(o.event).node;
    const Node* at = o.site ? o.site : statement;
    const std::string code =
        o.site ? (hidden ? std::string(o.parameter) + " => .." : on_one_line(code_of(o.site)))
               : std::string();
    Reason out;
    using OriginKind = Origin::Kind;
    switch (o.kind) {
        case OriginKind::Attribute:
            if (!o.site) {
                out = reason("call",
                             fmt::format("given by {}",
                                         statement ? on_one_line(code_of(statement)) : "Ruby code"),
                             statement);
                if (auto found = part_given(resource, o, {}, hidden))
                    add_part(std::move(*found), out.because, hidden);
                else
                    children(o.event, out.because, hidden);
                return out;
            }
            out = reason("attribute", code, at);
            break;
        case OriginKind::ResourceDefault:
            out = reason("resource default",
                         o.site ? fmt::format("a default of {} in {}: {}", resource.type.name,
                                              history_.body_around(o.event)
                                                  ? owner(*history_.body_around(o.event))
                                                  : std::string("the main manifest"),
                                              code)
                                : fmt::format("a default of {}", resource.type.name),
                         at);
            break;
        case OriginKind::Override:
            out = reason("override", fmt::format("overridden: {}", code), at);
            break;
        case OriginKind::Collector:
            out = reason("collector",
                         fmt::format("the collector {} sets {}",
                                     on_one_line(statement ? code_of(statement) : ""), code),
                         at);
            break;
        case OriginKind::Relation:
            out = reason("relation",
                         fmt::format("by the relationship {}",
                                     on_one_line(statement ? code_of(statement) : "")),
                         statement);
            return out;
        case OriginKind::Requirement:
            out =
                reason("requirement", on_one_line(statement ? code_of(statement) : ""), statement);
            return out;
        case OriginKind::Container:
            out = reason("container", fmt::format("inherited from {}", owner(*o.other)));
            origins(*o.other, o.parameter, out.because, hidden);
            return out;
        case OriginKind::Import:
            out = reason("import", fmt::format("exported by {}", resource.exporter));
            out.name = std::string(resource.exporter);
            put(out, resource.file, resource.line);
            return out;
        case OriginKind::Classifier:
            return reason("classifier", fmt::format("the classifier sets {}", o.parameter));
        case OriginKind::Data: return data_origin(resource, o.parameter, hidden);
        case OriginKind::Default:
            out = reason("default",
                         fmt::format("the default: {}", hidden ? ".." : on_one_line(code_of(at))),
                         at);
            if (!hidden) out.expression = code_of(at);
            if (o.event != History::kStart) sources(o.event, out.because, hidden);
            return out;
    }
    set_in(o.event, o, out, hidden);
    return out;
}

// ---- conditions ----

void CatalogExplainer::literal(const Node* node, Reasons& out, bool hidden) {
    if (!is_literal(node) || hidden) return;
    out.push_back(reason("literal", on_one_line(code_of(node)), node));
    out.back().expression = code_of(node);
}

/// Reports whether the value matches this option of a case. An option `default` never matches here.
bool CatalogExplainer::is_case(Id id, const Value& v, const Node* option) const {
    option = bare(option);
    const auto* regex = syntax::as<syntax::LiteralRegularExpression>(option);
    const auto* rep = regex ? static_cast<const value::RegexpRep*>(regex->regexp_rep) : nullptr;
    return rep ? v.is_string() && rep->regex && rep->regex->search(v.as_string())
               : evaluator::equals(v, value_of(id, option));
}

/// Returns the branch that gave the condition its value, or null.
const Node* CatalogExplainer::branch_taken(Id id) const {
    const auto what = branches(history_.at(id).node);
    const Value v = value_of(id, what.test);
    // Prefers a branch that was evaluated. Literals have no events, so otherwise the first matching
    // branch counts.
    for (const auto& branch : what.all)
        if (branch.code && child(id, branch.code)) return branch.code;
    const Node* otherwise = nullptr;
    for (const auto& branch : what.all) {
        if (branch.options.empty()) return what.all[v.truthy() ? 0 : 1].code;
        for (const Node* option : branch.options) {
            if (bare(option)->kind == NodeKind::LiteralDefault)
                otherwise = branch.code;
            else if (is_case(id, v, option))
                return branch.code;
        }
    }
    return otherwise;
}

std::optional<Reason> CatalogExplainer::condition(Id id, const Node* part, bool hidden) {
    const auto& event = history_.at(id);
    const auto what = branches(event.node);
    const Node* test = what.test;
    // The test itself is not subject to the condition.
    if (!test || (part && bare(test) == bare(part))) return std::nullopt;
    std::string end;
    const Value v = value_of(id, test);
    for (const auto& branch : what.all) {
        if (!part || bare(branch.code) != bare(part) || branch.options.empty()) continue;
        // If a branch has several options, picks the one that matched.
        auto it = std::ranges::find_if(branch.options,
                                       [&](const Node* option) { return is_case(id, v, option); });
        if (it == branch.options.end()) it = branch.options.end() - 1;
        end = fmt::format(", the case {}", on_one_line(code_of(*it)));
    }
    if (const auto inner = child(id, test)) hidden = hidden || secret(*inner);
    ++count_;
    Reason made = reason(
        "condition", fmt::format("because {} {}{}", on_one_line(code_of(test)), is(v, hidden), end),
        test);
    made.value = json(v, hidden);
    if (!hidden) made.expression = code_of(test);
    if (first_time(event.node, "condition")) sources(id, test, made.because, hidden);
    return made;
}

void CatalogExplainer::around(Id id, Reasons& out) {
    if (depth_ > kDeepest) return;
    for (; id != History::kStart; id = history_.at(id).parent) {
        const Id outer = history_.at(id).parent;
        if (outer == History::kStart) {
            const auto& event = history_.at(id);
            if (event.resource && event.name.empty()) body(*event.resource, out);
            return;
        }
        const auto& event = history_.at(id);
        if (event.resource && event.name.empty()) return body(*event.resource, out);
        const auto& around_it = history_.at(outer);
        if (auto why = condition(outer, event.node, false)) out.push_back(std::move(*why));
        if (is_call(around_it.node) && event.scope != around_it.scope) {
            Reason made =
                reason("call", fmt::format("in {}", call_head(around_it.node)), around_it.node);
            made.name = std::string(called(around_it.node));
            if (first_time(&around_it, "around"))
                for (const auto* each : arguments(around_it.node))
                    sources(outer, each, made.because, false);
            out.push_back(std::move(made));
        }
    }
}

void CatalogExplainer::body(const Resource& resource, Reasons& out) {
    if (resource.title_is_main) return;
    if (resource.is_class()) return included(resource, out);
    if (resource.type.kind == compiler::ResourceType::Kind::Node) {
        Reason made = reason("node", fmt::format("in {}, which {} is", owner(resource),
                                                 compilation_.request().node.name));
        if (const auto* d = resource.type.definition) put(made, d->file, d->line);
        out.push_back(std::move(made));
        return;
    }
    Reason made = reason("define", fmt::format("in {}", resource.ref()));
    put(made, resource.file, resource.line);
    if (first_time(&resource, "")) declaration(resource, made.because);
    out.push_back(std::move(made));
}

void CatalogExplainer::included(const Resource& resource, Reasons& out) {
    const std::string name = owner(resource);
    Reason made = reason("class", fmt::format("{} is in the catalog", name));
    made.name = std::string(resource.title);
    if (const auto* d = resource.type.definition) put(made, d->file, d->line);
    if (!first_time(&resource, "class")) {
        made.text += " (see above)";
        out.push_back(std::move(made));
        return;
    }
    ++depth_;
    for (const auto& each : history_.inclusions(resource)) {
        if (each.subclass) {
            Reason by =
                reason("inclusion", fmt::format("{} inherits from it", owner(*each.subclass)));
            if (const auto* d = each.subclass->type.definition) put(by, d->file, d->line);
            included(*each.subclass, by.because);
            made.because.push_back(std::move(by));
            continue;
        }
        if (each.event == History::kStart) {
            made.because.push_back(reason("classifier", "the classifier assigns it"));
            continue;
        }
        const auto& event = history_.at(each.event);
        const auto* in = history_.body_around(each.event);
        Reason by =
            reason("inclusion",
                   fmt::format("{} in {}", event.node ? on_one_line(code_of(event.node)) : "",
                               in ? owner(*in) : "the main manifest"),
                   event.node);
        by.name = in ? owner(*in) : "";
        around(each.event, by.because);
        made.because.push_back(std::move(by));
    }
    --depth_;
    out.push_back(std::move(made));
}

void CatalogExplainer::declaration(const Resource& resource, Reasons& out) {
    if (resource.is_class()) return included(resource, out);
    if (!resource.exporter.empty()) {
        Reason made = reason("import", fmt::format("exported by {}", resource.exporter));
        made.name = std::string(resource.exporter);
        put(made, resource.file, resource.line);
        out.push_back(std::move(made));
    } else if (const auto event = history_.declaration(resource)) {
        const auto* in = history_.body_around(*event);
        const auto* statement = history_.at(*event).node;
        Reason made = reason("declaration", fmt::format("declared{} in {}",
                                                        resource.exported   ? " and exported"
                                                        : resource.virtual_ ? " as virtual"
                                                                            : "",
                                                        in ? owner(*in) : "the main manifest"));
        put(made, resource.file, resource.line);
        if (is_call(statement)) made.text += ", by " + on_one_line(code_of(statement));
        around(*event, made.because);
        out.push_back(std::move(made));
    } else {
        out.push_back(reason("unknown",
                             "declared by code that is not recorded (Ruby, or the "
                             "compiler itself)"));
        put(out.back(), resource.file, resource.line);
    }
    for (const auto* each : history_.collections(resource)) {
        const auto* statement = history_.at(each->event).node;
        Reason made = reason("collector",
                             fmt::format("collected by {}",
                                         statement ? on_one_line(code_of(statement)) : "Ruby code"),
                             statement);
        around(each->event, made.because);
        out.push_back(std::move(made));
    }
}

}  // namespace bunraku::insight
