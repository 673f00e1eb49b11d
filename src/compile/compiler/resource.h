// A resource while it is being compiled (Puppet::Parser::Resource), and the tags it carries.
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

/// Tags of one compile, numbered. Valid ones only.
class TagTable {
public:
    explicit TagTable(base::Arena& arena) : arena_(arena), ids_(Ids::allocator_type(arena)) {}
    /// The number of a down-cased tag, made where it is new.
    std::uint32_t id(std::string_view tag);
    /// 0 where nobody has it.
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
    /// Adds one already valid, down-cased tag; true where it is new.
    bool add(std::uint32_t id);
    bool has(std::uint32_t id) const;
    void merge(const Tags& other);
    std::span<const std::uint32_t> ids() const { return ids_; }

private:
    base::ArenaVector<std::uint32_t> ids_;
};

/// Adds a tag with its parts ("a::b" adds "a" and "b"); throws "Invalid tag 'x'".
void tag(Tags& tags, TagTable& table, std::string_view text);
/// The same for what may be no tag: silently ignored then.
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

/// What a resource is an instance of.
struct ResourceType {
    enum class Kind : std::uint8_t { None, Class, Node, Define, Native, Ruby };
    Kind kind = Kind::None;
    std::string_view name;                    ///< capitalised
    Definition* definition = nullptr;         ///< Class, Node, Define
    const restype::TypeSpec* spec = nullptr;  ///< Native
    std::string_view ruby_namevar;            ///< Ruby
    std::span<const std::uint32_t> tags;      ///< what every instance is tagged with
    bool builtin() const { return kind == Kind::Native || kind == Kind::Ruby; }
    explicit operator bool() const { return kind != Kind::None; }
    /// "name" unless the type has exactly one name variable of another name.
    std::string_view namevar() const;
};

/// Lives in the compile's arena and is never destroyed.
struct Resource {
    explicit Resource(base::Arena& arena)
        : params(base::ArenaAllocator<Param>(arena)),
          tags(arena),
          sensitive(base::ArenaAllocator<std::string_view>(arena)),
          contains(base::ArenaAllocator<Resource*>(arena)),
          contained_in(base::ArenaAllocator<Resource*>(arena)) {}

    ResourceType type;
    std::string_view title;
    bool title_is_text = true;   ///< false: Ruby code gave a number, which differs from its text
    bool title_is_main = false;  ///< the symbol :main, which differs from the text "main"
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
    std::string_view exporter;  ///< of a resource another node exported: its name
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
    /// The value; null where the parameter is not there or undef.
    const Value* get(std::string_view name) const;
};

}  // namespace bunraku::compiler
