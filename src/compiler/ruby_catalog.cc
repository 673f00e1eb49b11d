// What Ruby code asks of the catalog under construction (templates::CatalogQueries).
#include <algorithm>
#include <fmt/format.h>

#include "compiler/compilation.h"
#include "syntax/parser.h"
#include "types/object.h"
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

void Compilation::define_class(std::string_view name) { definitions_.add_class(name); }

void Compilation::add_class_resource(std::string_view name) {
    Definition* definition = definitions_.find_class(name);
    if (!definition) {
        throw base::PuppetError(
            fmt::format("Could not find class {} for {}", name, request_.node.name), "",
            base::PuppetError::Class::Plain);
    }
    const std::vector<Param> none;
    ensure_in_catalog(*definition, &interpreter_->top_scope(), &none);
}

bool Compilation::evaluate_class(std::string_view name) {
    Resource* resource = find("Class", name);
    if (!resource) return false;
    if (resource->evaluated) {
        classes_.push_back(resource->type.definition->name);
        return false;
    }
    evaluate_resource(*resource);
    return true;
}

// The Object type of lib/puppet/datatypes/NAME.rb: its interface is Puppet text, its methods stay
// in Ruby.
const types::Type* Compilation::find_ruby_data_type(evaluator::Interpreter& in,
                                                    std::string_view key) {
    const auto path = request_.environment->ruby_data_type_file(key);
    auto* session = path ? templates::RubySession::of(in) : nullptr;
    if (!session) return nullptr;
    request_.environment->depends_on(*path);
    const auto& info = session->pool(in).data_type_info(*path, key, &session->host(in));
    templates::note_reads(*request_.environment, info.reads);
    if (downcase(arena(), info.name) != key) {
        throw base::PuppetError(
            fmt::format("The code loaded from {} produced type with the wrong "
                        "name, expected '{}', actual '{}'",
                        *path, key, info.name));
    }
    using Tree = std::shared_ptr<const syntax::Tree>;
    const auto& tree = *arena().own(
        std::make_unique<Tree>(syntax::parse(*path, fmt::format("{{{}}}", info.interface_text))));
    return types::make_type_definition(in.types(), arena().copy(info.name), tree->program->body);
}

std::optional<Value> Compilation::call_member(evaluator::Interpreter& in, Scope& scope,
                                              const Value& receiver, std::string_view name,
                                              std::span<const Value> args) {
    const auto* object = types::as_object(receiver);
    if (!object || object->type()->name.empty()) return std::nullopt;
    const auto key = downcase(arena(), object->type()->name);
    const auto path = request_.environment->ruby_data_type_file(key);
    auto* session = path ? templates::RubySession::of(in) : nullptr;
    if (!session) return std::nullopt;
    const auto& info = session->pool(in).data_type_info(*path, key, &session->host(in));
    if (std::find(info.methods.begin(), info.methods.end(), name) == info.methods.end())
        return std::nullopt;
    templates::RubyCallbacks callbacks(*session, in, scope);
    value::HashBuilder attributes(arena());
    for (const auto* member : object->type()->all_attributes()) {
        if (member->kind == types::AttributeKind::Derived) continue;
        if (auto v = types::object_attribute(in.types(), receiver, member->name))
            attributes.set(member->name, *v);
    }
    return session->host(in).call_method(info, attributes.build(), name, args, callbacks, arena());
}

}  // namespace bunraku::compiler
