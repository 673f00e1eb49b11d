// SPDX-License-Identifier: Apache-2.0
// Code actions: corrections of misspelled names, new classes, values that move to Hiera.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/lsp/describe.h"
#include "services/lsp/diagnose.h"
#include "services/lsp/handlers.h"
#include "services/lsp/lint_problems.h"
#include "services/lsp/resolve.h"
#include "services/lsp/uri.h"

namespace bunraku::lsp {

namespace {

using value::Value;

class ActionList {
public:
    ActionList(State& state, const DocumentPlace& place, Range range)
        : state_(state), place_(place), range_(range), files_(state) {
        out_.array();
    }

    std::string run() {
        for (const Problem& problem : diagnose(state_, place_.path)) {
            const Range range = files_.range(place_.path, problem.span);
            if (range.end < range_.start || range_.end < range.start) continue;
            for (const std::string& text : suggestions(state_, problem, place_.group))
                replace(problem, range, text);
            if (problem.code == "unknown-class") create_class(problem, range);
        }
        parameter_to_hiera();
        fix_all();
        return out_.end_array().take();
    }

private:
    void begin(std::string_view title, std::string_view kind) {
        out_.object().member("title", title).member("kind", kind);
    }
    void diagnostic(const Problem& problem, const Range& range) {
        out_.key("diagnostics").array();
        write_problem(out_, problem, range);
        out_.end_array();
    }
    /// Writes an edit of one file that replaces `range`.
    void edit(const std::string& uri, const Range& range, std::string_view text) {
        out_.key("edit").object().key("changes").object().key(uri).array();
        out_.object().member("range", range).member("newText", text).end_object();
        out_.end_array().end_object().end_object();
    }
    void replace(const Problem& problem, const Range& range, std::string_view text) {
        begin(fmt::format("Replace by '{}'", text), "quickfix");
        diagnostic(problem, range);
        edit(uri_for(state_, place_.path), range, text);
        out_.end_object();
    }

    void create_class(const Problem& problem, const Range& range) {
        const std::string name = base::lower(without_top(place_.slice(problem.span)));
        const auto path = class_path(name);
        if (!path || !state_.client.create_files || state_.workspace.files().stat(*path).exists)
            return;
        const std::string text = fmt::format("# @summary \nclass {} {{\n}}\n", name);
        begin(fmt::format("Create class {}", name), "quickfix");
        diagnostic(problem, range);
        const std::string uri = uri_of_path(*path);
        out_.key("edit").object().key("documentChanges").array();
        out_.object().member("kind", "create").member("uri", uri).end_object();
        out_.object().key("textDocument").object().member("uri", uri).key("version").null();
        out_.end_object().key("edits").array();
        out_.object().member("range", Range{}).member("newText", text).end_object();
        out_.end_array().end_object();
        out_.end_array().end_object().end_object();
    }
    /// Returns the file of a class in an existing module.
    std::optional<std::string> class_path(std::string_view name) const {
        const std::string_view module_name = name.substr(0, name.find("::"));
        for (const ModuleFolder& module : state_.workspace.modules()) {
            if (module.name != module_name) continue;
            std::string rest = name.size() > module_name.size()
                                   ? std::string(name.substr(module_name.size() + 2))
                                   : "init";
            for (std::size_t at; (at = rest.find("::")) != std::string::npos;)
                rest.replace(at, 2, "/");
            return fmt::format("{}/manifests/{}.pp", module.path, rest);
        }
        return std::nullopt;
    }

    /// Offers to fix all problems that lint can fix.
    void fix_all() {
        const auto open = state_.workspace.open_files().find(place_.path);
        if (place_.kind != FileKind::Manifest || open == state_.workspace.open_files().end() ||
            open->second.parsed.error)
            return;
        const auto fixed = lint_fixed(place_.path, place_.text->text);
        if (!fixed) return;
        const auto size = static_cast<std::uint32_t>(place_.text->text.size());
        begin("Fix all problems of style", "source.fixAll");
        edit(uri_for(state_, place_.path), files_.range(place_.path, {0, size}), *fixed);
        out_.end_object();
    }

    /// Offers to set the parameter of a class at the cursor in the data file common.yaml.
    void parameter_to_hiera() {
        if (!place_.indexed || place_.kind != FileKind::Manifest) return;
        const std::uint32_t offset =
            place_.text->lines.offset(place_.text->text, range_.start, state_.encoding);
        for (const Definition& definition : place_.indexed->symbols.definitions) {
            if (definition.kind != DefinitionKind::Class) continue;
            for (const ParameterInfo& parameter : definition.parameters) {
                if (!parameter.span.touches(offset)) continue;
                const std::string key =
                    fmt::format("{}::{}", definition.key.name.view(), parameter.name);
                if (data_places(state_, key, place_.group).empty()) set_in_hiera(key, parameter);
                return;
            }
        }
    }
    void set_in_hiera(const std::string& key, const ParameterInfo& parameter) {
        const std::string path =
            state_.workspace.lookup_environment(place_.path) + "/data/common.yaml";
        const FileText& file = files_.text(path);
        if (file.text.empty()) return;
        const auto size = static_cast<std::uint32_t>(file.text.size());
        const std::string value = yaml_value(parameter.default_value);
        std::string text = file.text.ends_with('\n') ? "" : "\n";
        text += fmt::format("{}: {}\n", key, value);
        begin(fmt::format("Set {} in data/common.yaml", key), "refactor");
        edit(uri_for(state_, path), files_.range(path, {size, 0}), text);
        out_.end_object();
    }
    /// Returns a literal of the language as YAML; "~" for other expressions.
    static std::string yaml_value(std::string_view code) {
        if (code == "true" || code == "false") return std::string(code);
        if (!code.empty() && code.find_first_not_of("0123456789") == std::string_view::npos)
            return std::string(code);
        if (code.size() >= 2 && code.front() == '\'' && code.back() == '\'')
            return std::string(code);
        if (code == "[]" || code == "{}") return std::string(code);
        return "~";
    }

    State& state_;
    const DocumentPlace& place_;
    Range range_;
    RangeFinder files_;
    JsonWriter out_;
};

}  // namespace

Answer on_code_action(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const auto range = read_range(value::at(params, "range"));
    if (!range) return invalid_params("The range is not valid");
    return ActionList(state, *place, *range).run();
}

}  // namespace bunraku::lsp
