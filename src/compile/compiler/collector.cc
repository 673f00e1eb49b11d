// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/collector.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "compile/compiler/compilation.h"
#include "compile/compiler/unavailable_store.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "language/evaluator/interpreter.h"
#include "language/types/rich_data.h"

namespace bunraku::compiler {

using syntax::NodeKind;

void CollectorValue::print(std::string& out) const {
    switch (collector->kind) {
        case Collector::Kind::Catalog: out += "Catalog-Collector["; break;
        case Collector::Kind::Exported: out += "Exported-Collector["; break;
        case Collector::Kind::Fixed: out += "Fixed-Collector["; break;
    }
    out.append(collector->type.name).append("]");
}

Collector* collector_of(const Value& v) {
    if (!v.is(value::Kind::Closure)) return nullptr;
    const auto* known = dynamic_cast<const CollectorValue*>(v.as_extension());
    return known ? known->collector : nullptr;
}

namespace {

[[noreturn]] void cannot_transform(const syntax::Node* node) {
    throw base::plain_error(fmt::format("Cannot transform object of class Puppet::Pops::Model::{}",
                                        syntax::node_kind_name(node->kind)));
}

const syntax::Node* inside(const syntax::Node* node) {
    while (const auto* p = syntax::as<syntax::ParenthesizedExpression>(node)) node = p->expr;
    return node;
}

// Evaluates a node that a query allows as an attribute or a value.
Value leaf(Compilation& compilation, const syntax::Node* node, Scope& scope) {
    node = inside(node);
    switch (node->kind) {
        case NodeKind::LiteralUndef: return Value::undef();
        case NodeKind::AccessExpression:
        case NodeKind::VariableExpression:
        case NodeKind::LiteralBoolean:
        case NodeKind::LiteralString:
        case NodeKind::ConcatenatedString:
        case NodeKind::LiteralInteger:
        case NodeKind::LiteralFloat:
        case NodeKind::QualifiedName: return compilation.interpreter().evaluate(node, scope);
        default: cannot_transform(node);
    }
}

// Returns the title with its original type: Ruby code (create_resources) may pass a number.
Value title_value(const Resource& resource) {
    const std::string_view text = resource.title;
    if (resource.title_is_text) return Value::string(text);
    const char* end = text.data() + text.size();
    std::int64_t integer = 0;
    if (auto [at, error] = std::from_chars(text.data(), end, integer);
        error == std::errc() && at == end)
        return Value::integer(integer);
    double number = 0;
    if (auto [at, error] = std::from_chars(text.data(), end, number);
        error == std::errc() && at == end)
        return Value::floating(number);
    return Value::string(text);
}

// Fails because two sources declare a resource of the same name. Reports both, because neither
// manifest alone shows the conflict.
[[noreturn]] void fail_duplicate(Compilation& compilation, const Resource& existing,
                                 const catalog::ExportedResource& item) {
    auto side = [&](const Resource& r) {
        if (!r.exporter.empty()) return fmt::format("exported by {}", r.exporter);
        auto where = base::format_location({std::string(r.file), r.line, 0});
        return fmt::format("declared on {}{}", compilation.request().node.name,
                           where.empty() ? "" : " at " + where);
    };
    const auto& ref = item.resource.ref;
    std::string name = existing.title == ref.title
                           ? std::string()
                           : fmt::format(" (the same name as {})", existing.ref());
    throw base::plain_error(
        fmt::format("A duplicate resource was found while collecting exported resources, with the "
                    "type and title {}[{}]{}: {} and exported by {}",
                    ref.type, ref.title, name, side(existing), item.certname));
}

}  // namespace

std::unique_ptr<Query> build_query(Compilation& compilation, const syntax::Node* expr,
                                   Scope& scope) {
    expr = inside(expr);
    if (!expr || expr->kind == NodeKind::Nop) return nullptr;
    auto query = std::make_unique<Query>();
    if (expr->kind == NodeKind::AndExpression || expr->kind == NodeKind::OrExpression) {
        const auto& both = *static_cast<const syntax::BinaryNode*>(expr);
        query->kind = expr->kind == NodeKind::AndExpression ? Query::Kind::And : Query::Kind::Or;
        query->left = build_query(compilation, both.left, scope);
        query->right = build_query(compilation, both.right, scope);
        return query;
    }
    const auto* comparison = syntax::as<syntax::ComparisonExpression>(expr);
    if (!comparison) cannot_transform(expr);
    Value attribute = leaf(compilation, comparison->left, scope);
    query->operand = leaf(compilation, comparison->right, scope);
    query->attribute = value::to_text(attribute);
    query->kind =
        comparison->op == syntax::Op::NotEqual ? Query::Kind::NotEqual : Query::Kind::Equal;
    if (query->kind == Query::Kind::Equal && query->attribute == "tag") {
        query->kind = Query::Kind::Tag;
        std::vector<Value> wanted;
        if (query->operand.is_array()) {
            wanted.assign(query->operand.as_array().begin(), query->operand.as_array().end());
        } else {
            wanted.push_back(query->operand);
        }
        for (const auto& v : wanted) {
            if (v.is_numeric()) {
                throw base::plain_error("Cannot transform a number to a tag");
            }
            query->tags.push_back(compilation.tag_table().id(base::lower(value::to_text(v))));
        }
    }
    return query;
}

std::unique_ptr<CollectorQuery> build_store_query(Compilation& compilation,
                                                  const syntax::Node* expr, Scope& scope) {
    expr = inside(expr);
    if (!expr || expr->kind == NodeKind::Nop) return nullptr;
    if (expr->kind == NodeKind::AndExpression || expr->kind == NodeKind::OrExpression) {
        const auto& both = *static_cast<const syntax::BinaryNode*>(expr);
        return CollectorQuery::join(expr->kind == NodeKind::AndExpression
                                        ? CollectorQuery::Kind::And
                                        : CollectorQuery::Kind::Or,
                                    build_store_query(compilation, both.left, scope),
                                    build_store_query(compilation, both.right, scope));
    }
    const auto* comparison = syntax::as<syntax::ComparisonExpression>(expr);
    if (!comparison) cannot_transform(expr);
    auto kind = comparison->op == syntax::Op::NotEqual ? CollectorQuery::Kind::NotEqual
                                                       : CollectorQuery::Kind::Equal;
    return CollectorQuery::compare(kind, value::to_text(leaf(compilation, comparison->left, scope)),
                                   leaf(compilation, comparison->right, scope));
}

bool matches(Compilation& compilation, const Query* query, const Resource& resource) {
    if (!query) return true;
    switch (query->kind) {
        case Query::Kind::And:
            return matches(compilation, query->left.get(), resource) &&
                   matches(compilation, query->right.get(), resource);
        case Query::Kind::Or:
            return matches(compilation, query->left.get(), resource) ||
                   matches(compilation, query->right.get(), resource);
        case Query::Kind::Tag:
            return std::any_of(query->tags.begin(), query->tags.end(), [&](std::uint32_t tag) {
                return compilation.raw_tagged(resource, tag);
            });
        case Query::Kind::Equal:
        case Query::Kind::NotEqual: break;
    }
    Value actual;
    if (query->attribute == "title") {
        actual = title_value(resource);
    } else if (const Param* p = resource.find(query->attribute)) {
        actual = p->value;
    }
    if (query->kind == Query::Kind::NotEqual) return !evaluator::equals(actual, query->operand);
    if (actual.is_array() && query->operand.is_type()) {
        // Compares references as values. Treating them as types would match their instances.
        const auto items = actual.as_array();
        return std::any_of(items.begin(), items.end(), [&](const Value& item) {
            return evaluator::equals(item, query->operand);
        });
    }
    if (actual.is_array())
        return evaluator::includes(compilation.interpreter(), actual, query->operand, nullptr);
    return evaluator::equals(actual, query->operand);
}

void Collector::collect_exported(Compilation& compilation, std::vector<Resource*>& found) {
    auto* store = compilation.request().services.exported;
    const auto& node = compilation.request().node.name;
    if (!store) return;
    if (!searched_) {
        searched_ = true;
        auto answer = store->find(type.name, store_query.get(), node, compilation.arena(),
                                  types::rich_data_factory(compilation.types()));
        if (!answer) {
            environment::Trace::record(environment::Read::Opaque, kStoreSilent);
            throw base::plain_error(
                fmt::format("Could not retrieve exported resources of type {}: {}", type.name,
                            answer.error().message));
        }
        from_store_ = std::move(*answer);
        if (auto* trace = environment::Trace::current()) {
            std::string text;
            for (const auto& item : from_store_) {
                if (!item.hash.empty()) {
                    catalog::append_identity(text, item.certname, item.hash);
                    continue;
                }
                text += fmt::format("{} {} {}", item.certname, item.resource.ref.title,
                                    fmt::join(item.resource.tags, ","));
                for (const auto& p : item.resource.parameters)
                    text += fmt::format(" {}={}", p.name, value::to_json(p.value));
                text += '\n';
            }
            trace->note_answer(environment::Read::Export,
                               catalog::name_of_export(type.name, store_query.get()), text);
        }
    }
    for (const auto& item : from_store_) {
        const auto& title = item.resource.ref.title;
        if (Resource* existing = compilation.table().find(type.name, title)) {
            if (existing->exporter == item.certname) continue;
            fail_duplicate(compilation, *existing, item);
        }
        auto& arena = compilation.arena();
        std::vector<Param> params;
        for (const auto& p : item.resource.parameters) {
            Param param;
            param.name = arena.copy(p.name);
            param.value = p.value;
            params.push_back(param);
        }
        Resource& made = compilation.make_resource({.type = type,
                                                    .title = arena.copy(title),
                                                    .scope = scope,
                                                    .params = std::move(params),
                                                    .source = Scopes::source(scope),
                                                    .file = arena.copy(item.resource.file),
                                                    .line = item.resource.line});
        for (const auto& tag : item.resource.tags) {
            tag_if_valid(made.tags, compilation.tag_table(), tag);
        }
        made.exporter = arena.copy(item.certname);
        if (History* h = compilation.history()) [[unlikely]]
            for (const auto& p : item.resource.parameters)
                h->set(made, made.find(p.name)->name, History::Origin::Kind::Import);
        made.virtual_ = true;
        if (Resource* existing = compilation.table().find_by_name(made))
            fail_duplicate(compilation, *existing, item);
        compilation.add_resource(scope, made);
        found.push_back(&made);
    }
}

std::vector<Resource*> Collector::collect(Compilation& compilation) {
    std::vector<Resource*> found;
    switch (kind) {
        case Kind::Catalog:
            for (Resource* r : compilation.table().of_type(type.name)) {
                if (matches(compilation, query.get(), *r)) found.push_back(r);
            }
            break;
        case Kind::Exported:
            for (Resource* r : compilation.table().of_type(type.name)) {
                if (r->exported && matches(compilation, query.get(), *r)) found.push_back(r);
            }
            collect_exported(compilation, found);
            break;
        case Kind::Fixed: {
            std::vector<types::Reference> rest;
            for (const auto& ref : wanted) {
                Resource* r = compilation.table().find(ref);
                if (!r) {
                    rest.push_back(ref);
                    continue;
                }
                r->virtual_ = false;
                found.push_back(r);
            }
            wanted = std::move(rest);
            if (wanted.empty()) compilation.collectors().retire(*this);
            break;
        }
    }
    return found;
}

bool Collector::evaluate(Compilation& compilation) {
    if (kind == Kind::Exported && !compilation.interpreter().options().storeconfigs) return false;
    auto objects = collect(compilation);
    for (Resource* r : objects) {
        r->virtual_ = false;
        if (History* h = compilation.history()) [[unlikely]]
            h->collected(*this, *r);
    }
    if (objects.empty()) return false;
    if (has_overrides) {
        if (source) const_cast<Definition*>(source)->overrides_all = true;
        for (Resource* r : objects) {
            if (seen_.contains(r)) continue;
            Resource& over = compilation.make_resource({.type = r->type,
                                                        .title = r->title,
                                                        .scope = scope,
                                                        .params = overrides,
                                                        .source = source,
                                                        .file = file,
                                                        .line = line});
            if (History* h = compilation.history()) [[unlikely]]
                h->overriding(*this, over);
            compilation.add_override(over);
        }
    }
    bool fresh = false;
    for (Resource* r : objects) {
        if (!seen_.insert(r).second) continue;
        collected.push_back(r);
        fresh = true;
    }
    return fresh;
}

}  // namespace bunraku::compiler
