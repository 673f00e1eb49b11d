// SPDX-License-Identifier: Apache-2.0
// Converts the compiled catalog to resources that can be applied.
#include "resources/apply/ral_catalog.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/component.h"
#include "resources/apply/dot.h"
#include "resources/apply/outside.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"
#include "resources/apply/ruby_types.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

std::string normal_title(std::string_view type, std::string_view title) {
    return type == "Class" ? base::capitalized_segments(title) : std::string(title);
}

// Returns a type that neither Bunraku nor a define provides. Only its name and parameters are
// known, so its resources fail one by one rather than the whole run.
const TypeSpec& foreign_spec(Context& context, const catalog::Resource& r, std::string_view name) {
    std::vector<Attribute> attributes;
    attributes.push_back({.name = "name", .namevar = true});
    attributes.push_back({.name = "provider"});
    for (const catalog::Parameter& p : r.parameters) {
        if (p.name == "name" || p.name == "provider" || restype::is_metaparameter(p.name)) continue;
        attributes.push_back({.name = context.arena.copy(p.name), .kind = AttributeKind::Property});
    }
    auto* spec = context.arena.make<TypeSpec>();
    spec->name = context.arena.copy(name);
    spec->attributes = context.arena.copy(attributes);
    return *spec;
}

ResourceData data_of(const catalog::Resource& r) {
    ResourceData d;
    d.title = normal_title(r.ref.type, r.ref.title);
    d.parameters.reserve(r.parameters.size() + 1);
    for (const catalog::Parameter& p : r.parameters) {
        Value v = p.value;
        if (v.is(value::Kind::Sensitive)) {
            v = v.unwrap();
            d.sensitive.push_back(p.name);
        }
        if (!v.is_undef()) d.parameters.emplace_back(p.name, v);
    }
    d.tags = r.tags;
    d.file = r.file;
    d.line = r.line;
    d.exported = r.exported;
    d.virtual_ = r.virtual_;
    return d;
}

/// Replaces every Deferred with its result.
void resolve(Context& context, ResourceData& data) {
    for (auto& [name, v] : data.parameters) {
        v = context.resolve_deferred(v);
        if (!v.is(value::Kind::Sensitive)) continue;
        v = v.unwrap();
        if (std::ranges::find(data.sensitive, name) == data.sensitive.end())
            data.sensitive.emplace_back(name);
    }
}

/// Returns a function that looks up an attribute in the catalog.
auto given_in(const catalog::Resource& r) {
    return [&r](std::string_view attribute) {
        if (attribute == "title") return Value::string(r.ref.title);
        const auto it = std::ranges::find(r.parameters, attribute, &catalog::Parameter::name);
        return it == r.parameters.end() ? Value::undef() : it->value;
    };
}

/// Returns the families of types for which at least one resource needs its module's Ruby code.
using Families = std::set<std::string_view>;
Families families_in_ruby(Context& context, const catalog::Catalog& catalog) {
    Families out;
    if (!context.ruby_types) return out;
    for (const catalog::Resource& r : catalog.resources) {
        if (r.virtual_ || r.kind != "compilable_type") continue;
        const auto type = std::ranges::find_if(module_types(), [&](const ModuleType& t) {
            return !t.family.empty() && base::same_ignoring_case(t.name, r.ref.type);
        });
        if (type == module_types().end() || out.contains(type->family)) continue;
        const auto made = make_resource(context, type->name);
        const auto* native = dynamic_cast<const ModuleResource*>(made.get());
        if (!native || !native->does(given_in(r))) out.insert(type->family);
    }
    return out;
}

/// The specifications of types, by name, whose resources without a `provider` parameter are all
/// made by make_resource(). An earlier resource of the type has shown this.
using Plain = std::map<std::string, const TypeSpec*, std::less<>>;

std::unique_ptr<Resource> make(Context& context, const catalog::Resource& r,
                               const Families& in_ruby, Plain& plain) {
    bool native = r.kind == "compilable_type";
    const bool undecided = std::ranges::find(r.parameters, "provider", &catalog::Parameter::name) ==
                           r.parameters.end();
    if (const auto known = plain.find(r.ref.type); undecided && known != plain.end())
        return make_resource(context, *known->second);
    if (r.ref.type != "Class") {
        std::string name = base::lower(r.ref.type);
        if (native || restype::find_type(name)) {
            if (auto made = make_resource(context, name)) {
                const auto given = given_in(r);
                const Value wanted = given("provider");
                if (context.ruby_types) {
                    const ModuleType* type = find_module_type_releases(name);
                    const auto* of_module = dynamic_cast<const ModuleResource*>(made.get());
                    if (type && of_module &&
                        (in_ruby.contains(type->family) || !of_module->does(given)))
                        if (auto ruby = context.ruby_types->make(name)) return ruby;
                    if (auto other = context.ruby_types->instead_of(*made, wanted)) return other;
                }
                if (auto other = outside_instead_of(*made, wanted)) return other;
                if (undecided && native && !find_module_type_releases(name) &&
                    !dynamic_cast<const RubyResource*>(made.get()))
                    plain.emplace(r.ref.type, &made->spec());
                return made;
            }
            return make_resource(context, foreign_spec(context, r, name));
        }
    }
    return std::make_unique<Component>(context, r.ref.type, normal_title(r.ref.type, r.ref.title));
}

}  // namespace

std::unique_ptr<RalCatalog> RalCatalog::from(Context& context, const catalog::Catalog& catalog) {
    auto out = std::make_unique<RalCatalog>(context);
    if (context.ruby_types) context.ruby_types->catalog = out.get();
    out->values_ = catalog.arena;
    out->name = catalog.name;
    out->version = catalog.version;
    out->version_is_number = catalog.version_is_number;
    out->environment = catalog.environment;
    out->code_id = catalog.code_id;
    out->catalog_uuid = catalog.catalog_uuid;
    out->classes = catalog.classes;
    const Families in_ruby = families_in_ruby(context, catalog);
    Plain plain;
    std::vector<Resource*> made(catalog.resources.size());
    out->resources_.reserve(catalog.resources.size() + 16);
    out->owned_.reserve(catalog.resources.size() + 32);
    // If a Deferred fails here, no resource has been created yet.
    std::vector<ResourceData> resolved;
    if (context.options.preprocess_deferred && context.resolve_deferred) {
        for (const catalog::Resource& r : catalog.resources)
            resolve(context, resolved.emplace_back(data_of(r)));
    }
    BUNRAKU_ASSERT(resolved.empty() || resolved.size() == catalog.resources.size());
    for (std::size_t i = 0; i < catalog.resources.size(); ++i) {
        const catalog::Resource& r = catalog.resources[i];
        if (r.virtual_) continue;
        auto resource = make(context, r, in_ruby, plain);
        resource->catalog = out.get();
        ResourceData data = resolved.empty() ? data_of(r) : std::move(resolved[i]);
        if (resource->is_component()) {
            static_cast<Component*>(resource.get())->initialize_component(std::move(data));
        } else {
            resource->initialize(std::move(data));
        }
        made[i] = out->add(std::move(resource));
        BUNRAKU_ASSERT(made[i]->catalog == out.get());
    }
    for (const catalog::Edge& e : catalog.edges) {
        if (e.source >= made.size() || e.target >= made.size()) continue;
        if (!made[e.source] || !made[e.target]) continue;
        for (const Resource* above = made[e.source]; above; above = above->parent()) {
            if (above != made[e.target]) continue;
            throw base::plain_error(
                fmt::format("The catalog is invalid: {} contains itself", made[e.target]->ref()));
        }
        out->add_edge(*made[e.source], *made[e.target]);
    }
    BUNRAKU_ASSERT(out->resources_.size() <= catalog.resources.size());
    BUNRAKU_ASSERT(out->resources_.size() == out->owned_.size());
    return out;
}

namespace {

/// Joins the values of several namevars into one key.
std::string joined(const std::vector<std::string>& key) {
    BUNRAKU_ASSERT(!key.empty());
    std::string out;
    for (const std::string& part : key) {
        if (&part != &key[0]) out += '\x01';
        out += part;
    }
    return out;
}

}  // namespace

Resource* RalCatalog::find(std::string_view type, std::string_view title) const {
    auto t = table_.find(type);
    if (t == table_.end()) {
        const std::string type_name = base::capitalized_segments(type);
        if (type_name == type) return nullptr;
        t = table_.find(type_name);
        if (t == table_.end()) return nullptr;
    }
    const auto& titles = t->second;
    if (t->first == "Class") {
        auto it = titles.find(base::capitalized_segments(title));
        return it == titles.end() ? nullptr : it->second;
    }
    auto it = titles.find(title);
    if (it != titles.end()) return it->second;
    if (t->first == "File" && title.size() > 1 && title.back() == '/') {
        while (title.size() > 1 && title.back() == '/') title.remove_suffix(1);
        it = titles.find(title);
        if (it != titles.end()) return it->second;
    }
    if (t->first == "File") return nullptr;
    // Looks the resource up by the namevars that the title alone determines (Catalog#resource,
    // 8.11).
    const auto* spec = restype::find_type(base::lower(type));
    if (!spec || !spec->composite_namevar) return nullptr;
    it = titles.find(joined(restype::uniqueness_key(*spec, title, {})));
    return it == titles.end() ? nullptr : it->second;
}

std::string RalCatalog::managed_above(std::string_view path) const {
    const auto folder_of = [](std::string_view p) -> std::string_view {
        const std::size_t slash = p.rfind('/');
        if (slash == std::string_view::npos || p.size() == 1) return {};
        return slash == 0 ? p.substr(0, 1) : p.substr(0, slash);
    };
    std::string_view at = folder_of(path);
    if (at.empty()) return {};
    if (at == above_.folder && above_.resources == resources_.size()) return above_.found;
    above_ = {.folder = std::string(at), .found = {}, .resources = resources_.size()};
    while (!at.empty() && !find("File", at)) at = folder_of(at);
    BUNRAKU_ASSERT(at.size() < path.size());
    above_.found = at;
    return above_.found;
}

bool RalCatalog::has_ref(const Resource& resource) const {
    return find(resource.type_name(), resource.title()) != nullptr;
}

RalCatalog::Table<Resource*>& RalCatalog::titles_of(std::string_view type, bool down_cased) {
    if (last_titles_ && last_type_ == type && last_down_cased_ == down_cased) return *last_titles_;
    auto& titles = table_[down_cased ? base::capitalized_segments(type) : std::string(type)];
    last_type_ = type;
    last_down_cased_ = down_cased;
    last_titles_ = &titles;
    return titles;
}

void RalCatalog::enter(Resource* resource) {
    BUNRAKU_ASSERT(resource->catalog == this && !resource->is_whit());
    const auto* component =
        resource->is_component() ? static_cast<const Component*>(resource) : nullptr;
    auto [it, fresh] =
        titles_of(component ? component->reference_type() : resource->type_name(), !component)
            .try_emplace(component ? component->reference_title() : resource->title(), resource);
    if (!fresh) {
        const Resource* old = it->second;
        std::string location = base::format_location({old->file(), old->line(), 0});
        PuppetError e(location.empty()
                          ? fmt::format("Duplicate declaration: {} is already declared; cannot "
                                        "redeclare",
                                        resource->ref())
                          : fmt::format("Duplicate declaration: {} is already declared at {}; "
                                        "cannot redeclare",
                                        resource->ref(), location),
                      "DUPLICATE_RESOURCE", PuppetError::Class::Plain);
        e.at({resource->file(), resource->line(), 0});
        throw e;
    }
    if (const Param* p = resource->find("alias"); p && !resource->spec().find("alias")) {
        if (p->value.is_array()) {
            for (const Value& v : p->value.as_array()) add_alias(resource, {plain(v)}, true);
        } else {
            add_alias(resource, {plain(p->value)}, true);
        }
    }
    if (resource->is_component() || resource->is_whit() || !resource->spec().isomorphic) return;
    std::vector<std::string> key;
    if (resource->spec().composite_namevar) {
        std::vector<std::pair<std::string, Value>> params;
        for (const Param* p : resource->params()) {
            if (p->spec->namevar) params.emplace_back(std::string(p->name()), p->value);
        }
        key = restype::uniqueness_key(resource->spec(), resource->title(), params);
    } else {
        key = {resource->name()};
    }
    if (key.size() != 1 || key[0] != resource->title()) add_alias(resource, key, false);
}

void RalCatalog::add_alias(Resource* resource, const std::vector<std::string>& key,
                           bool from_parameter) {
    const std::string alias = joined(key);
    if (from_parameter && alias == resource->title()) return;
    auto [it, fresh] =
        titles_of(resource->type_name(), true).try_emplace(context_.arena.copy(alias), resource);
    if (fresh || it->second == resource) return;
    const std::string type = base::capitalized_segments(resource->type_name());
    const Resource* old = it->second;
    auto quoted = [](const std::string& s) { return s.empty() ? "nil" : "\"" + s + "\""; };
    std::string list;
    for (const std::string& part : key) list += (list.empty() ? "" : ", ") + quoted(part);
    std::string shown = from_parameter ? list : "[" + list + "]";
    std::string location = base::format_location({resource->file(), resource->line(), 0});
    std::string existing = base::format_location({old->file(), old->line(), 0});
    throw PuppetError(
        fmt::format("Cannot alias {} to {}{}; resource [\"{}\", {}] already declared{}",
                    resource->ref(), shown, location.empty() ? "" : " at " + location, type, list,
                    existing.empty() ? "" : " " + existing),
        "DUPLICATE_RESOURCE", PuppetError::Class::Plain);
}

Resource* RalCatalog::add(std::unique_ptr<Resource> resource) {
    Resource* r = resource.get();
    BUNRAKU_ASSERT(r && r->vertex < 0 && (!r->catalog || r->catalog == this));
    r->catalog = this;
    // Take ownership first: even if the name is a duplicate, the table already refers to this
    // resource's names.
    owned_.push_back(std::move(resource));
    enter(r);
    resources_.push_back(r);
    BUNRAKU_ASSERT(resources_.size() <= owned_.size());
    return r;
}

Resource* RalCatalog::insert_next_to(const Resource& other, std::unique_ptr<Resource> resource,
                                     bool before) {
    Resource* r = resource.get();
    r->catalog = this;
    // Take ownership first: even if the name is a duplicate, the table already refers to this
    // resource's names.
    owned_.push_back(std::move(resource));
    enter(r);
    auto it = std::find(resources_.begin(), resources_.end(), &other);
    BUNRAKU_ASSERT(it != resources_.end());
    if (it != resources_.end() && !before) ++it;
    resources_.insert(it, r);
    BUNRAKU_ASSERT(resources_.size() <= owned_.size());
    return r;
}

void RalCatalog::add_edge(Resource& container, Resource& member) {
    BUNRAKU_ASSERT(container.catalog == this && member.catalog == this);
    container.children.push_back(&member);
    member.parents.push_back(&container);
    BUNRAKU_ASSERT(member.parent() != nullptr);
}

Resource* RalCatalog::take_ownership(std::unique_ptr<Resource> resource) {
    BUNRAKU_ASSERT(resource->is_whit() && resource->vertex < 0);
    resource->catalog = this;
    owned_.push_back(std::move(resource));
    return owned_.back().get();
}

void RalCatalog::finalize() {
    auto add_default = [&](std::string_view type, std::string title,
                           std::vector<std::pair<std::string_view, Value>> parameters) {
        if (find(type, title)) return;
        auto r = make_resource(context_, *restype::find_type(type));
        r->catalog = this;
        ResourceData d;
        d.title = std::move(title);
        d.parameters = std::move(parameters);
        const std::string tags[] = {std::string(type), d.title};
        d.tags = std::span(tags, type == d.title ? 1 : 2);
        r->initialize(std::move(d));
        add(std::move(r));
        BUNRAKU_ASSERT(find(type, resources_.back()->title()) == resources_.back());
    };
    if (context_.options.default_schedules) {
        context_.message(Level::Debug, "Creating default schedules");
        add_default("schedule", "puppet",
                    {{"period", Value::string("hourly")}, {"repeat", Value::string("2")}});
        for (std::string_view period : {"hourly", "daily", "weekly", "monthly", "never"}) {
            add_default("schedule", std::string(period), {{"period", Value::string(period)}});
        }
    }
    std::vector<std::pair<std::string_view, Value>> bucket;
    if (!context_.options.clientbucketdir.empty()) {
        bucket.emplace_back("path", context_.string(context_.options.clientbucketdir));
    }
    add_default("filebucket", "puppet", std::move(bucket));

    constexpr std::pair<Relation, std::string_view> kKinds[] = {{Relation::Require, "dependency"},
                                                                {Relation::Subscribe, "dependency"},
                                                                {Relation::Before, "dependent"},
                                                                {Relation::Notify, "dependent"}};
    for (std::size_t i = 0; i < resources_.size(); ++i) {
        Resource* r = resources_[i];
        BUNRAKU_ASSERT(r->catalog == this && r->vertex < 0);
        r->finish_redacted();
        for (auto [kind, word] : kKinds) {
            for (const Reference& ref : r->relations(kind)) {
                if (find(ref)) continue;
                PuppetError e(
                    fmt::format("Could not find {} {} for {}", word, ref.text(), r->ref()), {},
                    PuppetError::Class::Plain);
                e.at({r->file(), r->line(), 0});
                throw e;
            }
        }
    }

    std::vector<std::pair<const Resource*, const Resource*>> containment;
    for (const Resource* r : resources_) {
        for (const Resource* container : r->parents) containment.emplace_back(container, r);
    }
    write_dot(context_, "resources", resources_, containment);
}

}  // namespace bunraku::apply
