// SPDX-License-Identifier: Apache-2.0
// The last passes: relationships, remaining overrides, checks, inherited metaparameters.
#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

#include "compile/compiler/compilation.h"
#include "core/base/plain_error.h"

namespace bunraku::compiler {

using base::PuppetError;

namespace {

constexpr std::string_view kRelationshipNames[] = {"require", "subscribe", "before", "notify"};

bool is_relationship(std::string_view name) {
    return std::find(std::begin(kRelationshipNames), std::end(kRelationshipNames), name) !=
           std::end(kRelationshipNames);
}

std::string reference_text(const types::Type* type) {
    auto ref = types::as_reference(type);
    if (!ref) return type->to_string();
    return fmt::format("{}[{}]", ref->type_name, ref->title);
}

std::string text_of(const Value& v) {
    return v.is_type() ? reference_text(v.as_type()) : value::to_text(v);
}

}  // namespace

/// Lists that several resources share. A list that was given to several resources (two titles of
/// one body, a variable, a default) is one object in Puppet. A relationship that extends the list
/// extends it for all of them.
struct Compilation::SharedLists {
    struct Holder {
        Resource* resource;
        std::string_view parameter;
    };
    std::unordered_map<const Value*, std::vector<Holder>> holders;
    std::unordered_set<const Value*> own;  ///< made by a relationship for one resource
    bool known = false;

    /// Returns the resources that share the list, or null if only one has it. Indexes all lists on
    /// the first call with a list that no relationship made.
    std::vector<Holder>* of(const Value* items, std::span<Resource* const> resources) {
        if (!items || own.contains(items)) return nullptr;
        if (!known) {
            known = true;
            for (Resource* r : resources)
                for (const auto& p : r->params)
                    if (is_relationship(p.name) && p.value.is_array() && p.value.as_array().data())
                        holders[p.value.as_array().data()].push_back({r, p.name});
        }
        const auto it = holders.find(items);
        return it == holders.end() || it->second.size() < 2 ? nullptr : &it->second;
    }
};

void Compilation::make_relationship(SharedLists& shared, const types::Type* source,
                                    Resource* source_resource, const types::Type* target,
                                    Resource* target_resource, bool subscription) {
    auto source_text = source ? reference_text(source) : source_resource->ref();
    auto target_text = target ? reference_text(target) : target_resource->ref();
    if (source) source_resource = table_.find_reference(source_text);
    if (!source_resource) {
        throw base::plain_error(fmt::format("Could not find resource '{}' for relationship on '{}'",
                                            source_text, target_text));
    }
    if (target) target_resource = table_.find_reference(target_text);
    if (!target_resource) {
        throw base::plain_error(fmt::format(
            "Could not find resource '{}' for relationship from '{}'", target_text, source_text));
    }
    std::string_view name = subscription ? "notify" : "before";
    const types::Type* ref = target ? target : reference_to(*target_resource);
    std::vector<Value> items;
    // an array is extended and keeps its location; other values are replaced, without a location
    bool extended = false;
    std::vector<SharedLists::Holder>* group = nullptr;
    if (const Value* v = source_resource->get(name)) {
        if (v->is_array()) {
            extended = true;
            group = shared.of(v->as_array().data(), resources_);
            items.assign(v->as_array().begin(), v->as_array().end());
        } else {
            items.push_back(*v);
        }
    }
    items.push_back(Value::type(ref));
    Value list = Value::array(arena().copy(std::span<const Value>(items)));
    if (group) {
        for (const auto& [resource, parameter] : *group)
            if (Param* p = resource->find(parameter)) {
                p->value = list;
                if (History* h = history()) [[unlikely]]
                    h->set(*resource, parameter, History::Origin::Kind::Relation);
            }
        auto moved = std::move(*group);
        shared.holders[list.as_array().data()] = std::move(moved);
        return;
    }
    shared.own.insert(list.as_array().data());
    if (History* h = history()) [[unlikely]]
        h->set(*source_resource, name, History::Origin::Kind::Relation);
    if (Param* p = source_resource->find(name)) {
        p->value = list;
        if (!extended) {
            p->file = {};
            p->line = 0;
        }
    } else {
        Param param;
        param.name = name;
        param.value = list;
        param.source = source_resource->source;
        source_resource->params.push_back(param);
    }
}

void Compilation::evaluate_relationships() {
    struct End {
        const types::Type* type = nullptr;
        Resource* resource = nullptr;
    };
    // Goes left in a chain until a side is not empty (Relationship#leftmost_alternative).
    auto leftmost = [](auto&& self, Collector* c, std::vector<End>& out, int depth) -> void {
        if (!c->collected.empty()) {
            for (Resource* r : c->collected) out.push_back({nullptr, r});
            return;
        }
        if (!c->has_alternative || depth > 1000) return;
        const auto& alternative = c->empty_alternative;
        if (alternative.size() == 1) {
            if (Collector* inner = collector_of(alternative[0])) {
                self(self, inner, out, depth + 1);
                return;
            }
        }
        for (const auto& v : alternative) {
            if (v.is_type()) out.push_back({v.as_type(), nullptr});
        }
    };
    SharedLists shared;
    for (std::size_t i = 0; i < relationships_.size(); ++i) {
        const Relationship relation = relationships_[i];
        if (History* h = history()) [[unlikely]]
            h->relation(i);
        std::vector<End> sources, targets;
        if (relation.source.collector) {
            leftmost(leftmost, relation.source.collector, sources, 0);
        } else {
            sources.push_back({relation.source.reference, nullptr});
        }
        if (relation.target.collector) {
            for (Resource* r : relation.target.collector->collected)
                targets.push_back({nullptr, r});
        } else {
            targets.push_back({relation.target.reference, nullptr});
        }
        for (const End& s : sources) {
            for (const End& t : targets)
                make_relationship(shared, s.type, s.resource, t.type, t.resource,
                                  relation.subscription);
        }
    }
}

void Compilation::validate_resource(Resource& resource) {
    if (resource.type.kind == ResourceType::Kind::Native) {
        for (const auto& p : resource.params) {
            if (p.name == "name" || restype::is_metaparameter(p.name) ||
                resource.type.spec->find(p.name))
                continue;
            auto where = base::format_location({std::string(resource.file), resource.line, 0});
            throw base::plain_error(fmt::format("no parameter named '{}'{} on {}", p.name,
                                                where.empty() ? "" : " " + where, resource.ref()))
                .at({std::string(resource.file), resource.line, 0});
        }
        return;
    }
    if (resource.type.kind == ResourceType::Kind::Ruby || !resource.type.definition) return;
    Definition& definition = *resource.type.definition;
    definitions_.prepare(definition, *interpreter_);
    bool fits = true;
    std::size_t missing = static_cast<std::size_t>(
        std::count_if(definition.table->checks.begin(), definition.table->checks.end(),
                      [](const auto& c) { return c.required; }));
    for (const auto& p : resource.params) {
        const int index = definition.parameter_index(p.name);
        fits = index != Definition::kUnknown && (index >= 0 || p.name != "title");
        if (index >= 0) {
            const auto& check = definition.table->checks[static_cast<std::size_t>(index)];
            if (check.type && !types::is_instance(types(), check.type, p.value)) fits = false;
            if (check.required) --missing;
        }
        if (!fits) break;
    }
    if (fits && missing == 0) return;
    value::HashBuilder given(arena());
    for (const auto& p : resource.params) given.set(p.name, p.value);
    Value hash = given.build();
    validate_hash(resource, definition, hash.as_hash());
}

void Compilation::finish_resource(Resource& resource) {
    if (resource.finished) return;
    resource.finished = true;
    finish_evaluation(resource);
    for (const auto& p : resource.params) {
        if (p.value.is(value::Kind::Sensitive)) resource.sensitive.push_back(p.name);
    }
    validate_resource(resource);
}

void Compilation::add_metaparameters() {
    // Walks breadth first from Class[main]. A resource without a value inherits that of its
    // container.
    static constexpr std::string_view kNames[] = {"noop",  "schedule", "audit", "loglevel",
                                                  "alias", "tag",      "stage"};
    using Data = std::vector<std::pair<std::string_view, Value>>;
    auto own = [](const Resource& r) {
        Data out;
        const bool any = std::any_of(r.params.begin(), r.params.end(), [](const Param& p) {
            return std::find(std::begin(kNames), std::end(kNames), p.name) != std::end(kNames);
        });
        if (!any) return out;
        for (auto name : kNames) {
            if (const Value* v = r.get(name)) out.emplace_back(name, *v);
        }
        return out;
    };
    // Indexed by position in the catalog.
    std::vector<Data> data(table_.all().size());
    std::vector<bool> seen(table_.all().size());
    std::vector<Resource*> queue{main_resource_};
    for (std::size_t next = 0; next < queue.size(); ++next) {
        Resource* source = queue[next];
        if (seen[source->position]) continue;
        seen[source->position] = true;
        Data& flowing = data[source->position];
        if (flowing.empty() && !source->contains.empty()) flowing = own(*source);
        for (Resource* target : source->contains) {
            if (!flowing.empty()) {
                Data merged = flowing;
                for (const auto& [name, v] : merged) {
                    if (target->get(name)) continue;
                    Param p;
                    p.name = name;
                    p.value = v;
                    p.source = target->source;
                    set_parameter(*target, p);
                    if (History* h = history()) [[unlikely]]
                        h->set(*target, name, History::Origin::Kind::Container, source);
                }
                for (auto& [name, v] : own(*target)) {
                    auto at = std::find_if(merged.begin(), merged.end(),
                                           [&](const auto& e) { return e.first == name; });
                    if (at == merged.end()) {
                        merged.emplace_back(name, v);
                    } else {
                        at->second = v;
                    }
                }
                data[target->position] = std::move(merged);
            }
            target->tags.merge(source->tags);
            queue.push_back(target);
        }
    }
}

void Compilation::finish() {
    evaluate_relationships();
    for (std::size_t i = 0; i < resources_.size(); ++i) {
        Resource& resource = *resources_[i];
        for (Resource* over : overrides_.take(resource)) merge(resource, *over);
        finish_resource(resource);
    }
    add_metaparameters();
}

void Compilation::fail_on_unevaluated() {
    std::string missing;
    if (const auto waiting = overrides_.waiting(); !waiting.empty()) {
        throw base::plain_error(
            fmt::format("Could not find resource(s) {} for overriding", fmt::join(waiting, ", ")));
    }
    for (const Collector* c : collectors_.active()) {
        for (const auto& ref : c->wanted) {
            if (!missing.empty()) missing += ", ";
            missing += fmt::format("{}[{}]", ref.type_name, ref.title);
        }
    }
    if (!missing.empty())
        throw base::plain_error(fmt::format("Failed to realize virtual resources {}", missing));
}

void Compilation::validate() {
    for (Resource* resource : table_.all()) {
        if (resource->virtual_) continue;
        for (const auto& p : resource->params) {
            if (!is_relationship(p.name)) continue;
            auto check = [&](auto&& self, const Value& v) -> void {
                if (v.is_undef()) return;
                if (v.is_array()) {
                    for (const auto& item : v.as_array()) self(self, item);
                    return;
                }
                auto text = text_of(v);
                Resource* found = nullptr;
                base::Location where{std::string(p.file), p.line, 0};
                try {
                    found = table_.find_reference(text);
                } catch (PuppetError& error) {
                    throw base::plain_error(error.message()).at(where);
                }
                if (!found) {
                    throw base::plain_error(
                        fmt::format("Could not find resource '{}' in parameter '{}'", text, p.name))
                        .at(where);
                }
            };
            check(check, p.value);
        }
    }
}

}  // namespace bunraku::compiler
