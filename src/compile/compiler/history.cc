// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/history.h"

#include <algorithm>

#include "compile/compiler/compilation.h"

namespace bunraku::compiler {

using evaluator::ScopeKind;
using syntax::NodeKind;

namespace {

bool is_body_scope(const Scope& scope) {
    return scope.kind == ScopeKind::Function || scope.kind == ScopeKind::Local;
}

}  // namespace

std::vector<History::Id> History::inside(Id id) const {
    std::vector<Id> out;
    for (Id i = id + 1; i < events_[id].end; i = events_[i].end) out.push_back(i);
    return out;
}

std::vector<History::Origin> History::origins(const Resource& resource,
                                              std::string_view parameter) const {
    std::vector<Origin> out;
    const auto it = origins_.find(&resource);
    if (it == origins_.end()) return out;
    for (const auto& each : it->second)
        if (each.parameter == parameter) out.push_back(each);
    return out;
}

std::vector<History::Inclusion> History::inclusions(const Resource& resource) const {
    std::vector<Inclusion> out;
    for (const auto& each : inclusions_)
        if (each.resource == &resource) out.push_back(each);
    return out;
}

std::vector<const History::Collection*> History::collections(const Resource& resource) const {
    std::vector<const Collection*> out;
    for (const auto& each : collections_)
        if (std::ranges::find(each.found, &resource) != each.found.end()) out.push_back(&each);
    return out;
}

std::optional<History::Id> History::declaration(const Resource& resource) const {
    const auto it = declarations_.find(&resource);
    return it == declarations_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<History::Id> History::body(const Resource& resource) const {
    const auto it = bodies_.find(&resource);
    return it == bodies_.end() ? std::nullopt : std::optional(it->second);
}

const Resource* History::body_around(Id id) const {
    for (; id != kStart; id = events_[id].parent)
        if (events_[id].resource && events_[id].name.empty()) return events_[id].resource;
    return nullptr;
}

void History::begin(Compilation& compilation) {
    compilation_ = &compilation;
    events_.assign(1, Event{});
    compilation.interpreter().watcher = this;
}

void History::end() {
    compilation_->interpreter().watcher = nullptr;
    while (current_ != kStart) leave(nullptr);
    events_[kStart].end = static_cast<Id>(events_.size());
    ended_(*this, *compilation_);
}

History::Event& History::add(const syntax::Node* node, const Scope* scope) {
    Event& event = events_.emplace_back();
    event.node = node;
    event.scope = scope;
    event.local = scope && is_body_scope(*scope);
    event.in_function = scope && scope->kind == ScopeKind::Function;
    event.parent = current_;
    event.end = static_cast<Id>(events_.size());
    return event;
}

void History::enter(const syntax::Node& node, Scope& scope) {
    const Event& outer = events_[current_];
    const Id call = current_;
    const bool opens = is_body_scope(scope) && outer.scope != &scope;
    Event& event = add(&node, &scope);
    current_ = static_cast<Id>(events_.size() - 1);
    if (opens) opened_[&scope] = {call, current_};
    if (cut()) compilation_->interpreter().watcher = nullptr;
    if (node.kind != NodeKind::VariableExpression) return;
    const auto& variable = syntax::to<syntax::VariableExpression>(&node);
    if (variable.numeric) return;
    event.name = variable.name.view();
    find_source(event, scope, event.name);
}

void History::leave(const Value* v) {
    Event& event = events_[current_];
    event.end = static_cast<Id>(events_.size());
    if (v) event.value = *v;
    event.failed = v == nullptr;
    const Id id = current_;
    current_ = event.parent;
    const auto* assignment = syntax::as<syntax::AssignmentExpression>(event.node);
    if (!v || !assignment) return;
    auto assign = [&](auto&& self, const syntax::Node* target) -> void {
        if (const auto* one = syntax::as<syntax::VariableExpression>(target))
            assigned_[{event.scope, one->name.view()}] = id;
        if (const auto* list = syntax::as<syntax::LiteralList>(target))
            for (const auto* each : list->values) self(self, each);
    };
    assign(assign, assignment->left);
}

void History::variable_read(Scope& scope, std::string_view name, const Value* v) {
    Event& event = add(nullptr, &scope);
    event.name = compilation_->arena().copy(name);
    if (v) event.value = *v;
    find_source(event, scope, event.name);
}

void History::find_source(Event& event, const Scope& scope, std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    const Scope* holder = nullptr;
    if (const auto at = name.rfind("::"); at != std::string_view::npos) {
        const auto owner = name.substr(0, at);
        if (owner == "settings") {
            event.from = From::Setting;
            return;
        }
        name = name.substr(at + 2);
        holder = compilation_->class_scope(owner);
        while (holder && holder->kind == ScopeKind::Class && !holder->find_local(name))
            holder = holder->parent;
    } else {
        for (holder = &scope; holder && !holder->find_local(name);) holder = holder->parent;
    }
    if (!holder) return;
    const auto it = assigned_.find({holder, name});
    const auto opened = opened_.find(holder);
    const bool body = is_body_scope(*holder);
    if (it != assigned_.end() &&
        (!body || opened == opened_.end() || it->second >= opened->second.first)) {
        event.from = From::Assignment;
        event.source = it->second;
    } else if (body) {
        event.from = From::Argument;
        event.source = opened == opened_.end() ? event.parent : opened->second.call;
    } else if (holder->kind == ScopeKind::Top) {
        event.from = From::Top;
    } else {
        const auto* data = Scopes::on(*holder);
        event.from = From::Parameter;
        event.resource = data ? data->resource : nullptr;
    }
}

void History::enter_body(const Resource& resource, const syntax::Node* definition) {
    Event& event = add(definition, nullptr);
    event.resource = &resource;
    current_ = static_cast<Id>(events_.size() - 1);
    bodies_[&resource] = current_;
}

void History::leave_body() {
    const Id id = current_;
    leave(nullptr);
    events_[id].failed = false;
}

History::Origin History::origin(std::string_view parameter, const syntax::Node* site,
                                Origin::Kind kind) const {
    return {.kind = kind, .parameter = parameter, .event = current_, .site = site};
}

void History::declared(const Resource& resource, std::span<const evaluator::Attribute> attributes,
                       Origin::Kind kind) {
    declarations_[&resource] = current_;
    auto& all = origins_[&resource];
    for (const auto& each : attributes) {
        all.push_back(origin(each.name, each.site, kind));
        all.back().appended = each.append;
    }
}

void History::set(const Resource& resource, std::string_view parameter, Origin::Kind kind,
                  const Resource* other) {
    Origin made = origin(parameter, nullptr, kind);
    made.other = other;
    if (kind == Origin::Kind::Relation && relation_ < relations_.size()) {
        made.event = relations_[relation_];
        made.appended = true;
    }
    origins_[&resource].push_back(made);
}

void History::set_by_definition(const Resource& resource, const syntax::Parameter& parameter) {
    Origin made = origin(parameter.name, parameter.value, Origin::Kind::Default);
    auto last = static_cast<Id>(events_.size() - 1);
    while (last > current_ && events_[last].parent != current_) last = events_[last].parent;
    made.event = last > current_ && events_[last].node == parameter.value ? last : kStart;
    origins_[&resource].push_back(made);
}

void History::default_set(const Scope& scope, std::string_view type,
                          std::span<const evaluator::Attribute> attributes) {
    for (const auto& each : attributes)
        defaults_.emplace_back(DefaultKey{&scope, type, each.name},
                               origin(each.name, each.site, Origin::Kind::ResourceDefault));
}

void History::set_by_default(const Resource& resource, std::string_view parameter,
                             const Scope* scope) {
    for (const Scope* s = scope; s; s = s->dynamic_parent) {
        for (auto it = defaults_.rbegin(); it != defaults_.rend(); ++it) {
            if (it->first != DefaultKey{s, resource.type.name, parameter}) continue;
            origins_[&resource].push_back(it->second);
            return;
        }
    }
    set(resource, parameter, Origin::Kind::ResourceDefault);
}

void History::collecting(const Collector& collector,
                         std::span<const evaluator::Attribute> overrides) {
    collections_.push_back({&collector, current_, {}});
    std::vector<Origin> all;
    for (const auto& each : overrides) {
        all.push_back(origin(each.name, each.site, Origin::Kind::Collector));
        all.back().appended = each.append;
    }
    collector_overrides_.emplace_back(&collector, std::move(all));
}

void History::collected(const Collector& collector, const Resource& resource) {
    for (auto& each : collections_) {
        if (each.collector != &collector) continue;
        if (std::ranges::find(each.found, &resource) == each.found.end())
            each.found.push_back(&resource);
    }
}

void History::overriding(const Collector& collector, const Resource& over) {
    for (const auto& [known, origins] : collector_overrides_)
        if (known == &collector) origins_[&over] = origins;
}

void History::merged(const Resource& target, const Resource& over, const Param& param) {
    const auto found = origins(over, param.name);
    if (found.empty()) return;
    origins_[&target].push_back(found.back());
    origins_[&target].back().appended = param.append;
}

void History::included(const Resource& resource, const Resource* subclass) {
    for (const auto& each : inclusions_)
        if (each.resource == &resource && each.event == current_ && each.subclass == subclass)
            return;
    inclusions_.push_back({&resource, current_, subclass});
}

}  // namespace bunraku::compiler
