// SPDX-License-Identifier: Apache-2.0
// Parsed signatures of built-in functions, and the selection of an overload.
#pragma once

#include <span>
#include <string_view>

#include "language/evaluator/function.h"
#include "language/types/kinds.h"

namespace bunraku::evaluator {

/// An overload with its parsed signature. Immutable; lives as long as the table.
struct ParsedOverload {
    const Overload* overload = nullptr;
    std::span<const std::string_view> names;
    std::span<const types::Type* const> types;  ///< null means Any
    int minimum = 0;
    int maximum = 0;                     ///< -1 if the last parameter can repeat without limit
    const types::Type* block = nullptr;  ///< null if the overload does not accept a block
    bool block_optional = false;
    bool block_any = false;  ///< True if any block is accepted.
    /// number of arguments that the block must accept, for Callable[n, n]; otherwise -1
    int block_arguments = -1;
    std::string_view block_name;
    const types::CallableType* callable = nullptr;
};

/// Reports whether the overload accepts these arguments.
bool accepts(Interpreter& in, const ParsedOverload& overload, std::span<const Value> args,
             const Callable* block);

}  // namespace bunraku::evaluator
