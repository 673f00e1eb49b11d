// SPDX-License-Identifier: Apache-2.0
// A resource during compilation (Puppet::Parser::Resource), and its tags.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compile/compiler/definition.h"
#include "core/base/arena_allocator.h"
#include "core/value/value.h"
#include "language/evaluator/scope.h"
#include "resources/restype/spec.h"

namespace bunraku::compiler {

using evaluator::Scope;
using value::Value;

template <class K, class V, class Hash = std::hash<K>>
using ArenaMap =
    std::unordered_map<K, V, Hash, std::equal_to<K>, base::ArenaAllocator<std::pair<const K, V>>>;

/// The valid tags of one compile, numbered.
class TagTable {
public:
    explicit TagTable(base::Arena& arena) : arena_(arena), ids_(Ids::allocator_type(arena)) {}
    /// Returns the id of a down-cased tag. Adds the tag if it is new.
    std::uint32_t id(std::string_view tag);
    /// Returns 0 if no resource has the tag.
    std::uint32_t find(std::string_view tag) const;
    std::string_view text(std::uint32_t id) const { return texts_[id - 1]; }

private:
    using Ids = ArenaMap<std::string_view, std::uint32_t>;
    base::Arena& arena_;
    Ids ids_;
    std::vector<std::string_view> texts_;
};

/// An ordered set of tags (Puppet::Util::Tagging).
class Tags {
public:
    explicit Tags(base::Arena& arena) : ids_(base::ArenaAllocator<std::uint32_t>(arena)) {}
    /// Adds a valid, down-cased tag; returns true if it is new.
    bool add(std::uint32_t id);
    bool has(std::uint32_t id) const;
    void merge(const Tags& other);
    std::span<const std::uint32_t> ids() const { return ids_; }

private:
    base::ArenaVector<std::uint32_t> ids_;
};

/// Adds a tag and its parts ("a::b" adds "a" and "b"). Throws "Invalid tag 'x'".
void tag(Tags& tags, TagTable& table, std::string_view text);
/// Like tag(), but ignores text that is not a valid tag.
void tag_if_valid(Tags& tags, TagTable& table, std::string_view text);
bool is_valid_tag(std::string_view text);

struct Param {
    std::string_view name;
    Value value;
    const Definition* source = nullptr;
    std::string_view file;
    int line = 0;
    bool append = false;
};

/// The type of a resource.
struct ResourceType {
    enum class Kind : std::uint8_t { None, Class, Node, Define, Native, Ruby };
    Kind kind = Kind::None;
    std::string_view name;                    ///< capitalised
    Definition* definition = nullptr;         ///< for Class, Node and Define
    const restype::TypeSpec* spec = nullptr;  ///< for Native
    std::string_view ruby_namevar;            ///< for Ruby
    std::span<const std::uint32_t> tags;      ///< tags of every instance
    bool builtin() const { return kind == Kind::Native || kind == Kind::Ruby; }
    explicit operator bool() const { return kind != Kind::None; }
    /// Returns the name variable: "name", unless the type has exactly one name variable with
    /// another name.
    std::string_view namevar() const;
};

/// A resource of the catalog under construction. It lives in the arena of the compile and is never
/// destroyed.
struct Resource {
    explicit Resource(base::Arena& arena)
        : params(base::ArenaAllocator<Param>(arena)),
          tags(arena),
          sensitive(base::ArenaAllocator<std::string_view>(arena)),
          contains(base::ArenaAllocator<Resource*>(arena)),
          contained_in(base::ArenaAllocator<Resource*>(arena)) {}

    ResourceType type;
    std::string_view title;
    /// False if Ruby code passed a number, which is not equal to its text.
    bool title_is_text = true;
    /// True for the symbol :main, which is not equal to the text "main".
    bool title_is_main = false;
    base::ArenaVector<Param> params;
    Tags tags;
    const Definition* source = nullptr;
    Scope* scope = nullptr;
    std::string_view file;
    int line = 0;
    std::string_view kind;
    bool exported = false;
    bool virtual_ = false;
    bool evaluated = false;
    bool evaluation_finished = false;
    bool finished = false;
    std::string_view exporter;  ///< name of the exporting node; empty for local resources
    base::ArenaVector<std::string_view> sensitive;

    // The containment graph.
    base::ArenaVector<Resource*> contains;
    base::ArenaVector<Resource*> contained_in;
    std::uint32_t position = 0;

    bool is_class() const { return type.kind == ResourceType::Kind::Class; }
    bool is_stage() const;
    std::string ref() const;
    const Param* find(std::string_view name) const;
    Param* find(std::string_view name) {
        return const_cast<Param*>(static_cast<const Resource*>(this)->find(name));
    }
    /// Returns the value of a parameter, or null if it is absent or undef.
    const Value* get(std::string_view name) const;
};

}  // namespace bunraku::compiler
