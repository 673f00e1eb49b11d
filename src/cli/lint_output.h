// SPDX-License-Identifier: Apache-2.0
// The output of `bunraku lint`: puppet-lint's text and JSON, SARIF, annotations of GitHub Actions,
// and Code Climate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/lint_arguments.h"

namespace bunraku::cli {

/// The problems of one file.
struct LintedFile {
    std::string path;       ///< as given
    std::string full_path;  ///< absolute
    std::vector<lint::Problem> problems;
    std::vector<std::string> lines;  ///< of the file, for the context; may be empty
};

/// Removes the problems that the options hide: ignored ones, and those of other levels.
void select_problems(LintedFile& file, const LintArguments& arguments);

/// Returns the lines for the problems of one file.
std::string lint_text(const LintedFile& file, const LintArguments& arguments);
/// Returns one annotation of GitHub Actions for each problem.
std::string lint_annotations(const LintedFile& file);
/// Returns puppet-lint's JSON: an array of arrays.
std::string lint_json(const std::vector<LintedFile>& files);
/// Returns SARIF 2.1.0. Paths are relative to the folder `base`.
std::string lint_sarif(const std::vector<LintedFile>& files, const std::string& base);
/// Returns a report for Code Climate and for GitLab's code quality.
std::string lint_code_climate(const std::vector<LintedFile>& files);

}  // namespace bunraku::cli
