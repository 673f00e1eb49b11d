// SPDX-License-Identifier: Apache-2.0
#include "cli/lint_output.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "cli/command.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/file_system.h"
#include "language/lint/check.h"

namespace bunraku::cli {

using codec::json_string;
using lint::Problem;
using lint::Severity;

namespace {

/// Returns the value of a placeholder of the log format, or nullopt if there is no such
/// placeholder.
std::optional<std::string> placeholder(std::string_view name, const LintedFile& file,
                                       const Problem& problem) {
    if (name == "filename") return std::string(sys::base_name(file.path));
    if (name == "path") return file.path;
    if (name == "fullpath") return file.full_path;
    if (name == "line") return std::to_string(problem.line);
    if (name == "column") return std::to_string(problem.column);
    if (name == "kind") return std::string(lint::severity_name(problem.severity));
    if (name == "KIND") return base::upper(lint::severity_name(problem.severity));
    if (name == "check") return std::string(problem.check);
    if (name == "message") return problem.message;
    return std::nullopt;
}

std::string expand_format(std::string_view format, const LintedFile& file, const Problem& problem) {
    std::string out;
    while (!format.empty()) {
        const std::size_t percent = std::min(format.find('%'), format.size());
        out += format.substr(0, percent);
        format.remove_prefix(percent);
        if (format.starts_with("%%")) {
            out += '%';
            format.remove_prefix(2);
            continue;
        }
        const std::size_t close = format.find('}');
        std::optional<std::string> value;
        if (format.starts_with("%{") && close != std::string_view::npos)
            value = placeholder(format.substr(2, close - 2), file, problem);
        const std::size_t used = value ? close + 1 : std::min<std::size_t>(1, format.size());
        out += value ? *value : std::string(format.substr(0, used));
        format.remove_prefix(used);
    }
    return out;
}

/// Returns the line of the problem, and a caret below its column.
std::string lint_context(const LintedFile& file, const Problem& problem) {
    const auto number = static_cast<std::size_t>(problem.line);
    if (number == 0 || number > file.lines.size()) return {};
    const std::string_view line = base::trim(file.lines[number - 1]);
    return fmt::format("\n  {}\n{:>{}}\n\n", line, '^',
                       problem.column + 2 - (line.empty() ? 1 : 0));
}

std::string escape_annotation(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '%')
            out += "%25";
        else if (c == '\n')
            out += "%0A";
        else if (c == '\r')
            out += "%0D";
        else
            out += c;
    }
    return out;
}

std::string sarif_level(Severity severity) {
    return severity == Severity::Error     ? "error"
           : severity == Severity::Warning ? "warning"
                                           : "note";
}

std::string relative_path(const std::string& path, const std::string& base) {
    const std::string prefix = base.ends_with('/') ? base : base + "/";
    return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

/// Joins JSON values, one per line.
std::string lint_json_list(const std::vector<std::string>& items, std::string_view indent) {
    if (items.empty()) return "[]";
    std::string out = "[";
    for (std::size_t i = 0; i < items.size(); ++i)
        out += fmt::format("{}\n{}  {}", i ? "," : "", indent, items[i]);
    return out + fmt::format("\n{}]", indent);
}

std::string sarif_rule(const Problem& problem) {
    const lint::Check* check = lint::find_check(problem.check);
    return fmt::format(R"({{"id": {}, "fullDescription": {{"text": {}}}}})",
                       json_string(problem.check),
                       json_string(check ? check->description : "The syntax is valid."));
}

}  // namespace

void select_problems(LintedFile& file, const LintArguments& arguments) {
    std::erase_if(file.problems, [&](const Problem& problem) {
        if (problem.severity == Severity::Ignored && !arguments.show_ignored) return true;
        return problem.severity != Severity::Fixed && arguments.error_level != "all" &&
               arguments.error_level != lint::severity_name(problem.severity);
    });
}

std::string lint_text(const LintedFile& file, const LintArguments& arguments) {
    std::string format = arguments.log_format;
    if (format.empty()) {
        format = arguments.with_filename ? "%{path} - " : "";
        format += "%{KIND}: %{message} on line %{line} (check: %{check})";
    }
    std::string out;
    for (const Problem& problem : file.problems) {
        out += expand_format(format, file, problem) + "\n";
        if (problem.severity == Severity::Ignored) out += fmt::format("  {}\n", problem.reason);
        if (arguments.with_context && problem.severity != Severity::Fixed)
            out += lint_context(file, problem);
        if (arguments.github_annotations) {
            LintedFile one{file.path, file.full_path, {problem}, {}};
            out += "\n" + lint_annotations(one);
        }
    }
    return out;
}

std::string lint_annotations(const LintedFile& file) {
    std::string out;
    for (const Problem& problem : file.problems) {
        out += fmt::format("::{} file={},line={},col={}::{} (check: {})\n",
                           lint::severity_name(problem.severity), file.path, problem.line,
                           problem.column, escape_annotation(problem.message), problem.check);
    }
    return out;
}

std::string lint_json(const std::vector<LintedFile>& files) {
    std::vector<std::string> lists;
    for (const LintedFile& file : files) {
        std::vector<std::string> items;
        for (const Problem& problem : file.problems) {
            const std::string_view kind = lint::severity_name(problem.severity);
            std::string item = fmt::format(
                "{{\n      \"message\": {},\n      \"line\": {},\n      \"column\": {},\n"
                "      \"kind\": {},\n      \"check\": {},\n      \"fullpath\": {},\n"
                "      \"path\": {},\n      \"filename\": {},\n",
                json_string(problem.message), problem.line, problem.column, json_string(kind),
                json_string(problem.check), json_string(file.full_path), json_string(file.path),
                json_string(sys::base_name(file.path)));
            if (problem.severity == Severity::Ignored)
                item += fmt::format("      \"reason\": {},\n", json_string(problem.reason));
            item += fmt::format("      \"KIND\": {}", json_string(base::upper(kind)));
            const auto number = static_cast<std::size_t>(problem.line);
            if (number > 0 && number <= file.lines.size())
                item += fmt::format(",\n      \"context\": {}",
                                    json_string(base::trim(file.lines[number - 1])));
            items.push_back(item + "\n    }");
        }
        lists.push_back(items.empty() ? "[\n\n  ]" : lint_json_list(items, "  "));
    }
    return lint_json_list(lists, "") + "\n";
}

std::string lint_sarif(const std::vector<LintedFile>& files, const std::string& base) {
    std::vector<std::string> rules, results;
    std::vector<std::string_view> names;
    for (const LintedFile& file : files) {
        for (const Problem& problem : file.problems) {
            const auto found = std::ranges::find(names, problem.check);
            const auto index = static_cast<std::size_t>(found - names.begin());
            if (index == names.size()) {
                names.push_back(problem.check);
                rules.push_back(sarif_rule(problem));
            }
            results.push_back(fmt::format(
                R"({{"ruleId": {}, "ruleIndex": {}, "level": "{}", "message": {{"text": {}}}, )"
                R"("locations": [{{"physicalLocation": {{"artifactLocation": {{"uri": {}, )"
                R"("uriBaseId": "ROOTPATH"}}, "region": {{"startLine": {}, "startColumn": {}}}}}}}]}})",
                json_string(problem.check), index, sarif_level(problem.severity),
                json_string(problem.message), json_string(relative_path(file.full_path, base)),
                problem.line, problem.column));
        }
    }
    const std::string uri = "file://" + base + (base.ends_with('/') ? "" : "/");
    return fmt::format(
        R"({{
  "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {{
      "tool": {{
        "driver": {{
          "name": "bunraku lint",
          "version": {},
          "rules": {}
        }}
      }},
      "columnKind": "unicodeCodePoints",
      "originalUriBaseIds": {{"ROOTPATH": {{"uri": {}}}}},
      "results": {}
    }}
  ]
}}
)",
        json_string(kVersion), lint_json_list(rules, "          "), json_string(uri),
        lint_json_list(results, "      "));
}

std::string lint_code_climate(const std::vector<LintedFile>& files) {
    std::vector<std::string> items;
    for (const LintedFile& file : files) {
        for (const Problem& problem : file.problems) {
            if (problem.severity != Severity::Warning && problem.severity != Severity::Error)
                continue;
            const std::string_view severity =
                problem.severity == Severity::Error ? "major" : "minor";
            const std::string issue = fmt::format(
                R"("type": "issue", "check_name": {}, "description": {}, "categories": ["Style"], )"
                R"("severity": "{}", "location": {{"path": {}, )"
                R"("lines": {{"begin": {}, "end": {}}}}})",
                json_string(problem.check), json_string(problem.message), severity,
                json_string(file.path), problem.line, problem.line);
            items.push_back(
                fmt::format(R"({{{}, "fingerprint": "{}"}})", issue, codec::short_digest(issue)));
        }
    }
    return lint_json_list(items, "") + "\n";
}

}  // namespace bunraku::cli
