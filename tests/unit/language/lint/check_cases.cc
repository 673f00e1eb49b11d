// SPDX-License-Identifier: Apache-2.0
#include "check_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "language/lint/check.h"

namespace bunraku::lint {

void run_check_cases(std::span<const CheckCase> cases) {
    for (const CheckCase& one : cases) {
        SCOPED_TRACE(one.check);
        LintOptions options;
        for (const Check* check : all_checks())
            options.checks[std::string(check->name)] = check->name == one.check;
        std::string problems;
        for (const Problem& problem : lint(one.text, "/foo/manifests/code.pp", options).problems) {
            EXPECT_EQ(problem.check, one.check);
            problems += fmt::format("{}:{} {} {}\n", problem.line, problem.column,
                                    base::upper(severity_name(problem.severity)), problem.message);
        }
        EXPECT_EQ(problems, one.problems);
        options.fix = true;
        const LintResult result = lint(one.text, "/foo/manifests/code.pp", options);
        ASSERT_TRUE(result.fixed_text.has_value());
        EXPECT_EQ(*result.fixed_text, one.fixed.empty() ? one.text : one.fixed);
    }
}

}  // namespace bunraku::lint
