// SPDX-License-Identifier: Apache-2.0
// The options of `bunraku lint`, which are those of puppet-lint with a few additions, and its
// configuration files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "language/lint/lint.h"

namespace bunraku::cli {

/// The program that determines the defaults.
enum class LintProgram : std::uint8_t {
    Bunraku,    ///< `bunraku lint`: the checks of plugins are on
    PuppetLint  ///< a link named puppet-lint: they are off, as in puppet-lint without plugins
};

enum class LintFormat : std::uint8_t { Text, Json, Sarif, GitHub };

struct LintArguments {
    lint::LintOptions options;
    LintFormat format = LintFormat::Text;
    std::string log_format;  ///< may be empty for the default
    std::string error_level = "all";
    std::string code_climate_file;
    std::vector<std::string> ignore_paths = {"vendor/**/*.pp"};
    std::vector<std::string> paths;
    std::vector<std::string> modulepath;  ///< folders of modules; may be empty
    bool with_context = false, with_filename = false, show_ignored = false;
    bool fail_on_warnings = false, github_annotations = false;
    bool list_checks = false, version = false, help = false;
    std::vector<std::string> warnings;  ///< about options without an effect
};

/// Reads a configuration file. Returns nullopt if it does not exist or cannot be read.
using ReadLintFile = std::function<std::optional<std::string>(const std::string&)>;

/// Parses the configuration files /etc/puppet-lint.rc, ~/.puppet-lint.rc and .puppet-lint.rc, and
/// then the arguments. `home` may be empty. The error is puppet-lint's ("invalid option: --x").
base::Result<LintArguments> parse_lint_arguments(LintProgram program,
                                                 const std::vector<std::string>& args,
                                                 const std::string& home, const ReadLintFile& read);

/// Returns the help of puppet-lint, with the options of all checks.
std::string puppet_lint_usage(LintProgram program);

/// Checks the files that the arguments name. Returns puppet-lint's exit code.
int run_lint(LintProgram program, const std::vector<std::string>& args);

}  // namespace bunraku::cli
