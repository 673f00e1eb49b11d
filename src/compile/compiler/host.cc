// SPDX-License-Identifier: Apache-2.0
// Catalog operations that evaluated code can call (evaluator::CatalogHost).
#include <algorithm>
#include <fmt/format.h>

#include "compile/compiler/compilation.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "language/types/kinds.h"

namespace bunraku::compiler {

using base::PuppetError;
using evaluator::Interpreter;

namespace {

std::string_view file_of(const syntax::Node* site) {
    return site && site->source ? std::string_view(site->source->file()) : std::string_view();
}

/// Returns the file of a new resource. A function names code without a file "unknown"
/// (PuppetStack.top_of_stack, Puppet 8.10).
std::string_view file_of_resource(const syntax::Node* site) {
    const auto file = file_of(site);
    const bool by_function = site && (site->kind == syntax::NodeKind::CallNamedFunctionExpression ||
                                      site->kind == syntax::NodeKind::CallMethodExpression);
    return file.empty() && by_function ? "unknown" : file;
}

int line_of(const syntax::Node* site) {
    return site && site->source ? site->source->line_of(site->offset) : 0;
}

}  // namespace

Value Compilation::create_resources(Interpreter&, Scope& scope, syntax::ResourceForm form,
                                    std::string_view type_name,
                                    std::span<const std::string_view> titles,
                                    std::span<const evaluator::Attribute> attributes,
                                    const syntax::Node* site, evaluator::TitleKind titles_are) {
    auto name = downcase(arena(), type_name);
    std::vector<Value> references;
    references.reserve(titles.size());
    const bool exported = form == syntax::ResourceForm::Exported;
    const bool is_virtual = form != syntax::ResourceForm::Regular;
    if (name == "class") {
        for (auto title : titles) {
            Definition* definition = definitions_.find_class(title);
            ResourceType type;
            type.kind = ResourceType::Kind::Class;
            type.name = "Class";
            type.definition = definition;
            if (!definition)
                throw base::plain_error(fmt::format("Could not find declared class {}", title));
            Resource& r = make_resource({.type = type,
                                         .title = definition->name,
                                         .scope = &scope,
                                         .params = params_from(attributes, scope),
                                         .source = Scopes::source(&scope),
                                         .file = file_of_resource(site),
                                         .line = line_of(site)});
            r.kind = "class";
            r.exported = exported;
            r.virtual_ = is_virtual;
            if (History* h = history()) [[unlikely]] {
                h->declared(r, attributes, History::Origin::Kind::Attribute);
                h->included(r);
            }
            instantiate_resource(*definition, &scope, r);
            add_resource(&scope.base(), r);
            std::string_view names[] = {title};
            evaluate_classes(names, &scope.base(), Evaluation::Now);
            references.push_back(Value::type(reference_to(r)));
        }
    } else {
        ResourceType type = resource_types_.find(name);
        if (!type) throw base::plain_error(fmt::format("Unknown resource type: '{}'", type_name));
        for (auto title : titles) {
            Resource& r = make_resource({.type = type,
                                         .title = arena().copy(title),
                                         .scope = &scope,
                                         .params = params_from(attributes, scope),
                                         .source = Scopes::source(&scope),
                                         .file = file_of_resource(site),
                                         .line = line_of(site),
                                         .title_kind = titles_are});
            r.exported = exported;
            r.virtual_ = is_virtual;
            if (History* h = history()) [[unlikely]]
                h->declared(r, attributes, History::Origin::Kind::Attribute);
            add_resource(&scope.base(), r);
            references.push_back(Value::type(reference_to(r)));
        }
    }
    return Value::array(arena().copy(std::span<const Value>(references)));
}

void Compilation::variable_changed(Scope& scope, std::string_view name, const Value& was,
                                   const Value& now) {
    // All variables and parameters that hold the same list or hash object see the change, because
    // classes pass their objects on.
    auto same = [&was](const Value& v) {
        if (v.kind() != was.kind()) return false;
        if (v.is_hash()) return &v.as_hash() == &was.as_hash();
        return v.is_array() && v.as_array().data() &&
               v.as_array().data() == was.as_array().data() &&
               v.as_array().size() == was.as_array().size();
    };
    // A parameter is a copy of the given value. A change of the parameter therefore only affects
    // its resource and the variables made from it. Code outside of a define cannot reach the
    // define's variables.
    auto parameter_of = [&](const Scope& s, std::string_view variable) {
        const auto* data = Scopes::on(s);
        const Resource* r = data ? data->resource : nullptr;
        const Param* p = r && r->type.definition ? r->find(variable) : nullptr;
        return p && same(p->value);
    };
    const bool copied = parameter_of(scope, name);
    const bool inside = copied && scope.kind == evaluator::ScopeKind::Define;
    if ((was.is_array() || was.is_hash()) && !inside) {
        for (const auto& [_, each] : class_scopes_) {
            for (std::size_t i = 0; i < each->size(); ++i) {
                if (!same(each->value_at(i))) continue;
                if (copied && each != &scope && parameter_of(*each, each->name_at(i).view()))
                    continue;
                each->set_local(each->name_at(i), now);
            }
        }
        // Native resources have their own copies, so they do not change.
        for (Resource* r : resources_) {
            if (!r->type.definition || copied) continue;
            for (auto& p : r->params)
                if (same(p.value)) p.value = now;
        }
    }
    for (Scope* s = &scope; s; s = s->parent) {
        const auto* data = Scopes::on(*s);
        if (!data || !data->resource) continue;
        auto* param = data->resource->find(name);
        if (param && value::equal(param->value, was)) param->value = now;
        return;
    }
}

void Compilation::set_defaults(Interpreter&, Scope& scope, std::string_view type_name,
                               std::span<const evaluator::Attribute> attributes,
                               const syntax::Node*) {
    auto name = downcase(arena(), type_name);
    if (name.starts_with("::")) name.remove_prefix(2);
    auto type = capitalize(arena(), name);
    for (const auto& p : params_from(attributes, scope)) scopes_.set_default(scope, type, p);
    if (History* h = history()) [[unlikely]]
        h->default_set(scope.base(), type, attributes);
}

void Compilation::override_resources(Interpreter&, Scope& scope,
                                     std::span<const types::Reference> references,
                                     std::span<const evaluator::Attribute> attributes,
                                     const syntax::Node* site) {
    for (const auto& ref : references) {
        ResourceType type = resource_types_.find(ref.type_name);
        if (!type) {
            type.kind = ResourceType::Kind::Class;  // Puppet's reference to an unknown type
            type.name = "Class";
        }
        Resource& over = make_resource({.type = type,
                                        .title = arena().copy(ref.title),
                                        .scope = &scope,
                                        .params = params_from(attributes, scope),
                                        .source = Scopes::source(&scope),
                                        .file = file_of(site),
                                        .line = line_of(site),
                                        .defaults = DefaultParameters::Omit});
        if (History* h = history()) [[unlikely]]
            h->declared(over, attributes, History::Origin::Kind::Override);
        add_override(over);
    }
}

Relationship::Side Compilation::side_of(const Value& v) {
    Relationship::Side side;
    if (v.is(value::Kind::Closure)) {
        side.collector = collector_of(v);
        return side;
    }
    const types::Type* type = v.as_type();
    if (const auto* meta = types::as<types::TypeType>(type)) type = meta->type;
    if (auto ref = types::as_reference(type); ref && ref->type_name != "Class" &&
                                              !ref->type_name.empty() &&
                                              !resource_types_.find(ref->type_name)) {
        // For an unknown type, Puppet's references become classes with that title.
        type = types::class_ref(types(), downcase(arena(), ref->title));
    }
    side.reference = type;
    return side;
}

Value Compilation::relate(Interpreter&, Scope&, const Value& left, const Value& right,
                          syntax::Op op, const syntax::Node*) {
    // The evaluator has flattened the operands and checked that they refer to catalog elements.
    std::vector<Value> sides[2];
    sides[0].assign(left.as_array().begin(), left.as_array().end());
    sides[1].assign(right.as_array().begin(), right.as_array().end());

    bool reverse = op == syntax::Op::BeforeReverse || op == syntax::Op::NotifyReverse;
    bool subscription = op == syntax::Op::Notify || op == syntax::Op::NotifyReverse;
    const auto& sources = sides[reverse ? 1 : 0];
    const auto& targets = sides[reverse ? 0 : 1];
    for (const auto& s : sources) {
        for (const auto& t : targets)
            relationships_.push_back({side_of(s), side_of(t), subscription});
    }
    if (History* h = history()) [[unlikely]]
        h->related(relationships_.size());
    const auto& result = sides[1].empty() ? sides[0] : sides[1];
    if (sides[1].size() == 1) {
        if (Collector* c = side_of(sides[1][0]).collector) {
            c->empty_alternative = sides[0];
            c->has_alternative = true;
        }
    }
    return Value::array(arena().copy(std::span<const Value>(result)));
}

Value Compilation::collect(Interpreter&, Scope& scope, const syntax::CollectExpression& node,
                           std::string_view type_name,
                           std::span<const evaluator::Attribute> overrides) {
    auto name = downcase(arena(), type_name);
    if (name == "class") throw base::plain_error("Classes cannot be collected");
    ResourceType type = resource_types_.find(name);
    if (!type) throw base::plain_error(fmt::format("Resource type {} doesn't exist", name));
    const bool exported = node.query && node.query->kind == syntax::NodeKind::ExportedQuery;
    const syntax::Node* expr = nullptr;
    if (exported) {
        expr = syntax::to<syntax::ExportedQuery>(node.query).expr;
    } else if (const auto* q = syntax::as<syntax::VirtualQuery>(node.query)) {
        expr = q->expr;
    }
    auto collector = std::make_unique<Collector>(
        exported ? Collector::Kind::Exported : Collector::Kind::Catalog, &scope.base());
    collector->type = type;
    collector->source = Scopes::source(&scope);
    collector->file = file_of(&node);
    collector->line = line_of(&node);
    if (!node.operations.empty()) {
        collector->has_overrides = true;
        collector->overrides = params_from(overrides, scope);
    }
    collector->query = build_query(*this, expr, scope);
    if (exported) collector->store_query = build_store_query(*this, expr, scope);
    if (History* h = history()) [[unlikely]]
        h->collecting(*collector, overrides);
    return Value::extension(value::Kind::Closure,
                            arena().make<CollectorValue>(&collectors_.add(std::move(collector))));
}

Value Compilation::resource_parameter(Interpreter&, Scope&, const types::Reference& ref,
                                      std::string_view parameter, const syntax::Node*) {
    Resource* r = table_.find(ref);
    if (!r) {
        throw PuppetError(fmt::format("Resource not found: {}['{}']", ref.type_name, ref.title),
                          "UNKNOWN_RESOURCE");
    }
    bool valid = true;
    if (r->type.kind == ResourceType::Kind::Native) {
        valid = parameter == "name" || restype::is_metaparameter(parameter) ||
                r->type.spec->find(parameter);
    } else if (r->type.definition) {
        definitions_.prepare(*r->type.definition, *interpreter_);
        valid = parameter != "title" &&
                r->type.definition->parameter_index(parameter) != Definition::kUnknown;
    }
    if (!valid) {
        std::string shown(ref.type_name);
        for (std::size_t i = 0; i < shown.size(); ++i) {
            shown[i] =
                static_cast<char>(i == 0 ? std::toupper(static_cast<unsigned char>(shown[i]))
                                         : std::tolower(static_cast<unsigned char>(shown[i])));
        }
        throw PuppetError(fmt::format("The resource {}['{}'] does not have a parameter called '{}'",
                                      shown, ref.title, parameter),
                          "UNKNOWN_RESOURCE_PARAMETER");
    }
    if (parameter == "title") return Value::string(r->title);
    if (const Value* v = r->get(parameter)) return *v;
    for (const auto& p : Scopes::defaults(r->scope, r->type)) {
        if (p.name == parameter) return p.value;
    }
    return Value::undef();
}

std::vector<Value> Compilation::include_classes(Interpreter&, Scope& scope,
                                                std::span<const std::string_view> names,
                                                const syntax::Node*) {
    std::vector<std::string_view> absolute;
    for (auto n : names)
        absolute.push_back(n.starts_with("::") ? n : arena().copy("::" + std::string(n)));
    std::vector<Value> out;
    for (Resource* r : evaluate_classes(absolute, &scope.base(), Evaluation::Now))
        out.push_back(Value::type(reference_to(*r)));
    return out;
}

void Compilation::contain_classes(Interpreter&, Scope& scope,
                                  std::span<const std::string_view> names, const syntax::Node*) {
    std::vector<std::string_view> absolute;
    for (auto n : names)
        absolute.push_back(n.starts_with("::") ? n : arena().copy("::" + std::string(n)));
    Resource* container = Scopes::resource(&scope);
    for (Resource* r : evaluate_classes(absolute, &scope.base(), Evaluation::Now)) {
        if (container) table_.add_edge(*container, *r);
    }
}

void Compilation::require_classes(Interpreter&, Scope& scope,
                                  std::span<const std::string_view> names, const syntax::Node*) {
    std::vector<std::string_view> absolute;
    for (auto n : names)
        absolute.push_back(n.starts_with("::") ? n : arena().copy("::" + std::string(n)));
    evaluate_classes(absolute, &scope.base(), Evaluation::Now);
    Resource* resource = Scopes::resource(&scope);
    if (!resource) return;
    for (auto n : names) {
        Definition* d = definitions_.find_class(n);
        std::vector<Value> items;
        auto flatten = [&](auto&& self, const Value& v) -> void {
            if (v.is_array()) {
                for (const auto& item : v.as_array()) self(self, item);
            } else if (!v.is_undef()) {
                items.push_back(v);
            }
        };
        if (const Value* v = resource->get("require")) flatten(flatten, *v);
        items.push_back(Value::type(types::class_ref(types(), d->name)));
        Param p;
        p.name = "require";
        p.value = Value::array(arena().copy(std::span<const Value>(items)));
        p.source = resource->source;
        set_parameter(*resource, p);
        if (History* h = history()) [[unlikely]]
            h->set(*resource, p.name, History::Origin::Kind::Requirement);
    }
}

void Compilation::realize(Interpreter&, Scope& scope, std::span<const types::Reference> references,
                          const syntax::Node*) {
    auto collector = std::make_unique<Collector>(Collector::Kind::Fixed, &scope.base());
    for (auto ref : references) {
        ref.title = arena().copy(ref.title);
        ref.type_name = arena().copy(ref.type_name);
        collector->wanted.push_back(ref);
    }
    if (History* h = history()) [[unlikely]]
        h->collecting(*collector, {});
    collectors_.add(std::move(collector));
}

// Sets a default of every native type in this scope, like the module `noop`. Classes and defines
// that are declared from here inherit it, because defaults are dynamic. Throws if no module has the
// function.
void Compilation::set_noop(Scope& scope, std::optional<bool> noop) {
    if (!request_.environment->ruby_function_file("noop"))
        throw PuppetError("Unknown function: 'noop'.", "UNKNOWN_FUNCTION");
    auto& params = scopes_.of(scope).every_type;
    const Value value = noop ? Value::boolean(*noop) : Value::undef();
    params.assign(1, Param{.name = "noop", .value = value});
}

void Compilation::tag(Scope& scope, std::span<const std::string_view> tags) {
    Resource* resource = Scopes::resource(&scope);
    if (!resource) return;
    for (auto t : tags) {
        try {
            compiler::tag(resource->tags, tag_table_, t);
        } catch (PuppetError& error) {
            if (resource->line > 0) error.at({std::string(resource->file), resource->line, 0});
            throw;
        }
    }
}

bool Compilation::tagged(Scope& scope, std::span<const std::string_view> tags) {
    Resource* resource = Scopes::resource(&scope);
    return std::all_of(tags.begin(), tags.end(), [&](std::string_view t) {
        std::string name(t);
        base::make_lower(name);
        auto id = tag_table_.find(name);
        if (id == 0) return false;
        return tags_.has(id) || (resource && raw_tagged(*resource, id));
    });
}

bool Compilation::resource_declared(std::string_view type_name, std::string_view title) {
    return table_.find(type_name, title) != nullptr;
}

std::vector<std::string_view> Compilation::declared_titles(std::string_view type_name) {
    std::vector<std::string_view> out;
    for (const Resource* r : table_.all()) {
        if (r->type.name == type_name) out.push_back(r->title);
    }
    return out;
}

std::string Compilation::declared_reference(std::string_view type_name, std::string_view title) {
    const Resource* r = table_.find(type_name, title);
    return r ? r->ref() : std::string();
}

Value Compilation::declared_parameter(std::string_view type_name, std::string_view title,
                                      std::string_view parameter) {
    const Resource* r = table_.find(type_name, title);
    if (!r) return Value::undef();
    if (parameter == "title") return Value::string(r->title);
    const Value* v = r->get(parameter);
    return v ? *v : Value::undef();
}

bool Compilation::class_declared(std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    return table_.find("Class", name) != nullptr;
}

bool Compilation::class_known(std::string_view name) {
    return definitions_.find_class(name) != nullptr;
}

bool Compilation::define_known(std::string_view name) {
    return definitions_.find_define(name) != nullptr;
}

bool Compilation::resource_type_known(std::string_view name) {
    return resource_types_.find(name).builtin();
}

std::string Compilation::scope_label(Scope& scope) {
    const Resource* resource = Scopes::resource(&scope);
    return resource ? fmt::format("Scope({})", resource->ref()) : std::string("Scope()");
}

Scope* Compilation::class_scope(std::string_view class_name) {
    if (class_name.starts_with("::")) class_name.remove_prefix(2);
    if (class_name == "settings" && settings_scope_) {
        populate_settings();
        return settings_scope_;
    }
    if (auto it = class_scopes_.find(class_name); it != class_scopes_.end()) return it->second;
    return nullptr;
}

}  // namespace bunraku::compiler
