// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/diagnose.h"

#include <algorithm>
#include <set>

#include "core/base/similar.h"
#include "core/base/text.h"
#include "core/codec/json_cursor.h"
#include "language/function/table.h"
#include "language/syntax/parser.h"
#include "modules/module/puppetfile_text.h"
#include "resources/restype/spec.h"
#include "services/lsp/describe.h"
#include "services/lsp/lint_problems.h"

namespace bunraku::lsp {

namespace {

/// Extends an offset to the word or the character that begins there.
Span word_span_at(std::string_view text, std::uint32_t offset) {
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == ':' || c == '$';
    };
    std::uint32_t end = offset;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == offset && end < text.size() && text[end] != '\n') ++end;
    return {offset, end - offset};
}

Problem problem_of_diagnostic(const OpenFile& file, const base::Diagnostic& found) {
    const Document& document = file.document;
    Problem problem;
    problem.span = word_span_at(document.text(),
                                offset_of_location(document.text(), document.lines(), found.where));
    problem.severity = found.level >= base::Level::Err ? Severity::Error : Severity::Warning;
    problem.code = found.issue_code;
    problem.message = found.message;
    problem.deprecated = found.deprecation;
    return problem;
}

/// Returns the folders that contain modules, for Puppet's check of names against paths.
std::vector<std::string> module_parents(const Workspace& workspace) {
    std::set<std::string> parents;
    for (const ModuleFolder& module : workspace.modules())
        parents.insert(module.path.substr(0, module.path.rfind('/')));
    return {parents.begin(), parents.end()};
}

/// Reports whether Puppet loads the file by the names that it defines. Examples and tests of
/// modules may contain any code.
bool is_autoloaded(std::string_view path) {
    constexpr std::string_view kFolders[] = {"/manifests/", "/functions/", "/types/", "/plans/"};
    return std::ranges::any_of(kFolders, [&](std::string_view folder) {
        return path.find(folder) != std::string_view::npos;
    });
}

void check_puppetfile(const OpenFile& file, std::vector<Problem>& out) {
    const auto parsed = module::parse_puppetfile_words(file.document.text());
    if (parsed) return;
    // The message contains the line: "line 3".
    std::uint32_t line = 0;
    const std::string& message = parsed.error().message;
    if (const std::size_t at = message.find("line "); at != std::string::npos)
        line = static_cast<std::uint32_t>(std::max(1, std::atoi(message.c_str() + at + 5)) - 1);
    const Document& document = file.document;
    line = std::min<std::uint32_t>(line, static_cast<std::uint32_t>(document.lines().count()) - 1);
    const auto size =
        static_cast<std::uint32_t>(document.lines().line(document.text(), line).size());
    out.push_back({{document.lines().start(line), size},
                   Severity::Information,
                   "puppetfile-needs-ruby",
                   message,
                   {},
                   false});
}

}  // namespace

void check_json(const OpenFile& file, std::vector<Problem>& out) {
    const Document& document = file.document;
    try {
        codec::JsonCursor cursor(document.text());
        std::string ignored;
        cursor.canonical(ignored);
        cursor.finish();
    } catch (const codec::JsonError& error) {
        base::Location where{"", static_cast<int>(error.line), static_cast<int>(error.column)};
        out.push_back({word_span_at(document.text(),
                                    offset_of_location(document.text(), document.lines(), where)),
                       Severity::Error,
                       "json-syntax",
                       error.what.empty() ? error.message : error.what,
                       {},
                       false});
    }
}

void check_syntax(const OpenFile& file, std::vector<Problem>& out) {
    const Document& document = file.document;
    if (!file.parsed.error) return;
    const auto& error = *file.parsed.error;
    Problem problem;
    problem.span = word_span_at(
        document.text(), offset_of_location(document.text(), document.lines(), error.where()));
    problem.code = error.issue_code();
    problem.message = error.message();
    out.push_back(std::move(problem));
}

std::vector<Problem> diagnose(const State& state, const std::string& path) {
    std::vector<Problem> out;
    const auto found = state.workspace.open_files().find(path);
    if (found == state.workspace.open_files().end()) return out;
    const OpenFile& file = found->second;
    const IndexedFile* indexed = state.workspace.index().file(path);
    switch (file.kind) {
        case FileKind::Manifest:
        case FileKind::Epp: {
            check_syntax(file, out);
            if (!file.parsed.error) {
                syntax::ValidateOptions options;
                if (is_autoloaded(path)) options.modulepath = module_parents(state.workspace);
                for (const auto& each : syntax::validate(*file.parsed.tree, options))
                    out.push_back(problem_of_diagnostic(file, each));
                for (const auto& each : file.parsed.tree->warnings)
                    out.push_back(problem_of_diagnostic(file, each));
            }
            if (indexed && file.parsed.useful) check_names(state, file, *indexed, out);
            check_types(state, file, out);
            check_code(file, out);
            if (file.kind == FileKind::Manifest) check_lint(file, out);
            break;
        }
        case FileKind::HieraData:
            if (path.ends_with(".json")) {
                check_json(file, out);
                break;
            }
            [[fallthrough]];
        case FileKind::HieraConfig: check_hiera(state, file, indexed, out); break;
        case FileKind::Json:
            check_json(file, out);
            if (out.empty()) check_other_file(file, out);
            break;
        case FileKind::Puppetfile:
            check_puppetfile(file, out);
            check_other_file(file, out);
            break;
        default:
            if (path.ends_with("/environment.conf")) check_other_file(file, out);
            // Templates of YAML files need not be YAML themselves.
            if ((path.ends_with(".yaml") || path.ends_with(".yml")) &&
                path.find("/templates/") == std::string::npos &&
                path.find("/files/") == std::string::npos)
                check_hiera(state, file, nullptr, out);
            break;
    }
    std::ranges::stable_sort(out, {}, [](const Problem& problem) { return problem.span.offset; });
    if (out.size() > kMaxProblems) out.resize(kMaxProblems);
    return out;
}

std::vector<std::string> suggestions(const State& state, const Problem& problem, Group group) {
    if (!problem.wanted) return {};
    std::vector<std::string> names;
    const SymbolKey wanted = *problem.wanted;
    const std::string name(wanted.name.view());
    if (wanted.kind == SymbolKind::Variable) {
        const std::string owner(namespace_of(name));
        state.workspace.index().each_definition(group, [&](const DefinitionPlace& place) {
            if (place.definition->key.name.view() != owner) return;
            for (const auto& parameter : place.definition->parameters)
                names.push_back(parameter.name);
        });
        if (const auto* type = native_type(owner))
            for (const auto& attribute : type->attributes) names.emplace_back(attribute.name);
        return base::similar_names(last_segment(name), names);
    }
    state.workspace.index().each_definition(group, [&](const DefinitionPlace& place) {
        if (place.definition->key.kind == wanted.kind)
            names.emplace_back(place.definition->key.name.view());
    });
    if (wanted.kind == SymbolKind::Type)
        for (const auto* type : restype::all_types()) names.emplace_back(type->name);
    if (wanted.kind == SymbolKind::Function)
        for (const auto* each : function::builtin_functions().all()) names.emplace_back(each->name);
    return base::similar_names(name, names);
}

void write_problem(JsonWriter& out, const Problem& problem, const Range& range) {
    out.object().member("range", range).member("severity", static_cast<int>(problem.severity));
    if (!problem.code.empty()) out.member("code", problem.code);
    out.member("source", "bunraku").member("message", problem.message);
    if (problem.deprecated) out.key("tags").array().number(2).end_array();
    out.end_object();
}

std::string published_diagnostics(const State& state, const OpenFile& file) {
    const Document& document = file.document;
    JsonWriter out;
    out.object().member("uri", document.uri()).member("version", document.version());
    out.key("diagnostics").array();
    for (const Problem& problem : diagnose(state, document.path()))
        write_problem(out, problem,
                      document.lines().range(document.text(), problem.span, state.encoding));
    return out.end_array().end_object().take();
}

}  // namespace bunraku::lsp
