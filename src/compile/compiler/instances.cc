// SPDX-License-Identifier: Apache-2.0
// Evaluation of classes, defines and nodes (Puppet::Resource::Type).
#include <algorithm>
#include <fmt/format.h>

#include "compile/compiler/compilation.h"
#include "core/base/plain_error.h"
#include "core/value/build.h"
#include "core/value/text.h"
#include "language/function/table.h"
#include "language/types/kinds.h"
#include "language/types/mismatch.h"
#include "language/types/object.h"

namespace bunraku::compiler {

using base::PuppetError;
using base::Symbol;
using evaluator::ScopeKind;

namespace {

const Symbol& symbol(std::string_view name) {
    static const Symbol kTitle = Symbol::intern("title");
    static const Symbol kName = Symbol::intern("name");
    static const Symbol kModule = Symbol::intern("module_name");
    static const Symbol kCaller = Symbol::intern("caller_module_name");
    switch (name[0]) {
        case 't': return kTitle;
        case 'n': return kName;
        case 'm': return kModule;
        default: return kCaller;
    }
}

}  // namespace

Scope* Compilation::new_scope(Scope* dynamic_parent, const Definition* source, Resource* resource) {
    Scope& outer = dynamic_parent->base();
    // Variable lookup continues in the inherited class, or else in the nearest outer node or top
    // scope.
    Scope* enclosing = &outer;
    while (enclosing->kind != ScopeKind::Top && enclosing->kind != ScopeKind::Node &&
           enclosing->dynamic_parent)
        enclosing = enclosing->dynamic_parent;
    ScopeKind kind = source->kind == Definition::Kind::Class  ? ScopeKind::Class
                     : source->kind == Definition::Kind::Node ? ScopeKind::Node
                                                              : ScopeKind::Define;
    Scope* parent = enclosing;
    if (kind == ScopeKind::Class && !source->parent_name.empty()) {
        auto it = class_scopes_.find(definitions_.parent_of(*const_cast<Definition*>(source)).name);
        if (it != class_scopes_.end()) parent = it->second;
    }
    Scope* scope = interpreter_->new_scope(kind, parent);
    scope->dynamic_parent = &outer;
    scope->name = source->name;
    ScopeData& data = scopes_.of(*scope);
    data.resource = resource;
    data.source = source;
    return scope;
}

void Compilation::finish_evaluation(Resource& resource) {
    if (resource.evaluation_finished) return;
    Resource* container = Scopes::resource(resource.scope);
    if (container && container != &resource) resource.tags.merge(container->tags);
    resource.evaluation_finished = true;
}

void Compilation::instantiate_resource(Definition& definition, Scope* scope, Resource& resource) {
    if (!definition.parent_name.empty() &&
        !table_.find(resource.type.name, definition.parent_name.starts_with("::")
                                             ? definition.parent_name.substr(2)
                                             : definition.parent_name)) {
        ensure_in_catalog(definitions_.parent_of(definition), scope, nullptr);
    }
    if (History* h = history(); h && !definition.parent_name.empty()) [[unlikely]] {
        const auto& parent = definitions_.parent_of(definition);
        if (const Resource* known = table_.find(resource.type.name, parent.name))
            h->included(*known, &resource);
    }
    if (resource.is_class() || resource.type.kind == ResourceType::Kind::Node)
        tags_.merge(resource.tags);
}

Resource& Compilation::ensure_in_catalog(Definition& definition, Scope* scope,
                                         const std::vector<Param>* parameters) {
    ResourceType type;
    type.definition = &definition;
    if (definition.kind == Definition::Kind::Node) {
        type.kind = ResourceType::Kind::Node;
        type.name = "Node";
    } else {
        type.kind = ResourceType::Kind::Class;
        type.name = "Class";
    }
    if (!parameters) {
        if (Resource* existing = table_.find(type.name, definition.name)) return *existing;
    }
    std::vector<Param> params;
    if (parameters) params = *parameters;
    for (auto& p : params) p.source = &definition;
    Resource& resource = make_resource({.type = type,
                                        .title = definition.name,
                                        .scope = scope,
                                        .params = std::move(params),
                                        .source = &definition});
    instantiate_resource(definition, scope, resource);
    add_resource(scope, resource);
    return resource;
}

std::vector<Resource*> Compilation::evaluate_classes(std::span<const std::string_view> names,
                                                     Scope* scope, Evaluation when) {
    std::vector<Definition*> found;
    for (auto name : names) {
        Definition* d = definitions_.find_class(name);
        if (!d) {
            throw base::plain_error(
                fmt::format("Could not find class {} for {}", name, request_.node.name));
        }
        definitions_.prepare(
            *d, *interpreter_);  // when the class is loaded, before its parent is evaluated
        found.push_back(d);
    }
    std::vector<Resource*> already, fresh;
    for (Definition* d : found) {
        auto it = class_scopes_.find(d->name);
        Resource* known = it == class_scopes_.end() ? nullptr : Scopes::resource(it->second);
        if (known) {
            already.push_back(known);
        } else {
            fresh.push_back(&ensure_in_catalog(*d, scope, nullptr));
        }
    }
    if (History* h = history()) [[unlikely]] {
        for (const auto* list : {&already, &fresh})
            for (const Resource* r : *list) h->included(*r);
    }
    if (when == Evaluation::Now) {
        for (Resource* r : fresh) evaluate_resource(*r);
    }
    already.insert(already.end(), fresh.begin(), fresh.end());
    return already;
}

void Compilation::evaluate_resource(Resource& resource) {
    if (resource.evaluated) return;
    resource.evaluated = true;
    if (!resource.type.definition) {
        throw base::plain_error(fmt::format("Cannot find definition {}", resource.type.name));
    }
    finish_evaluation(resource);
    evaluate_code(resource);
}

void Compilation::add_edge_to_stage(Resource& resource) {
    if (!resource.is_class()) return;
    const Value* wanted = resource.get("stage");
    Resource* container = Scopes::resource(resource.scope);
    const Value* inherited = nullptr;
    if (!wanted && container) inherited = container->get("stage");
    const Value* name = wanted ? wanted : inherited;
    std::string title = "main";
    Resource* stage = nullptr;
    if (name) {
        auto ref = name->is_type() ? types::as_reference(name->as_type()) : std::nullopt;
        title = ref ? std::string(ref->title) : value::to_text(*name);
    }
    stage = table_.find("Stage", title);
    if (!stage) {
        throw base::plain_error(fmt::format("Could not find stage {} specified by {}",
                                            wanted ? value::to_text(*wanted) : std::string("main"),
                                            resource.ref()));
    }
    if (!wanted && !stage->title_is_main) {
        Param p;
        p.name = "stage";
        p.value = Value::string(stage->title);
        p.source = resource.source;
        set_parameter(resource, p);
    }
    table_.add_edge(*stage, resource);
}

void Compilation::evaluate_code(Resource& resource) {
    evaluating_.push_back(&resource);
    struct Leave {
        std::vector<const Resource*>& evaluating;
        ~Leave() { evaluating.pop_back(); }
    } const leave{evaluating_};
    Definition& definition = *resource.type.definition;
    const RecordedBody recorded(history(), resource, definition.node);
    Scope* outer = resource.scope;
    if (!definition.parent_name.empty()) {
        Definition& parent = definitions_.parent_of(definition);
        Resource* parent_resource = table_.find("Class", parent.name);
        if (!parent_resource) parent_resource = table_.find("Node", parent.name);
        if (parent_resource) {
            evaluate_resource(*parent_resource);
            auto it = class_scopes_.find(parent.name);
            if (it == class_scopes_.end()) {
                throw base::plain_error(fmt::format("Could not find scope for {}", parent.name));
            }
            outer = it->second;
        }
    }
    Scope* scope = resource.title_is_main ? outer : new_scope(outer, &definition, &resource);
    if (definition.kind != Definition::Kind::Define && !definition.name.empty()) {
        classes_.push_back(definition.name);
        compiler::tag(tags_, tag_table_, definition.name);
    }
    set_resource_parameters(resource, *scope, definition);
    add_edge_to_stage(resource);

    if (definition.kind == Definition::Kind::Node && node_match_) {
        auto groups = arena().array<Value>(node_match_->groups.size());
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (node_match_->took_part(i))
                groups[i] = value::make_string(arena(), node_match_->group(node_match_subject_, i));
        }
        scope->match = groups;
        scope->has_match = true;
    }
    if (resource.title_is_main) {
        // The main class contains the code of all manifests, one after the other.
        for (std::size_t i = 0; i < definition.programs.size(); ++i)
            interpreter_->evaluate_program(*definition.programs[i], *scope);
    } else if (definition.body) {
        interpreter_->evaluate_body(definition.body, *scope);
    }
}

// TypeMismatchDescriber#get_deferred_function_return_type, including its bugs: Puppet fails with an
// internal error if the function does not exist.
const types::Type* Compilation::deferred_type(const Value& later) {
    auto& in = *interpreter_;
    auto attribute = [&](std::string_view name) {
        return types::object_attribute(types(), later, name).value_or(Value::undef());
    };
    const std::string name = value::to_text(attribute("name"));
    const Value given = attribute("arguments");
    const auto args = given.is_array() ? given.as_array() : std::span<const Value>();
    const auto* function = name.starts_with('$') ? nullptr : in.find_callable(name);
    if (!function) throw PuppetError("undefined method `dispatcher' for NilClass:Class");
    // Puppet's built-in functions with a declared return type. The others have none.
    static constexpr std::pair<std::string_view, std::string_view> kDeclared[] = {
        {"alert", "Undef"},
        {"crit", "Undef"},
        {"debug", "Undef"},
        {"emerg", "Undef"},
        {"epp", "Variant[String, Sensitive[String]]"},
        {"err", "Undef"},
        {"group_by", "Hash"},
        {"info", "Undef"},
        {"inline_epp", "Variant[String, Sensitive[String]]"},
        {"notice", "Undef"},
        {"partition", "Tuple[Array, Array]"},
        {"warning", "Undef"},
    };
    const types::Type* returns = nullptr;
    bool fits = false;
    const auto* builtin = function::builtin_functions().find(name);
    const auto* signature =
        builtin && builtin->legacy_arity != evaluator::kTyped ? nullptr : function->signature(in);
    auto ask = [&](const types::Type* t) {
        const auto* callable = types::as<types::CallableType>(t);
        if (fits || !callable || !types::accepts_call(types(), callable, args)) return;
        fits = true;
        returns = callable->returns;
    };
    if (!signature) {
        fits = true;  // 3.x API: accepts any arguments
    } else if (const auto* variant = types::as<types::VariantType>(signature)) {
        for (const auto* each : variant->types) ask(each);
    } else {
        ask(signature);
    }
    if (!fits) {
        std::string shown;
        value::print_inspect(shown, value::make_array(arena(), args));
        throw PuppetError(
            fmt::format("No matching arity found for {} with arguments {}", name, shown));
    }
    for (const auto& [declared, type] : kDeclared)
        if (!returns && name == declared) returns = types::parse_type(types(), type);
    if (!returns) {
        in.warn_once(
            fmt::format("Deferred function {} has no return_type, unable to guarantee value "
                        "type during compilation.\n   (file & line not available)",
                        name),
            "", nullptr);
    }
    return returns;
}

void Compilation::validate_hash(const Resource& resource, Definition& definition,
                                const value::HashRep& given) {
    definitions_.prepare(definition, *interpreter_);
    auto checks = definition.table->checks;
    auto add = [&](std::string_view name) {
        const bool listed = std::any_of(checks.begin(), checks.end(),
                                        [&](const auto& c) { return c.name == name; });
        if (!listed) checks.push_back({name, nullptr, false});
    };
    add("name");
    for (const auto& meta : restype::metaparameters()) add(meta.name);
    types::validate_parameters(types(), resource.ref(), checks, given, false,
                               [this](const Value& later) { return deferred_type(later); });
}

/// Sets the parameters of a class or define, and the variables of its scope.
class Compilation::ParameterSetter {
public:
    ParameterSetter(Compilation& compilation, Resource& resource, Scope& scope,
                    Definition& definition)
        : compilation_(compilation),
          resource_(resource),
          scope_(scope),
          definition_(definition),
          at_(definition.parameters.size(), -1) {
        for (std::size_t i = 0; i < resource.params.size(); ++i) {
            const int index = definition.parameter_index(resource.params[i].name);
            if (index >= 0) {
                at_[static_cast<std::size_t>(index)] = static_cast<int>(i);
            } else if (index == Definition::kUnknown) {
                unknown_ = true;
            }
        }
    }

    void set_module_names();
    void look_up_parameters();
    void set_title_and_name();
    void set_given_parameters();
    void set_defaults();
    void check_types();

private:
    const Param* param(std::size_t i) const {
        return at_[i] >= 0 ? &resource_.params[static_cast<std::size_t>(at_[i])] : nullptr;
    }
    bool given(std::size_t i) const {
        const Param* p = param(i);
        return p != nullptr && !p->value.is_undef();
    }
    bool needs_default(std::size_t i) const {
        return definition_.parameters[i]->value && !given(i);
    }
    void set(std::size_t i, const Value& v);
    Value default_value(std::size_t i, evaluator::PendingParameters& pending);

    Compilation& compilation_;
    Resource& resource_;
    Scope& scope_;
    Definition& definition_;
    /// Index of each parameter in resource.params, or -1 if it is absent. A linear search would be
    /// slow, because classes with hundreds of parameters are common.
    std::vector<int> at_;
    bool unknown_ = false;  ///< the resource has a parameter that the definition does not have
};

namespace {

void refuse_reserved(std::string_view name) {
    if (name == "trusted" || name == "facts" || name == "server_facts") {
        throw base::plain_error(
            fmt::format("Attempt to assign to a reserved variable name: '{}'", name));
    }
}

}  // namespace

void Compilation::set_resource_parameters(Resource& resource, Scope& scope,
                                          Definition& definition) {
    definitions_.prepare(definition, *interpreter_);
    ParameterSetter setter(*this, resource, scope, definition);
    setter.set_module_names();
    setter.look_up_parameters();
    setter.set_title_and_name();
    if (definition.kind != Definition::Kind::Define) class_scopes_[definition.name] = &scope;
    setter.set_given_parameters();
    setter.set_defaults();
    setter.check_types();
}

void Compilation::ParameterSetter::set_module_names() {
    if (const Value* v = resource_.get("module_name")) {
        scope_.set_local(symbol("module_name"), *v);
    } else if (definition_.has_module) {
        scope_.set_local(symbol("module_name"), Value::string(definition_.module_name));
    }
    if (const Value* v = resource_.get("caller_module_name")) {
        scope_.set_local(symbol("caller_module_name"), *v);
    } else if (scope_.dynamic_parent) {
        const Definition* caller = Scopes::source(scope_.dynamic_parent);
        if (caller && caller->has_module)
            scope_.set_local(symbol("caller_module_name"), Value::string(caller->module_name));
    }
}

void Compilation::ParameterSetter::set(std::size_t i, const Value& v) {
    Param param{.name = definition_.parameters[i]->name, .value = v, .source = resource_.source};
    if (at_[i] >= 0 || param.name == "tag") {
        compilation_.set_parameter(resource_, param);
    } else {
        resource_.params.push_back(param);
    }
    if (at_[i] < 0) at_[i] = static_cast<int>(resource_.params.size()) - 1;
}

/// Looks up the parameters of a class that were not given in Hiera.
void Compilation::ParameterSetter::look_up_parameters() {
    const Request& request = compilation_.request_;
    if (definition_.kind != Definition::Kind::Class || at_.empty() || !request.lookup_parameters ||
        !request.services.lookup) {
        return;
    }
    for (std::size_t i = 0; i < at_.size(); ++i) {
        const auto* p = definition_.parameters[i];
        if (given(i)) continue;
        auto found = request.services.lookup->class_parameter(*compilation_.interpreter_, scope_,
                                                              definition_.name, p->name,
                                                              definition_.table->checks[i].type);
        if (!found || (found->is_undef() && p->value)) continue;
        set(i, *found);
        if (History* h = compilation_.history()) [[unlikely]]
            h->set(resource_, p->name, History::Origin::Kind::Data);
    }
}

void Compilation::ParameterSetter::set_title_and_name() {
    base::Arena& a = compilation_.arena();
    const Value* name = resource_.get("name");
    Value title = Value::string(resource_.title);
    if (definition_.kind == Definition::Kind::Class) {
        title = Value::string(downcase(a, resource_.title));
        scope_.set_local(symbol("title"), title);
        scope_.set_local(
            symbol("name"),
            name ? value::make_string(a, downcase(a, a.copy(value::to_text(*name)))) : title);
    } else {
        scope_.set_local(symbol("title"), title);
        scope_.set_local(symbol("name"), name ? *name : title);
    }
}

/// The default expressions can read all given parameters, in any order.
void Compilation::ParameterSetter::set_given_parameters() {
    for (const auto& p : resource_.params) {
        if (p.name == "name" || p.name == "title") continue;
        refuse_reserved(p.name);
        scope_.set_local(Symbol::intern(p.name), p.value);
    }
}

void Compilation::ParameterSetter::set_defaults() {
    std::size_t i = 0;
    while (i < at_.size() && !needs_default(i)) ++i;
    if (i == at_.size()) return;
    const std::string callee = resource_.ref();
    evaluator::PendingParameters pending;
    pending.callee = callee;
    pending.names = definition_.table->symbols;
    pending.read_only = true;
    for (; i < at_.size(); ++i) {
        if (!needs_default(i)) continue;
        const auto* p = definition_.parameters[i];
        const Value v = default_value(i, pending);
        set(i, v);
        if (History* h = compilation_.history()) [[unlikely]]
            h->set_by_definition(resource_, *p);
        refuse_reserved(p->name);
        scope_.set_local(definition_.table->symbols[i], v);
    }
}

Value Compilation::ParameterSetter::default_value(std::size_t i,
                                                  evaluator::PendingParameters& pending) {
    struct Pending {
        Pending(Scope& scope, evaluator::PendingParameters& parameters) : scope_(scope) {
            scope.pending = &parameters;
        }
        ~Pending() { scope_.pending = nullptr; }
        Scope& scope_;
    };
    pending.current = i;
    const Pending set(scope_, pending);
    try {
        evaluator::MatchGuard guard(scope_);
        return compilation_.convert(
            compilation_.interpreter_->evaluate_default(*definition_.parameters[i], scope_));
    } catch (PuppetError& error) {
        // An error of a lookup gets the location of the definition.
        if (!error.located() && error.verbatim && !definition_.file.empty())
            error.at({std::string(definition_.file), definition_.line, 0});
        throw;
    }
}

void Compilation::ParameterSetter::check_types() {
    // Fast path: all values fit. Only a mismatch needs a message.
    bool fits = !unknown_;
    for (std::size_t i = 0; i < at_.size() && fits; ++i) {
        const auto& check = definition_.table->checks[i];
        const Param* p = param(i);
        fits = p ? !check.type || types::is_instance(compilation_.types(), check.type, p->value)
                 : !check.required;
    }
    if (fits) return;
    value::HashBuilder values(compilation_.arena());
    for (std::size_t i = 0; i < at_.size(); ++i) {
        if (const Param* p = resource_.find(definition_.table->checks[i].name))
            values.set(p->name, p->value);
    }
    for (const auto& p : resource_.params) {
        if (p.name != "name" && p.name != "title") values.set(p.name, p.value);
    }
    const Value hash = values.build();
    compilation_.validate_hash(resource_, definition_, hash.as_hash());
}

}  // namespace bunraku::compiler
