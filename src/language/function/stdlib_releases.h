// Which functions here give the answers of which releases of puppetlabs-stdlib.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bunraku::function {

/// A function of this folder and the module's files after which it answers.
struct StdlibFunction {
    std::string_view name;
    /// All that the function is made of in any release, relative to the module: its own file of
    /// either API, and those of what it calls. Not every release has every one.
    std::span<const std::string_view> files;
    /// What digest_of_files gives for the releases whose answers are the same.
    std::span<const std::uint64_t> digests;
    /// Those of the releases whose answers are the same for the usual arguments
    /// (evaluator::Builtin::usual), not for odd ones.
    std::span<const std::uint64_t> usual;
};

/// Every function of the table, by name. Made by tools/stdlib_releases/compare.
std::span<const StdlibFunction> stdlib_functions();
/// Null where no release is known to be answered for.
const StdlibFunction* find_stdlib_function(std::string_view name);

}  // namespace bunraku::function
