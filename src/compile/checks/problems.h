// SPDX-License-Identifier: Apache-2.0
// Collects the problems of one file (internal to this folder).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/lint/lint.h"
#include "language/syntax/ast.h"

namespace bunraku::checks {

class Problems {
public:
    lint::Problem& error(std::string_view check, base::Location where, std::string message) {
        return add(check, lint::Severity::Error, where, std::move(message));
    }
    lint::Problem& error(std::string_view check, const syntax::Node* node, std::string message) {
        return error(check, node->where(), std::move(message));
    }
    lint::Problem& warning(std::string_view check, base::Location where, std::string message) {
        return add(check, lint::Severity::Warning, where, std::move(message));
    }
    lint::Problem& warning(std::string_view check, const syntax::Node* node, std::string message) {
        return warning(check, node->where(), std::move(message));
    }

    std::vector<lint::Problem> all;

private:
    lint::Problem& add(std::string_view check, lint::Severity severity, const base::Location& where,
                       std::string message) {
        all.push_back({.check = check,
                       .severity = severity,
                       .message = std::move(message),
                       .line = where.line > 0 ? where.line : 1,
                       .column = where.column > 0 ? where.column : 1,
                       .reason = {}});
        return all.back();
    }
};

/// Removes the problems of disabled checks, and orders the others by place.
void select_problems(Problems& problems, const lint::LintOptions& options);

}  // namespace bunraku::checks
