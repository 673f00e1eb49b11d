// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/ruby_catalog.h"

#include <fmt/format.h>

#include "compile/compiler/compilation.h"
#include "core/base/plain_error.h"
#include "core/value/build.h"

namespace bunraku::compiler {

std::vector<std::string> RubyCatalog::class_names() {
    const auto names = compilation_.classes();
    return {names.begin(), names.end()};
}

std::vector<std::string> RubyCatalog::catalog_tags() {
    std::vector<std::string> out;
    for (auto id : compilation_.tags().ids()) out.emplace_back(compilation_.tag_table().text(id));
    return out;
}

std::vector<std::string> RubyCatalog::scope_tags(Scope& scope) {
    const Resource* resource = Scopes::resource(&scope);
    std::vector<std::string> out;
    if (resource)
        for (auto id : resource->tags.ids()) out.emplace_back(compilation_.tag_table().text(id));
    return out;
}

std::vector<std::pair<std::string, std::string>> RubyCatalog::declared_resources() {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Resource* r : compilation_.table().all()) out.emplace_back(r->type.name, r->title);
    return out;
}

std::optional<Value> RubyCatalog::resource_parameters(std::string_view type,
                                                      std::string_view title) {
    const Resource* resource = compilation_.table().find(type, title);
    if (!resource) return std::nullopt;
    value::HashBuilder out(compilation_.arena());
    for (const auto& p : resource->params)
        if (!p.value.is_undef()) out.set(p.name, p.value);
    return out.build();
}

std::vector<std::string> RubyCatalog::resource_tags(std::string_view type, std::string_view title) {
    std::vector<std::string> out;
    if (const Resource* resource = compilation_.table().find(type, title))
        for (auto id : resource->tags.ids()) out.emplace_back(compilation_.tag_table().text(id));
    return out;
}

std::pair<std::string, std::string> RubyCatalog::scope_resource(Scope& scope) {
    const Resource* resource = Scopes::resource(&scope);
    if (!resource) return {};
    return {std::string(resource->type.name), std::string(resource->title)};
}

Value RubyCatalog::scope_defaults(Scope& scope, std::string_view type) {
    value::HashBuilder out(compilation_.arena());
    auto of = compilation_.resource_types().find(type);
    of.name = capitalize(compilation_.arena(), type);  // classes have defaults too
    for (const auto& p : Scopes::defaults(&scope, of)) out.set(p.name, p.value);
    return out.build();
}

void RubyCatalog::define_class(std::string_view name) {
    compilation_.definitions().add_class(name);
}

void RubyCatalog::add_class_resource(std::string_view name) {
    Definition* definition = compilation_.definitions().find_class(name);
    if (!definition) {
        throw base::plain_error(
            fmt::format("Could not find class {} for {}", name, compilation_.request().node.name));
    }
    const std::vector<Param> none;
    compilation_.ensure_in_catalog(*definition, &compilation_.interpreter().top_scope(), &none);
}

bool RubyCatalog::evaluate_class(std::string_view name) {
    Resource* resource = compilation_.table().find("Class", name);
    if (!resource) return false;
    if (resource->evaluated) {
        compilation_.list_class(resource->type.definition->name);
        return false;
    }
    compilation_.evaluate_resource(*resource);
    return true;
}

}  // namespace bunraku::compiler
