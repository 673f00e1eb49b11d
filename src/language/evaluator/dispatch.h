// Signatures of built-in functions, parsed, and the choice among them.
#pragma once

#include <span>
#include <string_view>

#include "language/evaluator/function.h"
#include "language/types/kinds.h"

namespace bunraku::evaluator {

/// An overload with its signature parsed. Immutable; lives as long as the table.
struct ParsedOverload {
    const Overload* overload = nullptr;
    std::span<const std::string_view> names;
    std::span<const types::Type* const> types;  ///< null: Any
    int minimum = 0;
    int maximum = 0;                     ///< -1: the last parameter repeats without end
    const types::Type* block = nullptr;  ///< null: takes none
    bool block_optional = false;
    bool block_any = false;    ///< accepts every block
    int block_arguments = -1;  ///< for Callable[n, n]: a block that can take n arguments
    std::string_view block_name;
    const types::CallableType* callable = nullptr;
};

/// True where the overload takes these arguments.
bool accepts(Interpreter& in, const ParsedOverload& overload, std::span<const Value> args,
             const Callable* block);

}  // namespace bunraku::evaluator
