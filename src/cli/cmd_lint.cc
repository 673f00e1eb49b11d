// SPDX-License-Identifier: Apache-2.0
// bunraku lint: checks the style of manifests like puppet-lint, and fixes it.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

#include "cli/command.h"
#include "cli/lint_arguments.h"
#include "cli/lint_output.h"
#include "compile/checks/code_checks.h"
#include "compile/checks/file_checks.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/file_system.h"
#include "core/sys/wording.h"
#include "language/lint/check.h"
#include "resources/apply/types/file/fileset.h"

namespace bunraku::cli {

namespace {

/// The version of puppet-lint whose checks these are.
constexpr std::string_view kPuppetLintVersion = "5.1.1";

std::string lint_environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

void refuse_lint(std::string_view message) {
    fmt::print("puppet-lint: {}\npuppet-lint: try 'puppet-lint --help' for more information\n",
               message);
}

/// The files of a folder whose paths have one of the endings.
struct LintFiles {
    std::vector<std::string_view> endings;
    std::vector<std::string> paths{};
};

/// Adds the files in a folder to each of `kinds` that has their ending. Like a glob of Ruby, this
/// ignores hidden entries and does not follow links to folders. It also ignores links to nothing.
void find_lint_files(sys::FileSystem& files, const std::string& folder,
                     std::vector<LintFiles>& kinds) {
    const auto names = files.list(folder);
    if (!names) return;
    for (const std::string& name : *names) {
        if (name.starts_with('.')) continue;
        const std::string path = folder + "/" + name;
        const auto status = files.lstat(path);
        if (!status) continue;
        for (LintFiles& kind : kinds) {
            if (std::ranges::none_of(kind.endings, [&](auto end) { return path.ends_with(end); }))
                continue;
            // Devices and pipes might never end. For a folder, puppet-lint reports an error.
            const auto target = status->kind == sys::FileKind::Link ? files.stat(path) : status;
            if (target &&
                (target->kind == sys::FileKind::File || target->kind == sys::FileKind::Directory))
                kind.paths.push_back(path);
        }
        if (status->kind == sys::FileKind::Directory) find_lint_files(files, path, kinds);
    }
}

class LintCommand {
public:
    LintCommand(LintProgram program, sys::FileSystem& files, LintArguments arguments)
        : program_(program), files_(files), arguments_(std::move(arguments)) {}

    int run() {
        open_environment();
        const std::vector<std::string> paths = expand_paths();
        if (paths.size() > 1) arguments_.with_filename = true;
        for (const std::string& path : paths) {
            if (is_ignored(path)) continue;
            if (!lint_file(path)) return 1;
        }
        if (!write_reports()) return 1;
        return failed_ ? 1 : 0;
    }

private:
    /// Opens the modules of --modulepath. Throws if that fails.
    void open_environment() {
        if (arguments_.modulepath.empty()) return;
        environment::Spec spec;
        for (const std::string& folder : arguments_.modulepath)
            spec.modulepath.push_back(full_path(folder));
        spec.modulepath_given = spec.no_manifest = true;
        auto opened = environment::Environment::open(spec, log_);
        if (!opened) throw base::plain_error(opened.error().message);
        environment_ = std::move(*opened);
        names_.emplace(*environment_);
        // Code and data outside of modules may set parameters and read keys.
        for (const std::string& path : arguments_.paths) {
            const std::string full = full_path(path);
            names_->add_folder(files_.is_directory(full) ? full
                                                         : std::string(sys::directory_name(full)));
        }
    }

    std::vector<std::string> expand_paths() {
        std::vector<std::string> out;
        for (const std::string& path : arguments_.paths) {
            if (!files_.is_directory(path)) {
                out.push_back(path);
                continue;
            }
            std::vector<LintFiles> kinds = {{{".pp"}}, {{".yaml"}}, {{".yml"}}};
            if (program_ == LintProgram::Bunraku)
                kinds.push_back({{".epp", "/metadata.json", "/Puppetfile", "/environment.conf"}});
            find_lint_files(files_, path, kinds);
            for (LintFiles& kind : kinds) std::ranges::move(kind.paths, std::back_inserter(out));
        }
        return out;
    }

    bool is_ignored(const std::string& path) const {
        return std::ranges::any_of(arguments_.ignore_paths, [&](const std::string& pattern) {
            return apply::fnmatch(pattern, path);
        });
    }

    static std::string full_path(const std::string& path) {
        return sys::expand_path(path, lint_environment("PWD"));
    }

    /// Checks a file. Returns false, after an error message, if it cannot be read or written.
    bool lint_file(const std::string& path) {
        const auto text = files_.read(path);
        if (!text) {
            refuse_lint("no file specified or specified file does not exist");
            return false;
        }
        LintedFile file{path, full_path(path), {}, {}};
        lint::LintResult result;
        const checks::FileKind kind = checks::kind_of_file(file.full_path);
        if (is_linted(kind)) {
            lint::LintOptions options = arguments_.options;
            options.fix = options.fix && base::lower(path).ends_with(".pp");
            result = lint::lint(*text, file.full_path, options);
        }
        auto found = check(kind, *text, file.full_path);
        if (arguments_.options.fix) correct(kind, *text, file.full_path, found, result);
        std::ranges::move(found, std::back_inserter(result.problems));
        for (const std::string& warning : result.warnings)
            fmt::print(stderr, "WARNING: {}\n", warning);
        count(result.problems);
        if (arguments_.with_context) file.lines = base::texts(base::split(*text, '\n'));
        file.problems = std::move(result.problems);
        const bool invalid = std::ranges::find(file.problems, "syntax", &lint::Problem::check) !=
                             file.problems.end();
        select_problems(file, arguments_);
        if (arguments_.format == LintFormat::Text) fmt::print("{}", lint_text(file, arguments_));
        if (arguments_.format == LintFormat::GitHub) fmt::print("{}", lint_annotations(file));
        if (invalid) fmt::print(stderr, "Try running `puppet parser validate <file>`\n");
        linted_.push_back(std::move(file));
        // Like puppet-lint, leaves a file of blank lines alone instead of emptying it.
        return !result.fixed_text || result.fixed_text->empty() || *result.fixed_text == *text ||
               replace(path, *result.fixed_text);
    }

    /// Reports whether the checks of style apply to a file, in which puppet-lint sees a manifest
    /// unless it is YAML.
    bool is_linted(checks::FileKind kind) const {
        return program_ == LintProgram::PuppetLint || kind == checks::FileKind::Manifest ||
               kind == checks::FileKind::Yaml || kind == checks::FileKind::HieraConfig ||
               kind == checks::FileKind::Other;
    }

    std::vector<lint::Problem> check(checks::FileKind kind, std::string_view text,
                                     const std::string& path) {
        if (program_ == LintProgram::PuppetLint && kind != checks::FileKind::Manifest) return {};
        return checks::check_file(text, path, arguments_.options, names_ ? &*names_ : nullptr,
                                  folders_);
    }

    /// Applies the corrections of the compiler's problems after the fixes of style.
    void correct(checks::FileKind kind, const std::string& text, const std::string& path,
                 std::vector<lint::Problem>& found, lint::LintResult& result) {
        if (kind != checks::FileKind::Manifest) return;
        bool any = false;
        for (lint::Problem& problem : found) {
            if (!problem.correction || problem.severity == lint::Severity::Ignored) continue;
            problem.severity = lint::Severity::Fixed;
            any = true;
        }
        if (!any) return;
        const std::string& base = result.fixed_text ? *result.fixed_text : text;
        result.fixed_text = checks::corrected(base, check(kind, base, path));
    }

    void count(const std::vector<lint::Problem>& problems) {
        for (const lint::Problem& problem : problems) {
            failed_ = failed_ || problem.severity == lint::Severity::Error ||
                      (problem.severity == lint::Severity::Warning && arguments_.fail_on_warnings);
        }
    }

    bool write(const std::string& path, std::string_view text) {
        const auto written = files_.write(path, text);
        if (!written) fmt::print(stderr, "Error: {}\n", sys::plain_text(written.error().message));
        return written.has_value();
    }

    /// Replaces a manifest by a rename, so that a full disk leaves the old one. Keeps its mode, and
    /// its owner if root runs the command.
    bool replace(const std::string& path, std::string_view text) {
        const auto done = [&]() -> base::Result<void> {
            const std::string target = BUNRAKU_TRY(files_.real_path(path));
            const sys::FileStatus status = BUNRAKU_TRY(files_.stat(target));
            sys::WriteOptions options{.mode = status.mode};
            if (::geteuid() == 0) {
                options.uid = status.uid;
                options.gid = status.gid;
            }
            return files_.replace(target, text, options);
        }();
        if (!done) fmt::print(stderr, "Error: {}\n", sys::plain_text(done.error().message));
        return done.has_value();
    }

    bool write_reports() {
        if (arguments_.format == LintFormat::Json) fmt::print("{}", lint_json(linted_));
        if (arguments_.format == LintFormat::Sarif)
            fmt::print("{}", lint_sarif(linted_, base_folder()));
        return arguments_.code_climate_file.empty() ||
               write(arguments_.code_climate_file, lint_code_climate(linted_));
    }

    std::string base_folder() const {
        const std::string first = full_path(arguments_.paths.front());
        return files_.is_directory(first) ? first : std::string(sys::directory_name(first));
    }

    LintProgram program_;
    sys::FileSystem& files_;
    LintArguments arguments_;
    checks::DataFolders folders_;
    base::NullSink log_;
    std::shared_ptr<const environment::Environment> environment_;
    std::optional<checks::CodeNames> names_;
    std::vector<LintedFile> linted_;
    bool failed_ = false;
};

void list_checks(LintProgram program) {
    for (const lint::Check* check : lint::all_checks())
        if (program == LintProgram::Bunraku || check->group == lint::CheckGroup::Core)
            fmt::print("{}\n", check->name);
}

}  // namespace

int run_lint(LintProgram program, const std::vector<std::string>& args) {
    const auto files = sys::make_real_file_system();
    auto arguments =
        parse_lint_arguments(program, args, lint_environment("HOME"),
                             [&](const std::string& path) -> std::optional<std::string> {
                                 auto text = files->read(path);
                                 return text ? std::optional(std::move(*text)) : std::nullopt;
                             });
    if (!arguments) {
        refuse_lint(arguments.error().message);
        return 1;
    }
    for (const std::string& warning : arguments->warnings)
        fmt::print(stderr, "puppet-lint: {}\n", warning);
    if (arguments->help) {
        fmt::print("{}", puppet_lint_usage(program));
        return 0;
    }
    if (arguments->version) {
        fmt::print("puppet-lint {}\n", kPuppetLintVersion);
        return 0;
    }
    if (arguments->list_checks) {
        list_checks(program);
        return 0;
    }
    if (arguments->paths.empty()) {
        refuse_lint("no file specified");
        return 1;
    }
    if (arguments->code_climate_file.empty())
        arguments->code_climate_file = lint_environment("CODECLIMATE_REPORT_FILE");
    arguments->github_annotations = !lint_environment("GITHUB_ACTION").empty();
    return LintCommand(program, *files, std::move(*arguments)).run();
}

BUNRAKU_COMMAND(lint){
    .name = "lint",
    .summary = "Check the style of manifests, and fix it.",
    .run = [](Invocation& invocation) { return run_lint(LintProgram::Bunraku, invocation.args); }};

}  // namespace bunraku::cli
