// SPDX-License-Identifier: Apache-2.0
// Which built-in functions return the same results as which releases of puppetlabs-stdlib.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bunraku::function {

/// A function of this folder and the files of the module that it replaces.
struct StdlibFunction {
    std::string_view name;
    /// Paths, relative to the module, of all files that implement the function in any release: its
    /// own file for either API, and the files of the functions that it calls. A release may lack
    /// some of them.
    std::span<const std::string_view> files;
    /// The results of digest_of_files for the releases with the same results.
    std::span<const std::uint64_t> digests;
    /// The digests of the releases that have the same results for usual arguments
    /// (evaluator::Builtin::usual) but not for unusual ones.
    std::span<const std::uint64_t> usual;
};

/// Returns all functions of the table, sorted by name. tools/stdlib_releases/compare generates the
/// table.
std::span<const StdlibFunction> stdlib_functions();
/// Returns the entry of a function, or null if it does not replace the function of any release.
const StdlibFunction* find_stdlib_function(std::string_view name);

}  // namespace bunraku::function
