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
    const Token* last = nullptr;     ///< the last token of the range
};

/// Finds the ends of blocks in logarithmic time.
class BlockEnds {
public:
    explicit BlockEnds(std::span<Token* const> tokens);

    /// Returns the position of the first closing brace, from `from` on, after which as many braces
    /// are open as before the token at `from`. Returns nullopt if there is none.
    std::optional<std::size_t> after(std::size_t from) const;

private:
    std::vector<int> depths_;  ///< open braces before each token; negative after surplus braces
    int lowest_ = 0;
    std::vector<std::vector<std::size_t>> closing_;  ///< closing braces by the depth after them
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
    const BlockEnds& block_ends() const { return block_ends_; }

    // Definitions in more than kMaxNesting other definitions are not listed.
    static constexpr std::size_t kMaxNesting = 16;
    const std::vector<Definition>& classes() const { return classes_; }
    const std::vector<Definition>& defined_types() const { return defined_types_; }
    /// The classes, then the defined types.
    std::vector<const Definition*> definitions() const;
    /// Returns the resource bodies, or nothing if there is a syntax error.
    const std::vector<ResourceBody>& resources() const;
    /// Returns the tokens that are titles of resources. Some of them may appear several times.
    std::vector<Token*> titles() const;
    /// The place where a check asked for resources that could not be determined, or null.
    const Token* syntax_error() const { return syntax_error_; }

private:
    void find_definitions();
    std::vector<ResourceBody> find_resources() const;

    TokenStream& stream_;
    std::string_view path_;
    std::vector<std::string_view> lines_;
    BlockEnds block_ends_;
    std::vector<Definition> classes_, defined_types_;
    // Determined when a check asks for them, because only such a check reports a syntax error.
    mutable std::optional<std::vector<ResourceBody>> resources_;
    mutable const Token* syntax_error_ = nullptr;
};

}  // namespace bunraku::lint
