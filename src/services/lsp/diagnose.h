// SPDX-License-Identifier: Apache-2.0
// The problems of a document: syntax, names, types, Hiera data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/lsp/state.h"

namespace bunraku::lsp {

enum class Severity : std::uint8_t { Error = 1, Warning = 2, Information = 3, Hint = 4 };

struct Problem {
    Span span;
    Severity severity = Severity::Error;
    std::string code;  ///< such as "unknown-class"; may be empty
    std::string message;
    std::optional<SymbolKey> wanted = {};  ///< an unknown name, for suggestions
    bool deprecated = false;
};

/// The number of problems that are shown for a document.
inline constexpr std::size_t kMaxProblems = 1000;

/// Returns known names that resemble an unknown one, in the form of the text at the problem.
std::vector<std::string> suggestions(const State& state, const Problem& problem, Group group);

/// Returns the problems of an open document, ordered by position. Empty if it is not open.
std::vector<Problem> diagnose(const State& state, const std::string& path);
void write_problem(JsonWriter& out, const Problem& problem, const Range& range);
/// Returns the parameters of textDocument/publishDiagnostics.
std::string published_diagnostics(const State& state, const OpenFile& file);

// The checks of each kind of file. Each adds to `out`.
void check_syntax(const OpenFile& file, std::vector<Problem>& out);
void check_names(const State& state, const OpenFile& file, const IndexedFile& indexed,
                 std::vector<Problem>& out);
void check_types(const State& state, const OpenFile& file, std::vector<Problem>& out);
void check_hiera(const State& state, const OpenFile& file, const IndexedFile* indexed,
                 std::vector<Problem>& out);
void check_json(const OpenFile& file, std::vector<Problem>& out);

}  // namespace bunraku::lsp
