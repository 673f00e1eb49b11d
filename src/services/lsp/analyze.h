// SPDX-License-Identifier: Apache-2.0
// Extracts the symbols of a file, by its kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "language/syntax/ast.h"
#include "services/lsp/symbols.h"

namespace bunraku::lsp {

enum class FileKind : std::uint8_t {
    Other,
    Manifest,
    Epp,
    Erb,
    HieraData,    ///< YAML with keys of Hiera
    HieraConfig,  ///< hiera.yaml
    Ruby,         ///< a function, type, provider or fact of a module
    Json,
    Puppetfile,
};

FileSymbols symbols_of_manifest(const syntax::Tree& tree);
FileSymbols symbols_of_hiera(std::string_view text, FileKind kind);
FileSymbols symbols_of_erb(std::string_view text);
/// The scope of the parameters of an EPP template.
inline constexpr std::string_view kEppScope = "~1";
/// `path` decides what the file may define: lib/puppet/functions, lib/puppet/type, lib/facter ...
FileSymbols symbols_of_ruby(std::string_view text, std::string_view path);

/// Adds the occurrences that a qualified variable name or Hiera key consists of: the class before
/// the last "::", and the variable itself. `span` is that of the whole written name.
void add_qualified_name(FileSymbols& out, std::string_view written, Span span, Role role);

}  // namespace bunraku::lsp
