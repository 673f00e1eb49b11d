// SPDX-License-Identifier: Apache-2.0
// A tokenised manifest and its structure, as far as puppet-lint finds it without a grammar.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "language/lint/token_stream.h"

namespace bunraku::lint {

/// Positions of tokens, `first` to `last` inclusive.
struct TokenRange {
    std::size_t first = 0, last = 0;
    bool contains(std::size_t index) const { return first <= index && index <= last; }
};

/// A class, defined type or node definition: from its keyword to its closing brace.
struct Definition {
    TokenType kind = TokenType::Class;
    TokenRange range;
    Token* name = nullptr;
    Token* inherited = nullptr;  ///< name of the inherited class, or null
    bool has_parameters = false;
    /// The tokens between the parentheses.
    std::span<Token* const> parameters;
};

/// A resource body: from the colon after its title to the semicolon or closing brace.
struct ResourceBody {
    TokenRange range;
    Token* type = nullptr;
    std::vector<Token*> attributes;  ///< names of its attributes
};

/// A manifest during its checks. Nothing changes until the checks are done.
class Manifest {
public:
    /// `path` is the absolute path of the file, or empty.
    Manifest(TokenStream& stream, std::string_view text, std::string_view path);

    std::span<Token* const> tokens() const { return stream_.tokens(); }
    std::span<Token* const> tokens(TokenRange range) const;
    std::string_view path() const { return path_; }
    /// The lines of the file without their line feeds.
    const std::vector<std::string_view>& lines() const { return lines_; }

    const std::vector<Definition>& classes() const { return classes_; }
    const std::vector<Definition>& defined_types() const { return defined_types_; }
    /// The classes, then the defined types.
    std::vector<const Definition*> definitions() const;
    /// Returns the resource bodies, or nothing if there is a syntax error.
    const std::vector<ResourceBody>& resources() const;
    /// Returns the tokens that are titles of resources.
    std::vector<Token*> titles() const;
    /// The place where a check asked for resources that could not be determined, or null.
    const Token* syntax_error() const { return syntax_error_; }

private:
    std::vector<Definition> find_definitions(TokenType kind) const;
    std::vector<ResourceBody> find_resources() const;
    Token* resource_type(std::size_t colon) const;

    TokenStream& stream_;
    std::string_view path_;
    std::vector<std::string_view> lines_;
    std::vector<Definition> classes_, defined_types_;
    // Determined when a check asks for them, because only such a check reports a syntax error.
    mutable std::optional<std::vector<ResourceBody>> resources_;
    mutable const Token* syntax_error_ = nullptr;
};

}  // namespace bunraku::lint
