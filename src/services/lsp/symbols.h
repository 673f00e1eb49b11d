// SPDX-License-Identifier: Apache-2.0
// What the index knows about one file: the names that it defines and uses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/symbol.h"
#include "services/lsp/text_position.h"

namespace bunraku::lsp {

/// Namespaces of names. Names are in lower case where the language ignores case.
enum class SymbolKind : std::uint8_t {
    Class,
    Type,  ///< a resource type, define, or data type
    Function,
    Variable,  ///< "class::name"; "name" in the top scope; "~N::name" in a local scope of a file
    Fact,      ///< a path, "os.family"
    HieraKey,
    Resource,  ///< "file[/etc/motd]"
    Template,  ///< "module/file.epp"
    File,      ///< "module/path", as in puppet:///modules/module/path
    Plan,
    ErbVariable,  ///< "@name" in an ERB template, whose scope depends on the caller
    EppArgument,  ///< "module/file.epp::name", an argument that a caller passes to a template
};

struct SymbolKey {
    SymbolKind kind{};
    base::Symbol name;
    friend bool operator==(const SymbolKey&, const SymbolKey&) = default;
};
inline SymbolKey symbol_key(SymbolKind kind, std::string_view name) {
    return {kind, base::Symbol::intern(name)};
}

enum class Role : std::uint8_t {
    Use,
    Define,          ///< the name of a definition, an assignment, or a key of a data file
    Prefix,          ///< the part of a longer name that names the class or define
    Inherited,       ///< a variable that the class itself does not define; an ancestor may
    Key,             ///< in a Hiera key, a comment or a text, which may or may not name something
    Attribute,       ///< of a resource
    ClassAttribute,  ///< of a class that is declared like a resource
    Title,           ///< a text such as "${title}::x", which contains the name of the class around
};

/// A place in a text at which a name occurs.
struct Occurrence {
    SymbolKey key;
    Span span;
    Role role = Role::Use;
};

enum class DefinitionKind : std::uint8_t {
    Class,
    Define,
    Function,
    DataType,      ///< a type alias or an Object type
    ResourceType,  ///< written in Ruby
    Plan,
    Node,
    Fact,
    Key,  ///< a top-level key of Hiera data
};

/// A parameter of a definition, or an attribute of a resource type written in Ruby.
struct ParameterInfo {
    std::string name;
    std::string type;           ///< as written; empty if there is none
    std::string default_value;  ///< as written; empty if there is none
    Span span;                  ///< of the name
    bool required = false;
    bool captures_rest = false;
};

struct Definition {
    DefinitionKind kind{};
    SymbolKey key;
    std::string shown;  ///< the name as written
    Span name_span;
    Span span;           ///< of the whole definition
    std::string parent;  ///< of a class: the inherited class; may be empty
    /// The return type of a function as written, the type that an alias names, or the data type of
    /// the value of a key. May be empty.
    std::string returns;
    /// The parameters of each dispatch of a function in Ruby: "String $text, Integer *$rest".
    std::vector<std::string> overloads;
    std::vector<ParameterInfo> parameters;
    /// True if any attribute name is possible, as for a Ruby type whose source is not understood.
    bool open = false;
};

struct FileSymbols {
    std::vector<Definition> definitions;  ///< ordered by offset
    std::vector<Occurrence> occurrences;  ///< ordered by offset; longer ones first

    /// Returns the innermost definition around the offset; null if there is none.
    const Definition* enclosing(std::uint32_t offset) const;
    /// Orders the definitions and the occurrences.
    void finish();

private:
    std::vector<std::uint32_t> reach_;  ///< the last end of the definitions up to each one
};

/// Returns the part of a qualified name before the last "::"; empty if there is none.
std::string_view namespace_of(std::string_view name);
/// Returns the last segment of a qualified name.
std::string_view last_segment(std::string_view name);
/// Removes a leading "::".
std::string_view without_top(std::string_view name);
/// Capitalizes every segment, as references are written: "a::b" becomes "A::B".
std::string capitalized_name(std::string_view name);

}  // namespace bunraku::lsp

template <>
struct std::hash<bunraku::lsp::SymbolKey> {
    std::size_t operator()(const bunraku::lsp::SymbolKey& key) const noexcept {
        return static_cast<std::size_t>(key.name.hash()) * 31 + static_cast<std::size_t>(key.kind);
    }
};
