// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/resource_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/plain_error.h"

namespace bunraku::compiler {

namespace {

std::string location(const Resource& r) {
    return base::format_location({std::string(r.file), r.line, 0});
}

std::string with_space(std::string text) { return text.empty() ? text : " " + text; }

// Ruby's String#inspect, limited to the characters of names.
std::string inspect(std::string_view text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\t': out += "\\t"; break;
            case '\r': out += "\\r"; break;
            case '#':
                if (i + 1 < text.size() && (text[i + 1] == '{' || text[i + 1] == '$')) out += '\\';
                out += c;
                break;
            default: out += c;
        }
    }
    return out + "\"";
}

/// Joins the parts of a name into a key of the table. Empty parts count: a three-part name whose
/// first part is missing differs from a two-part name.
std::string join_key(const std::vector<std::string>& parts) {
    std::string out;
    for (const auto& part : parts) {
        if (&part != parts.data()) out += '\0';
        out += part;
    }
    return out;
}

std::vector<std::string> uniqueness_key(const Resource& resource) {
    if (resource.type.kind == ResourceType::Kind::Native) {
        const auto& spec = *resource.type.spec;
        std::vector<std::pair<std::string, Value>> params;
        for (const auto& p : resource.params) {
            if (p.value.is_undef()) continue;
            const auto* attribute = spec.find(p.name);
            if (p.name == "name" || (attribute && attribute->namevar))
                params.emplace_back(std::string(p.name), p.value);
        }
        return restype::uniqueness_key(spec, resource.title, params);
    }
    std::string_view namevar = resource.type.namevar();
    const Value* v = resource.get(namevar);
    if (!v) v = resource.get("name");
    return {v ? value::to_text(*v) : std::string(resource.title)};
}

}  // namespace

ResourceTable::ResourceTable(base::Arena& arena, ResourceTypes& types)
    : arena_(arena),
      types_(types),
      all_(base::ArenaAllocator<Resource*>(arena)),
      by_type_(decltype(by_type_)::allocator_type(arena)),
      by_name_(decltype(by_name_)::allocator_type(arena)),
      aliases_(decltype(aliases_)::allocator_type(arena)) {}

Resource& ResourceTable::allocate() {
    return *new (arena_.allocate(sizeof(Resource), alignof(Resource))) Resource(arena_);
}

base::ArenaVector<Resource*>& ResourceTable::list_of(std::string_view type) {
    return by_type_.try_emplace(type, base::ArenaAllocator<Resource*>(arena_)).first->second;
}

const base::ArenaVector<Resource*>& ResourceTable::of_type(std::string_view type) {
    return list_of(type);
}

std::span<const std::string_view> ResourceTable::aliases(const Resource& resource) const {
    const auto it = aliases_.find(&resource);
    if (it == aliases_.end()) return {};
    return it->second;
}

bool ResourceTable::consistent() const {
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const Resource* r = all_[i];
        const auto found = by_name_.find({r->type.name, r->title});
        if (r->position != i || found == by_name_.end() || found->second != r) return false;
        for (const Resource* container : r->contained_in)
            if (std::ranges::find(container->contains, r) == container->contains.end())
                return false;
    }
    return true;
}

Resource* ResourceTable::find(std::string_view type, std::string_view title) {
    std::string_view type_name =
        type.empty() ? std::string_view("Class") : capitalize(arena_, type);
    if (type_name.starts_with("::")) type_name.remove_prefix(2);
    if (type_name == "Class") {
        title = title.empty() ? std::string_view("main") : capitalize(arena_, title);
    }
    if (auto it = by_name_.find({type_name, title}); it != by_name_.end()) return it->second;
    // The title may be another spelling of the name; the type derives the name from the title.
    if (type_name == "Class" || type_name == "Node") return nullptr;
    ResourceType rt = types_.find(downcase(arena_, type_name));
    if (rt.kind != ResourceType::Kind::Native || !rt.spec->isomorphic) return nullptr;
    if (restype::title_is_name(*rt.spec, title)) return nullptr;
    const auto joined = join_key(restype::uniqueness_key(*rt.spec, title, {}));
    if (joined == title) return nullptr;
    auto it = by_name_.find({type_name, joined});
    return it == by_name_.end() ? nullptr : it->second;
}

Resource* ResourceTable::find_reference(std::string_view reference) {
    auto open = reference.find('[');
    bool valid = open != std::string_view::npos && open > 0 && reference.back() == ']' &&
                 reference.size() > open + 2 &&
                 reference.substr(0, open).find(']') == std::string_view::npos;
    if (!valid) {
        throw base::plain_error(fmt::format(
            "No title provided and {} is not a valid resource reference", inspect(reference)));
    }
    return find(reference.substr(0, open), reference.substr(open + 1, reference.size() - open - 2));
}

void ResourceTable::add(Resource& resource) {
    Key key{resource.type.name, resource.title};
    if (const auto [it, fresh] = by_name_.try_emplace(key, &resource); !fresh) {
        const Resource& existing = *it->second;
        auto where = location(existing);
        auto text =
            where.empty()
                ? fmt::format("Duplicate declaration: {} is already declared; cannot redeclare",
                              resource.ref())
                : fmt::format(
                      "Duplicate declaration: {} is already declared at {}; cannot redeclare",
                      resource.ref(), where);
        throw base::plain_error(text + with_space(location(resource)));
    }
    resource.position = static_cast<std::uint32_t>(all_.size());
    all_.push_back(&resource);
    create_aliases(resource);
    list_of(resource.type.name).push_back(&resource);
}

void ResourceTable::create_aliases(Resource& resource) {
    if (const Value* given = resource.get("alias")) {
        std::vector<Value> pending{*given};
        while (!pending.empty()) {
            Value v = pending.back();
            pending.pop_back();
            if (v.is_array()) {
                auto items = v.as_array();
                for (std::size_t i = items.size(); i-- > 0;) pending.push_back(items[i]);
            } else if (!v.is_undef()) {
                alias(resource, arena_.copy(value::to_text(v)), false);
            }
        }
    }
    auto name = name_alias(resource);
    if (!name.empty()) alias(resource, arena_.copy(name), true);
}

// Returns the unique name of a resource, with its parts joined by NUL. Empty if the title is the
// name, or if names of the type need not be unique.
std::string ResourceTable::name_alias(const Resource& resource) {
    const auto& type = resource.type;
    if (type.kind == ResourceType::Kind::Native && !type.spec->isomorphic) return {};
    if (resource.is_class() || type.kind == ResourceType::Kind::Node) return {};
    if (type.kind == ResourceType::Kind::Native && !resource.find("name") &&
        restype::title_is_name(*type.spec, resource.title) && !resource.find(type.spec->namevar()))
        return {};
    if (type.kind != ResourceType::Kind::Native && !resource.get(type.namevar()) &&
        !resource.get("name"))
        return {};
    auto key = uniqueness_key(resource);
    if (key.empty() || (key.size() == 1 && key[0] == resource.title)) return {};
    if (std::all_of(key.begin(), key.end(), [](const auto& s) { return s.empty(); })) return {};
    return join_key(key);
}

Resource* ResourceTable::find_by_name(const Resource& resource) {
    auto name = name_alias(resource);
    if (name.empty()) return nullptr;
    auto it = by_name_.find({resource.type.name, name});
    return it == by_name_.end() || it->second == &resource ? nullptr : it->second;
}

void ResourceTable::alias(Resource& resource, std::string_view key, bool from_name) {
    if (!from_name && key == resource.title) return;
    Key table_key{resource.type.name, key};
    if (auto it = by_name_.find(table_key); it != by_name_.end()) {
        const Resource& existing = *it->second;
        if (&existing == &resource) return;
        std::string key_text, new_ref = "[" + inspect(resource.type.name);
        std::string_view rest = key;
        while (true) {
            auto at = rest.find('\0');
            // A missing part of a composite name is nil.
            auto part =
                from_name && rest.substr(0, at).empty() ? "nil" : inspect(rest.substr(0, at));
            if (!key_text.empty()) key_text += ", ";
            key_text += part;
            new_ref += ", " + part;
            if (at == std::string_view::npos) break;
            rest = rest.substr(at + 1);
        }
        new_ref += "]";
        if (from_name) key_text = "[" + key_text + "]";
        auto where = location(resource);
        auto text = where.empty()
                        ? fmt::format("Cannot alias {} to {}; resource {} already declared",
                                      resource.ref(), key_text, new_ref)
                        : fmt::format("Cannot alias {} to {} at {}; resource {} already declared",
                                      resource.ref(), key_text, where, new_ref);
        throw base::plain_error(text + with_space(location(existing)));
    }
    by_name_.emplace(table_key, &resource);
    aliases_.try_emplace(&resource, base::ArenaAllocator<std::string_view>(arena_))
        .first->second.push_back(key);
}

void ResourceTable::add_edge(Resource& source, Resource& target) {
    auto& in = target.contained_in;
    if (std::find(in.begin(), in.end(), &source) != in.end()) return;
    in.push_back(&source);
    source.contains.push_back(&target);
}

}  // namespace bunraku::compiler
