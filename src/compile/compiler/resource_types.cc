// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/resource_types.h"

#include "compile/compiler/ruby_types.h"

namespace bunraku::compiler {

ResourceType ResourceTypes::find(std::string_view name) {
    auto& arena = in_.arena();
    if (name.starts_with("::")) name.remove_prefix(2);
    name = downcase(arena, name);
    if (auto it = known_.find(name); it != known_.end()) return it->second;
    ResourceType type;
    if (name.empty()) return type;
    if (name == "class" || name == "node") return type;
    name = arena.copy(name);
    type.name = capitalize(arena, name);
    if (name.find(':') == std::string_view::npos) {
        if (const auto* spec = restype::find_type(name)) {
            type.kind = ResourceType::Kind::Native;
            type.spec = spec;
        } else if (const auto* ruby = find_ruby_type(environment_, name, &in_, session_)) {
            type.kind = ResourceType::Kind::Native;
            type.spec = ruby;
        } else if (auto file = environment_.ruby_type_file(name)) {
            // Without Ruby, any attribute is accepted.
            type.kind = ResourceType::Kind::Ruby;
            type.ruby_namevar = arena.copy(environment_.ruby_type_namevar(*file));
        }
    }
    if (!type) {
        if (auto* define = definitions_.find_define(name)) {
            type.kind = ResourceType::Kind::Define;
            type.definition = define;
            // Puppet resolves the parameter types when it loads the define.
            definitions_.prepare(*define, in_);
        }
    }
    if (type) {
        Tags tags(arena);
        tag_if_valid(tags, tags_, type.name);
        type.tags = arena.copy(tags.ids());
        known_.emplace(name, type);
    }
    return type;
}

}  // namespace bunraku::compiler
