// SPDX-License-Identifier: Apache-2.0
// Evaluates source text without a catalog.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/value/value.h"
#include "language/evaluator/interpreter.h"
#include "language/syntax/parser.h"

namespace bunraku::evaluator {

/// An interpreter, with the syntax trees that it has evaluated.
struct Bench {
    base::Arena arena;
    base::MemorySink log;
    FunctionTable table;
    Interpreter in;
    std::vector<std::shared_ptr<const syntax::Tree>> trees;

    explicit Bench(std::span<const Family> families = {}, Options options = {})
        : table(families), in(arena, log, table, {}, options) {}

    /// Returns the source text of the value, or the full error message.
    std::string run(const std::string& code) {
        try {
            trees.push_back(syntax::parse("", code));
            return value::to_source(in.evaluate_program(*trees.back()->program, in.top_scope()));
        } catch (const base::PuppetError& error) {
            return error.full_text();
        }
    }
};

}  // namespace bunraku::evaluator
