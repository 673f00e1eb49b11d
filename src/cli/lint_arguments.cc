// SPDX-License-Identifier: Apache-2.0
#include "cli/lint_arguments.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "core/base/text.h"
#include "core/config/setting_lists.h"
#include "language/lint/check.h"

namespace bunraku::cli {

namespace {

struct LintOption {
    std::string_view name;
    char letter;              ///< NUL if there is none
    std::string_view value;   ///< name of the value in the help; empty for a flag
    std::string_view doc;     ///< lines are separated by line feeds
    bool additional = false;  ///< whether puppet-lint does not have it
};

constexpr LintOption kLintOptions[] = {
    {"version", 0, "", "Display the current version."},
    {"help", 'h', "", "Display this overview.", true},
    {"no-config", 0, "", "Do not load default puppet-lint option files."},
    {"config", 'c', "FILE", "Load puppet-lint options from file."},
    {"with-context", 0, "", "Show where in the manifest the problem is."},
    {"with-filename", 0, "", "Display the filename before the warning."},
    {"fail-on-warnings", 0, "", "Return a non-zero exit status for warnings"},
    {"error-level", 0, "LEVEL", "The level of error to return (warning, error or all)."},
    {"show-ignored", 0, "", "Show problems that have been ignored by control comments"},
    {"relative", 0, "", "Compare module layout relative to the module root"},
    {"load", 'l', "FILE", "Load a file containing custom puppet-lint checks."},
    {"load-from-puppet", 0, "MODULEPATH", "Load plugins from the given Puppet module path."},
    {"fix", 'f', "", "Attempt to automatically fix errors"},
    {"log-format", 0, "FORMAT",
     "Change the log format.\nOverrides --with-filename.\n"
     "The following placeholders can be used:\n"
     "%{filename} - Filename without path.\n%{path}     - Path as provided to puppet-lint.\n"
     "%{fullpath} - Expanded path to the file.\n%{line}     - Line number.\n"
     "%{column}   - Column number.\n%{kind}     - The kind of message (warning, error).\n"
     "%{KIND}     - Uppercase version of %{kind}.\n%{check}    - The name of the check.\n"
     "%{message}  - The message."},
    {"json", 0, "", "Log output as JSON"},
    {"sarif", 0, "", "Log output as SARIF"},
    {"format", 0, "FORMAT", "Log output as text, json, sarif or github (annotations).", true},
    {"codeclimate-report-file", 0, "FILE", "Save a code climate compatible report to this file"},
    {"list-checks", 0, "", "List available check names."},
    {"plugins", 0, "", "Enable the checks of Vox Pupuli's plugins.", true},
    {"no-plugins", 0, "", "Disable the checks of Vox Pupuli's plugins.", true},
    {"docs-allowed-styles", 0, "STYLES",
     "A comma separated list of styles for parameter_documentation", true},
    {"chars-per-indent", 0, "NUMBER", "The number of spaces per level for strict_indent", true},
    {"modulepath", 0, "FOLDERS",
     "Folders of modules, separated by colons, whose classes, types and functions exist", true},
    {"only-checks", 0, "CHECKS", "A comma separated list of checks that should be run"},
    {"ignore-paths", 0, "PATHS", "A comma separated list of patterns to ignore"},
    {"top-scope-variables", 0, "VARS", "A comma separated list of allowed top scope variables"},
};

std::vector<std::string> comma_list(std::string_view text) {
    std::vector<std::string> out;
    for (const std::string_view part : base::split(text, ','))
        if (!part.empty()) out.emplace_back(part);
    return out;
}

class ArgumentParser {
public:
    ArgumentParser(LintArguments& out, const ReadLintFile& read) : out_(out), read_(read) {}

    /// Parses the arguments. Other words than options are added to `words`.
    base::Result<void> parse(const std::vector<std::string>& args,
                             std::vector<std::string>* words) {
        for (std::size_t i = 0; i < args.size(); ++i) {
            const std::string& arg = args[i];
            if (arg == "--") {
                words->insert(words->end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                              args.end());
                break;
            }
            if (!arg.starts_with('-') || arg == "-") {
                words->push_back(arg);
                continue;
            }
            BUNRAKU_TRY_VOID(arg.starts_with("--") ? parse_long(args, i) : parse_short(args, i));
        }
        return {};
    }

    /// Parses a file with one option per line.
    base::Result<void> parse_file(const std::string& path) {
        const auto text = read_(path);
        if (!text) return {};
        if (++depth_ > 10) return base::failure(fmt::format("{}: files include each other", path));
        std::vector<std::string> args, ignored;
        for (const std::string_view line : base::lines(*text))
            if (const auto option = base::trim(line); !option.empty()) args.emplace_back(option);
        return parse(args, &ignored);
    }

private:
    base::Result<void> parse_long(const std::vector<std::string>& args, std::size_t& i) {
        const std::string_view arg = args[i];
        const std::size_t equals = arg.find('=');
        const std::string_view name = arg.substr(2, equals == arg.npos ? equals : equals - 2);
        const std::string full_name = BUNRAKU_TRY(complete(name, arg));
        if (equals == arg.npos && switch_check(full_name)) return {};
        const auto option = std::ranges::find(kLintOptions, full_name, &LintOption::name);
        if (option == std::end(kLintOptions))
            return base::failure(fmt::format("invalid option: {}", arg));
        std::string value;
        if (equals != arg.npos) {
            value = arg.substr(equals + 1);
            if (option->value.empty())
                return base::failure(fmt::format("needless argument: {}", arg));
        } else if (!option->value.empty()) {
            if (++i == args.size()) return base::failure(fmt::format("missing argument: {}", arg));
            value = args[i];
        }
        return apply(option->name, value, arg);
    }

    base::Result<void> parse_short(const std::vector<std::string>& args, std::size_t& i) {
        const std::string_view arg = args[i];
        for (std::size_t at = 1; at < arg.size(); ++at) {
            const auto option = std::ranges::find(kLintOptions, arg[at], &LintOption::letter);
            if (option == std::end(kLintOptions))
                return base::failure(fmt::format("invalid option: -{}", arg[at]));
            if (option->value.empty()) {
                BUNRAKU_TRY_VOID(apply(option->name, {}, arg));
                continue;
            }
            std::string value(arg.substr(at + 1));
            if (value.empty()) {
                if (++i == args.size())
                    return base::failure(fmt::format("missing argument: -{}", arg[at]));
                value = args[i];
            }
            return apply(option->name, value, arg);
        }
        return {};
    }

    /// Returns the option or check with this name, or with a unique name that begins with it.
    static base::Result<std::string> complete(std::string_view name, std::string_view arg) {
        std::vector<std::string> found;
        const auto consider = [&](std::string candidate) {
            if (candidate == name) found = {candidate};
            if (candidate.starts_with(name) && (found.empty() || found[0] != name))
                found.push_back(std::move(candidate));
        };
        for (const LintOption& option : kLintOptions) consider(std::string(option.name));
        for (const lint::Check* check : lint::all_checks()) {
            consider(fmt::format("no-{}-check", check->name));
            consider(fmt::format("{}-check", check->name));
        }
        if (found.size() > 1 && found[0] != name)
            return base::failure(fmt::format("ambiguous option: {}", arg));
        if (found.empty()) return base::failure(fmt::format("invalid option: {}", arg));
        return found[0];
    }

    /// Applies "NAME-check" and "no-NAME-check". Returns false if there is no such check.
    bool switch_check(std::string_view name) {
        if (!name.ends_with("-check")) return false;
        name.remove_suffix(6);
        const bool on = !name.starts_with("no-");
        if (!on) name.remove_prefix(3);
        const lint::Check* check = lint::find_check(name);
        if (check) out_.options.checks[std::string(name)] = on;
        return check != nullptr;
    }

    base::Result<void> apply(std::string_view name, const std::string& value,
                             std::string_view arg) {
        struct Flag {
            std::string_view name;
            bool* target;
            bool state = true;
        };
        const Flag flags[] = {{"version", &out_.version},
                              {"help", &out_.help},
                              {"with-context", &out_.with_context},
                              {"with-filename", &out_.with_filename},
                              {"fail-on-warnings", &out_.fail_on_warnings},
                              {"show-ignored", &out_.show_ignored},
                              {"relative", &out_.options.relative},
                              {"fix", &out_.options.fix},
                              {"list-checks", &out_.list_checks},
                              {"plugins", &out_.options.plugins},
                              {"no-plugins", &out_.options.plugins, false}};
        if (const auto* flag = std::ranges::find(flags, name, &Flag::name);
            flag != std::end(flags)) {
            *flag->target = flag->state;
            return {};
        }
        if (name == "config") return parse_file(value);
        if (name == "json") out_.format = LintFormat::Json;
        if (name == "sarif") out_.format = LintFormat::Sarif;
        if (name == "format") return set_format(value, arg);
        if (name == "error-level") return set_level(value, arg);
        if (name == "chars-per-indent") return set_indent(value, arg);
        if (name == "modulepath") out_.modulepath = config::split_path(value);
        if (name == "log-format") out_.log_format = value;
        if (name == "codeclimate-report-file") out_.code_climate_file = value;
        if (name == "ignore-paths") out_.ignore_paths = comma_list(value);
        if (name == "top-scope-variables") out_.options.top_scope_variables = comma_list(value);
        if (name == "docs-allowed-styles") out_.options.docs_styles = comma_list(value);
        if (name == "only-checks") select_checks(comma_list(value));
        if (name == "load" || name == "load-from-puppet")
            out_.warnings.push_back(
                fmt::format("--{} has no effect: checks in Ruby cannot be loaded", name));
        return {};
    }

    void select_checks(const std::vector<std::string>& names) {
        for (const lint::Check* check : lint::all_checks()) {
            out_.options.checks[std::string(check->name)] =
                std::ranges::find(names, check->name) != names.end();
        }
    }

    base::Result<void> set_format(std::string_view value, std::string_view arg) {
        constexpr std::string_view kNames[] = {"text", "json", "sarif", "github"};
        const auto found = std::ranges::find(kNames, value);
        if (found == std::end(kNames))
            return base::failure(fmt::format("invalid argument: {} {}", arg, value));
        out_.format = static_cast<LintFormat>(found - kNames);
        return {};
    }

    base::Result<void> set_level(const std::string& value, std::string_view arg) {
        if (value != "all" && value != "warning" && value != "error")
            return base::failure(fmt::format("invalid argument: {} {}", arg, value));
        out_.error_level = value;
        return {};
    }

    base::Result<void> set_indent(const std::string& value, std::string_view arg) {
        if (value.size() != 1 || value[0] < '1' || value[0] > '9')
            return base::failure(fmt::format("invalid argument: {} {}", arg, value));
        out_.options.indent = value[0] - '0';
        return {};
    }

    LintArguments& out_;
    const ReadLintFile& read_;
    int depth_ = 0;  ///< number of files read
};

void add_option(std::string& out, std::string_view option, std::string_view doc) {
    constexpr std::size_t kColumn = 33;
    std::string line = fmt::format("    {}", option);
    bool first = true;
    for (const std::string_view text : base::split(doc, '\n')) {
        if (!first || line.size() >= kColumn) {
            out += line + "\n";
            line.clear();
        }
        line.resize(kColumn, ' ');
        line += text;
        first = false;
    }
    out += line + "\n";
}

}  // namespace

base::Result<LintArguments> parse_lint_arguments(LintProgram program,
                                                 const std::vector<std::string>& args,
                                                 const std::string& home,
                                                 const ReadLintFile& read) {
    LintArguments out;
    out.options.plugins = out.options.compiler = program == LintProgram::Bunraku;
    ArgumentParser parser(out, read);
    if (std::ranges::find(args, "--no-config") == args.end()) {
        BUNRAKU_TRY_VOID(parser.parse_file("/etc/puppet-lint.rc"));
        if (!home.empty()) BUNRAKU_TRY_VOID(parser.parse_file(home + "/.puppet-lint.rc"));
        BUNRAKU_TRY_VOID(parser.parse_file(".puppet-lint.rc"));
    }
    BUNRAKU_TRY_VOID(parser.parse(args, &out.paths));
    return out;
}

std::string puppet_lint_usage(LintProgram program) {
    std::string out =
        "    puppet-lint\n\n    Basic Command Line Usage:\n      puppet-lint [OPTIONS] PATH\n\n"
        "            PATH                         The path to the Puppet manifest.\n\n    "
        "Option:\n";
    for (const LintOption& option : kLintOptions) {
        if (option.name == "only-checks") out += "\n    Checks:\n";
        std::string text = option.letter ? fmt::format("-{}, ", option.letter) : "    ";
        text += fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
        add_option(out, text, option.doc);
    }
    for (const lint::Check* check : lint::all_checks()) {
        if (program == LintProgram::PuppetLint && check->group != lint::CheckGroup::Core) continue;
        add_option(out, fmt::format("    --no-{}-check", check->name),
                   fmt::format("Skip the {} check.", check->name));
        if (!check->enabled)
            add_option(out, fmt::format("    --{}-check", check->name),
                       fmt::format("Enable the {} check.", check->name));
    }
    return out;
}

}  // namespace bunraku::cli
