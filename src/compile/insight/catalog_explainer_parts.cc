// SPDX-License-Identifier: Apache-2.0
// Explains a part of a value, such as an element of a hash or array. Follows the part through
// variables, parameters, arguments and merges.
#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/catalog_explainer.h"
#include "compile/insight/expression.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "language/evaluator/closure.h"

namespace bunraku::insight {

using compiler::Resource;
using syntax::Node;
using syntax::NodeKind;
using From = History::From;
using Origin = History::Origin;

namespace {

/// Returns the element at `path`, or nullopt.
std::optional<Value> value_at(Value v, std::span<const Value> path) {
    for (const Value& key : path) {
        if (v.is_hash()) {
            const Value* next = v.as_hash().find(key);
            if (!next) return std::nullopt;
            v = *next;
        } else if (v.is_array() && key.is_integer()) {
            const auto all = v.as_array();
            auto i = key.as_integer();
            if (i < 0) i += static_cast<std::int64_t>(all.size());
            if (i < 0 || i >= static_cast<std::int64_t>(all.size())) return std::nullopt;
            v = all[static_cast<std::size_t>(i)];
        } else {
            return std::nullopt;
        }
    }
    return v;
}

std::vector<Value> below_key(const Value& key, const std::vector<Value>& path) {
    std::vector<Value> out{key};
    out.insert(out.end(), path.begin(), path.end());
    return out;
}

const syntax::LambdaExpression* lambda_of(const Node* node) {
    if (const auto* c = syntax::as<syntax::CallNamedFunctionExpression>(node)) return c->lambda;
    if (const auto* c = syntax::as<syntax::CallMethodExpression>(node)) return c->lambda;
    return nullptr;
}

/// Reports whether the function calls its lambda once per element.
bool iterates(std::string_view name) {
    constexpr std::string_view kNames[] = {"each", "map",      "filter",      "any",
                                           "all",  "flat_map", "reverse_each"};
    return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

void CatalogExplainer::add_part(Part&& part, Reasons& out, bool hidden) {
    if (!part.code || hidden) {
        std::ranges::move(part.because, std::back_inserter(out));
        return;
    }
    out.push_back(reason("element", on_one_line(code_of(part.code)), part.code));
    out.back().expression = code_of(part.code);
    out.back().because = std::move(part.because);
}

std::optional<CatalogExplainer::Part> CatalogExplainer::part(Id in, const Node* expression,
                                                             const Path& path, bool hidden) {
    return part_of(child(in, expression), bare(expression), path, hidden);
}

std::optional<CatalogExplainer::Part> CatalogExplainer::part_of(std::optional<Id> event,
                                                                const Node* node, const Path& path,
                                                                bool hidden) {
    if (!node || depth_ > kDeepest || count_ > kMostReasons) return std::nullopt;
    struct Deeper {
        int& depth;
        ~Deeper() { --depth; }
    } const deeper{++depth_};
    if (path.empty()) {
        Part out{.code = node};
        if (event) sources(*event, out.because, hidden);
        return out;
    }
    if (!event) return std::nullopt;
    const auto& at = history_.at(*event);
    const Path rest(path.begin() + 1, path.end());
    if (!at.name.empty()) return part_of_variable(at, path, hidden);
    switch (node->kind) {
        case NodeKind::LiteralHash: {
            const auto entries = syntax::to<syntax::LiteralHash>(node).entries;
            for (auto it = entries.rbegin(); it != entries.rend(); ++it)
                if (value::equal(value_of(*event, (*it)->key), path[0]))
                    return part(*event, (*it)->value, rest, hidden);
            return std::nullopt;
        }
        case NodeKind::LiteralList: {
            const auto& values = syntax::to<syntax::LiteralList>(node).values;
            const bool plain = std::ranges::none_of(
                values, [](const Node* v) { return v->kind == NodeKind::UnfoldExpression; });
            if (!plain || !path[0].is_integer()) return std::nullopt;
            auto i = path[0].as_integer();
            if (i < 0) i += static_cast<std::int64_t>(values.size());
            if (i < 0 || i >= static_cast<std::int64_t>(values.size())) return std::nullopt;
            return part(*event, values[static_cast<std::size_t>(i)], rest, hidden);
        }
        case NodeKind::AccessExpression: {
            const auto& access = syntax::to<syntax::AccessExpression>(node);
            if (access.keys.size() != 1) return std::nullopt;
            const Value key = value_of(*event, access.keys[0]);
            if (!key.is_string() && !key.is_integer()) return std::nullopt;
            return part(*event, access.left, below_key(key, path), hidden);
        }
        case NodeKind::IfExpression:
        case NodeKind::UnlessExpression:
        case NodeKind::CaseExpression:
        case NodeKind::SelectorExpression: {
            const Node* taken = branch_taken(*event);
            auto out = part(*event, taken, path, hidden);
            if (!out) return std::nullopt;
            if (auto why = condition(*event, taken, hidden))
                out->because.push_back(std::move(*why));
            return out;
        }
        case NodeKind::BlockExpression: {
            const auto& statements = syntax::to<syntax::BlockExpression>(node).statements;
            if (statements.empty()) return std::nullopt;
            return part(*event, statements.back(), path, hidden);
        }
        case NodeKind::AssignmentExpression:
            return part(*event, syntax::to<syntax::AssignmentExpression>(node).right, path, hidden);
        case NodeKind::ArithmeticExpression: {
            const auto& sum = syntax::to<syntax::ArithmeticExpression>(node);
            if (sum.op != syntax::Op::Add || !at.value.is_hash()) return std::nullopt;
            return part_of_merged(*event, {sum.left, sum.right}, path, false, hidden);
        }
        case NodeKind::CallNamedFunctionExpression:
        case NodeKind::CallMethodExpression: {
            const std::string_view name = called(node);
            const auto given = arguments(node);
            if (name.find("merge") != name.npos && !lambda_of(node))
                return part_of_merged(*event, given, path, name.find("deep") != name.npos, hidden);
            if (name == "pick" || name == "pick_default")
                for (const auto* each : given)
                    if (value::equal(value_of(*event, each), at.value))
                        return part(*event, each, path, hidden);
            return std::nullopt;
        }
        default: return std::nullopt;
    }
}

std::optional<CatalogExplainer::Part> CatalogExplainer::part_of_merged(
    Id call, const std::vector<const Node*>& all, const Path& path, bool deep, bool hidden) {
    const std::span<const Value> looked(path.data(), deep ? path.size() : 1);
    const auto result = value_at(history_.at(call).value, path);
    Part out;
    bool any = false;
    // The last argument with the part wins. If the part itself is a merged hash, all arguments
    // contribute.
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
        if (!value_at(value_of(call, *it), looked)) continue;
        auto found = part(call, *it, path, hidden);
        if (!found) {
            found.emplace();
            sources(call, *it, found->because, hidden);
        }
        if (!any && !(deep && result && result->is_hash())) return found;
        any = true;
        add_part(std::move(*found), out.because, hidden);
    }
    if (!any) return std::nullopt;
    return out;
}

std::optional<CatalogExplainer::Part> CatalogExplainer::part_of_variable(
    const History::Event& event, const Path& path, bool hidden) {
    switch (event.from) {
        case From::Assignment: {
            const auto& assignment =
                syntax::to<syntax::AssignmentExpression>(history_.at(event.source).node);
            if (assignment.left->kind != NodeKind::VariableExpression) return std::nullopt;
            auto out = part(event.source, assignment.right, path, hidden);
            if (out) assigned_under(event.source, out->because, hidden);
            return out;
        }
        case From::Parameter: return part_of_parameter(event, path, hidden);
        case From::Argument: return part_of_argument(event, path, hidden);
        default: return std::nullopt;
    }
}

std::optional<CatalogExplainer::Part> CatalogExplainer::part_of_parameter(
    const History::Event& event, const Path& path, bool hidden) {
    const Resource* resource = event.resource;
    if (!resource) return std::nullopt;
    std::string_view leaf = event.name;
    if (const auto at = leaf.rfind("::"); at != leaf.npos) leaf.remove_prefix(at + 2);
    const auto all = history_.origins(*resource, leaf);
    if (all.empty() || all.back().appended) return std::nullopt;
    const Origin& o = all.back();
    std::optional<Part> found;
    if (o.kind == Origin::Kind::Default) {
        found = part_of(o.event == History::kStart ? std::nullopt : std::optional(o.event),
                        bare(o.site), path, hidden);
    } else if (const auto* one = syntax::as<syntax::AttributeOperation>(o.site)) {
        found = part(o.event, one->value_expr, path, hidden);
    } else if (const auto* splat = syntax::as<syntax::AttributesOperation>(o.site)) {
        found = part(o.event, splat->expr, below_key(Value::string(o.parameter), path), hidden);
    } else if (o.kind == Origin::Kind::Attribute && !o.site) {
        found = part_given(*resource, o, path, hidden);
    }
    if (!found) return std::nullopt;
    ++count_;
    const std::string shown = json(value_at(event.value, path).value_or(Value::undef()), hidden);
    Reason made =
        reason("parameter",
               fmt::format("${} has {} there, a parameter of {}", event.name,
                           shown.empty() ? "a hidden value" : shortened(shown), owner(*resource)),
               found->code);
    if (found->code && !hidden) made.expression = code_of(found->code);
    made.name = std::string(leaf);
    made.because = std::move(found->because);
    Part out;
    out.because.push_back(std::move(made));
    return out;
}

std::optional<CatalogExplainer::Part> CatalogExplainer::part_of_argument(
    const History::Event& event, const Path& path, bool hidden) {
    const Id call = event.source;
    const auto& source = history_.at(call);
    const std::string_view callee = called(source.node);
    const auto given = arguments(source.node);
    std::string_view name = event.name;
    if (name.starts_with("::")) name.remove_prefix(2);
    if (callee.empty()) return std::nullopt;
    if ((callee == "epp" || callee == "inline_epp") && given.size() > 1)
        return part(call, given[1], below_key(Value::string(name), path), hidden);
    if (const auto* lambda = lambda_of(source.node); lambda && iterates(callee) && !given.empty()) {
        const auto& all = lambda->parameters;
        const auto at = std::ranges::find(all, name, &syntax::Parameter::name);
        if (at == all.end() || all.size() > 2) return std::nullopt;
        const bool value = at + 1 == all.end();
        // The source of a key is not known beyond the whole value.
        if (!value) return std::nullopt;
        const Value whole = value_of(call, given[0]);
        if (whole.is_hash() && all.size() == 2) {
            for (const auto& each : whole.as_hash())
                if (value::equal(each.value, event.value))
                    return part(call, given[0], below_key(each.key, path), hidden);
        }
        if (whole.is_hash() && all.size() == 1 && !path.empty() && path[0].is_integer() &&
            path[0].as_integer() == 1 && event.value.is_array() &&
            event.value.as_array().size() == 2)
            return part(call, given[0],
                        below_key(event.value.as_array()[0], {path.begin() + 1, path.end()}),
                        hidden);
        if (whole.is_array()) {
            const auto items = whole.as_array();
            for (std::size_t i = 0; i < items.size(); ++i)
                if (value::equal(items[i], event.value))
                    return part(call, given[0],
                                below_key(Value::integer(static_cast<std::int64_t>(i)), path),
                                hidden);
        }
        return std::nullopt;
    }
    const auto* function = dynamic_cast<const evaluator::PuppetFunction*>(
        compilation_.interpreter().find_callable(callee));
    if (!function) return std::nullopt;
    const auto& all = function->definition().parameters;
    const auto at = std::ranges::find(all, name, &syntax::Parameter::name);
    const auto number = static_cast<std::size_t>(at - all.begin());
    if (at == all.end() || (*at)->captures_rest) return std::nullopt;
    if (number < given.size()) return part(call, given[number], path, hidden);
    if (!(*at)->value) return std::nullopt;
    auto out = part(call, (*at)->value, path, hidden);
    if (out) out->by_default = true;
    return out;
}

std::optional<CatalogExplainer::Part> CatalogExplainer::part_given(const Resource& resource,
                                                                   const Origin& o,
                                                                   const Path& path, bool hidden) {
    const auto& event = history_.at(o.event);
    const std::string_view name = called(event.node);
    const auto given = arguments(event.node);
    const Path own = below_key(Value::string(o.parameter), path);
    std::string lower(resource.title);
    base::make_lower(lower);
    /// Index of the argument with the hashes by title, and of the argument with common parameters.
    std::size_t titles = given.size(), common = given.size();
    if (name == "create_resources" || name == "ensure_resources") {
        titles = 1;
        common = 2;
    } else if (name == "ensure_packages") {
        titles = 0;
        common = 1;
    } else if (name == "ensure_resource") {
        common = 2;
    } else {
        return std::nullopt;
    }
    if (titles < given.size()) {
        const Value whole = value_of(o.event, given[titles]);
        for (const std::string_view title : {resource.title, std::string_view(lower)}) {
            const Path all = below_key(Value::string(title), own);
            if (!value_at(whole, std::span(all).first(2))) continue;
            if (auto out = part(o.event, given[titles], all, hidden)) return out;
            Part out;
            sources(o.event, given[titles], out.because, hidden);
            return out;
        }
    }
    if (common < given.size() &&
        value_at(value_of(o.event, given[common]), std::span(own).first(1))) {
        if (auto out = part(o.event, given[common], own, hidden)) return out;
        Part out;
        sources(o.event, given[common], out.because, hidden);
        return out;
    }
    Part out;
    out.because.push_back(reason("function", fmt::format("{} sets it itself", name)));
    return out;
}

}  // namespace bunraku::insight
