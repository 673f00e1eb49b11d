// SPDX-License-Identifier: Apache-2.0
// bunraku fmt: writes manifests in the canonical layout.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/sys/file_system.h"
#include "language/format/format.h"
#include "resources/catalog/line_diff.h"

namespace bunraku::cli {

namespace {

using base::Result;

constexpr int kUnformatted = 1, kFailed = 2;

struct FormatRequest {
    bool check = false, diff = false;
    std::optional<format::LineRange> lines;
    format::FormatOptions options;
    std::string stdin_name = "<stdin>";
};

/// Parses the value of --lines, such as "10:20".
Result<format::LineRange> parse_lines(std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto first = base::parse_integer<int>(text.substr(0, colon));
    const auto last =
        colon == std::string_view::npos ? first : base::parse_integer<int>(text.substr(colon + 1));
    if (!first || !last || *first < 1 || *last < *first)
        return base::failure(
            fmt::format("Invalid value '{}' of --lines: expected FIRST:LAST, such as 10:20", text));
    return format::LineRange{*first, *last};
}

Result<int> parse_line_length(std::string_view text) {
    const auto length = base::parse_integer<int>(text);
    if (!length || *length < 40 || *length > 1000)
        return base::failure(fmt::format(
            "Invalid value '{}' of --line-length: expected a number from 40 to 1000", text));
    return *length;
}

class FormatCommand {
public:
    FormatCommand(FormatRequest request, base::LogSink& sink)
        : request_(std::move(request)), sink_(sink), files_(sys::make_real_file_system()) {}

    int run(const std::vector<std::string>& paths) {
        for (const std::string& path : paths) {
            if (path == "-") {
                from_stdin();
            } else if (files_->is_directory(path)) {
                folder(path);
            } else {
                file(path);
            }
        }
        return status_;
    }

private:
    void fail(const std::string& message) {
        sink_.log(base::Level::Err, message);
        status_ = kFailed;
    }

    Result<std::string> formatted(std::string_view text, std::string_view name) const {
        if (!request_.lines) return format::format(text, name, request_.options);
        return format::apply_edits(
            text, BUNRAKU_TRY(format::format_range(text, name, *request_.lines, request_.options)));
    }

    /// Reports a text whose layout is not the canonical one, according to --check and --diff.
    void report_unformatted(const std::string& name, std::string_view before,
                            std::string_view after) {
        if (request_.check || request_.diff) status_ = std::max(status_, kUnformatted);
        if (!request_.diff) {
            fmt::print("{}\n", name);
            return;
        }
        fmt::print("--- {0}.orig\n+++ {0}\n", name);
        for (const std::string& line : catalog::line_diff(before, after)) fmt::print("{}\n", line);
    }

    void from_stdin() {
        const std::string text = read_stdin();
        const auto result = formatted(text, request_.stdin_name);
        if (!result) return fail(result.error().message);
        if (!request_.check && !request_.diff) {
            std::fwrite(result->data(), 1, result->size(), stdout);
        } else if (*result != text) {
            report_unformatted(request_.stdin_name, text, *result);
        }
    }

    void file(const std::string& path) {
        const auto text = files_->read(path);
        if (!text) return fail(text.error().message);
        const auto result = formatted(*text, path);
        if (!result) return fail(result.error().message);
        if (*result == *text) return;
        if (!request_.check && !request_.diff) {
            if (const auto done = replace(path, *result); !done) return fail(done.error().message);
        }
        report_unformatted(path, *text, *result);
    }

    /// Replaces the file that `path` names, or the target of a link. Keeps its mode, and for root
    /// also its owner.
    Result<void> replace(const std::string& path, std::string_view text) {
        const std::string target = BUNRAKU_TRY(files_->real_path(path));
        const sys::FileStatus status = BUNRAKU_TRY(files_->stat(target));
        sys::WriteOptions options{.mode = status.mode};
        if (geteuid() == 0) {
            options.uid = status.uid;
            options.gid = status.gid;
        }
        return files_->replace(target, text, options);
    }

    /// Formats the manifests in a folder and its subfolders, ordered by path. Hidden folders and
    /// links are skipped.
    void folder(const std::string& path) {
        const auto names = files_->list(path);
        if (!names) return fail(names.error().message);
        for (const std::string& name : *names) {
            const std::string inner = sys::join(path, name);
            const auto status = files_->lstat(inner);
            if (!status) {
                fail(status.error().message);
            } else if (status->kind == sys::FileKind::Directory) {
                if (!name.starts_with('.')) folder(inner);
            } else if (status->kind == sys::FileKind::File && name.ends_with(".pp")) {
                file(inner);
            }
        }
    }

    FormatRequest request_;
    base::LogSink& sink_;
    std::unique_ptr<sys::FileSystem> files_;
    int status_ = 0;
};

/// Reads the options and runs the command.
Result<int> format_paths(FormatRequest request, std::vector<std::string> paths,
                         const std::string& lines, const std::string& line_length,
                         base::LogSink& sink) {
    if (!lines.empty()) request.lines = BUNRAKU_TRY(parse_lines(lines));
    if (!line_length.empty())
        request.options.line_length = BUNRAKU_TRY(parse_line_length(line_length));
    if (paths.empty()) {
        if (isatty(STDIN_FILENO) == 1)
            return base::failure("No files given, and standard input is a terminal");
        paths.emplace_back("-");
    }
    return FormatCommand(std::move(request), sink).run(paths);
}

int run_fmt(Invocation& invocation) {
    OptionParser options(invocation);
    FormatRequest request;
    std::string lines, line_length;
    std::vector<std::string> paths;
    options.flag("check", &request.check);
    options.flag("diff", &request.diff);
    options.value("lines", &lines);
    options.value("line-length", &line_length);
    options.value("stdin-name", &request.stdin_name);
    if (!options.parse(&paths)) return options.help_requested ? 0 : kFailed;
    auto sink = make_console_sink(options);
    const auto status =
        format_paths(std::move(request), std::move(paths), lines, line_length, *sink);
    if (status) return *status;
    sink->log(base::Level::Err, status.error().message);
    return kFailed;
}

}  // namespace

BUNRAKU_COMMAND(fmt){.name = "fmt", .summary = "Format Puppet code in one style.", .run = run_fmt};

}  // namespace bunraku::cli
