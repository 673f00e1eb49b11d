// What Ruby code asks of the catalog under construction (templates::CatalogQueries).
#include "compiler/compilation.h"
#include "value/build.h"

namespace bunraku::compiler {

std::vector<std::string> Compilation::class_names() { return {classes_.begin(), classes_.end()}; }

std::vector<std::string> Compilation::catalog_tags() {
    std::vector<std::string> out;
    for (auto id : tags_.ids()) out.emplace_back(tag_table_.text(id));
    return out;
}

std::vector<std::string> Compilation::scope_tags(Scope& scope) {
    const Resource* resource = resource_of(&scope);
    std::vector<std::string> out;
    if (resource)
        for (auto id : resource->tags.ids()) out.emplace_back(tag_table_.text(id));
    return out;
}

std::vector<std::pair<std::string, std::string>> Compilation::declared_resources() {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Resource* r : catalog_resources_) out.emplace_back(r->type.name, r->title);
    return out;
}

std::optional<Value> Compilation::resource_parameters(std::string_view type,
                                                      std::string_view title) {
    const Resource* resource = find(type, title);
    if (!resource) return std::nullopt;
    value::HashBuilder out(arena());
    for (const auto& p : resource->params)
        if (!p.value.is_undef()) out.set(p.name, p.value);
    return out.build();
}

std::vector<std::string> Compilation::resource_tags(std::string_view type, std::string_view title) {
    std::vector<std::string> out;
    if (const Resource* resource = find(type, title))
        for (auto id : resource->tags.ids()) out.emplace_back(tag_table_.text(id));
    return out;
}

std::pair<std::string, std::string> Compilation::scope_resource(Scope& scope) {
    const Resource* resource = resource_of(&scope);
    if (!resource) return {};
    return {std::string(resource->type.name), std::string(resource->title)};
}

Value Compilation::scope_defaults(Scope& scope, std::string_view type) {
    value::HashBuilder out(arena());
    for (const auto& p : defaults_for(&scope, capitalize(arena(), type))) out.set(p.name, p.value);
    return out.build();
}

}  // namespace bunraku::compiler
