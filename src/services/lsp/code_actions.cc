// SPDX-License-Identifier: Apache-2.0
// Code actions: corrections of misspelled names, new classes, values that move to Hiera.
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/lsp/describe.h"
#include "services/lsp/diagnose.h"
#include "services/lsp/handlers.h"
#include "services/lsp/lint_problems.h"
#include "services/lsp/manifest_analyzer.h"
#include "services/lsp/resolve.h"
#include "services/lsp/uri.h"

namespace bunraku::lsp {

namespace {

using value::Value;

class ActionList {
public:
    /// `only` is the kinds that the client wants; all if it is empty.
    ActionList(State& state, const DocumentPlace& place, Range range, std::vector<std::string> only)
        : state_(state), place_(place), range_(range), only_(std::move(only)), files_(state) {
        out_.array();
    }

    std::string run() {
        if (wants("quickfix")) quick_fixes();
        if (wants("refactor")) {
            parameter_to_hiera();
            literal_to_hiera();
        }
        if (wants("source.fixAll")) fix_all();
        return out_.end_array().take();
    }

private:
    /// Reports whether the client wants a kind, or a more general one.
    bool wants(std::string_view kind) const {
        return only_.empty() || std::ranges::any_of(only_, [&](const std::string& each) {
                   return each == kind || kind.starts_with(each + ".");
               });
    }
    void quick_fixes() {
        std::set<std::string> checks;
        for (const Problem& problem : diagnose(state_, place_.path)) {
            const Range range = files_.range(place_.path, problem.span);
            if (range.end < range_.start || range_.end < range.start) continue;
            for (const std::string& text : suggestions(state_, problem, place_.group))
                replace(problem, range, text);
            if (problem.code == "unknown-class") create_class(problem, range);
            if (can_fix() && is_fixable(problem.code) && checks.insert(problem.code).second)
                fix_check(problem, range);
        }
    }
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

    /// Lint fixes only manifests without syntax errors.
    bool can_fix() const {
        const auto open = state_.workspace.open_files().find(place_.path);
        return place_.kind == FileKind::Manifest && open != state_.workspace.open_files().end() &&
               !open->second.parsed.error;
    }
    /// Offers to fix all problems that lint can fix.
    void fix_all() {
        if (!can_fix()) return;
        const auto fixed = lint_fixed(place_.path, place_.text->text);
        if (!fixed) return;
        begin("Fix all problems of style", "source.fixAll");
        replace_text(*fixed);
    }
    /// Offers to fix all problems of the check that found one.
    void fix_check(const Problem& problem, const Range& range) {
        const auto fixed = lint_fixed(place_.path, place_.text->text, problem.code);
        if (!fixed) return;
        begin(fmt::format("Fix {} in this file", problem.code), "quickfix");
        diagnostic(problem, range);
        replace_text(*fixed);
    }
    /// Ends an action that replaces the lines between the first and the last change.
    void replace_text(std::string_view fixed) {
        const std::string_view text = place_.text->text;
        const auto line_start = [](std::string_view all, std::size_t at) {
            const std::size_t found = at == 0 ? all.npos : all.rfind('\n', at - 1);
            return found == all.npos ? 0 : found + 1;
        };
        const std::size_t shorter = std::min(text.size(), fixed.size());
        std::size_t from = 0;
        while (from < shorter && text[from] == fixed[from]) ++from;
        from = line_start(text, from);
        std::size_t same = 0;
        while (same < shorter - from &&
               text[text.size() - 1 - same] == fixed[fixed.size() - 1 - same])
            ++same;
        // The common end begins after a line break.
        const std::size_t next = text.find('\n', text.size() - same);
        same = next == text.npos ? 0 : text.size() - next - 1;
        const Span span{static_cast<std::uint32_t>(from),
                        static_cast<std::uint32_t>(text.size() - same - from)};
        edit(uri_for(state_, place_.path), files_.range(place_.path, span),
             fixed.substr(from, fixed.size() - same - from));
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
        const auto data = common_data();
        if (!data) return;
        begin(fmt::format("Set {} in {}", key, data->shown), "refactor");
        out_.key("edit").object().key("changes").object();
        add_key(data->path, key, yaml_value(parameter.default_value));
        out_.end_object().end_object().end_object();
    }
    /// Offers to move the literal that a line of a class assigns to the data.
    void literal_to_hiera() {
        if (!place_.indexed || place_.kind != FileKind::Manifest) return;
        const LineIndex& lines = place_.text->lines;
        const std::uint32_t offset = lines.offset(place_.text->text, range_.start, state_.encoding);
        const Definition* around = place_.indexed->symbols.enclosing(offset);
        if (!around || around->kind != DefinitionKind::Class) return;
        const std::uint32_t number = lines.line_of(offset);
        const std::string_view line = lines.line(place_.text->text, number);
        const std::size_t equals = line.find(" = ");
        const std::string_view left = base::trim(line.substr(0, equals));
        if (equals == std::string_view::npos || !left.starts_with('$') || left.size() < 2 ||
            !std::ranges::all_of(left.substr(1), is_name_character))
            return;
        const std::string_view literal = base::trim(line.substr(equals + 3));
        const std::string value = yaml_value(literal);
        const std::string name = fmt::format("{}::{}", around->key.name.view(), left.substr(1));
        const auto data = common_data();
        const bool local = state_.workspace.index()
                               .defining(symbol_key(SymbolKind::Variable, name), place_.group)
                               .empty();
        if (value == "~" || local || !data || !data_places(state_, name, place_.group).empty())
            return;
        const auto at = static_cast<std::uint32_t>(literal.data() - place_.text->text.data());
        const Span span{at, static_cast<std::uint32_t>(literal.size())};
        begin(fmt::format("Look {} up in Hiera", name), "refactor");
        out_.key("edit").object().key("changes").object();
        out_.key(uri_for(state_, place_.path)).array().object();
        out_.member("range", files_.range(place_.path, span));
        out_.member("newText", fmt::format("lookup('{}')", name)).end_object().end_array();
        add_key(data->path, name, value);
        out_.end_object().end_object().end_object();
    }
    /// The data file for values of all nodes.
    struct DataFile {
        std::string path, shown;
    };
    std::optional<DataFile> common_data() const {
        const std::string folder = state_.workspace.lookup_environment(place_.path);
        for (const std::string& data : state_.workspace.data_folders()) {
            if (folder.empty() || !is_below(data, folder)) continue;
            // Data of a module is for its own keys.
            const std::string parent = data.substr(0, data.rfind('/'));
            if (parent != folder && state_.workspace.module_at(parent)) continue;
            for (const char* name : {"/common.yaml", "/common.yml", "/global.yaml", "/default.yaml",
                                     "/defaults.yaml"}) {
                const std::string path = data + name;
                if (state_.workspace.files().stat(path).exists)
                    return DataFile{path, path.substr(folder.size() + 1)};
            }
        }
        return std::nullopt;
    }
    /// Writes the member of `changes` that appends a key to a data file.
    void add_key(const std::string& path, std::string_view key, std::string_view value) {
        const FileText& file = files_.text(path);
        const auto size = static_cast<std::uint32_t>(file.text.size());
        const bool complete = file.text.empty() || file.text.ends_with('\n');
        out_.key(uri_for(state_, path)).array().object();
        out_.member("range", files_.range(path, {size, 0}));
        out_.member("newText", fmt::format("{}{}: {}\n", complete ? "" : "\n", key, value));
        out_.end_object().end_array();
    }
    /// Returns a literal of the language as YAML; "~" for other expressions.
    static std::string yaml_value(std::string_view code) {
        if (code == "true" || code == "false") return std::string(code);
        if (!code.empty() && code.find_first_not_of("0123456789") == std::string_view::npos)
            return std::string(code);
        if (code.size() >= 2 && code.front() == '\'' && code.back() == '\'' &&
            code.find_first_of("'\\\n%", 1) == code.size() - 1)
            return std::string(code);
        if (code == "[]" || code == "{}") return std::string(code);
        return "~";
    }

    State& state_;
    const DocumentPlace& place_;
    Range range_;
    std::vector<std::string> only_;
    RangeFinder files_;
    JsonWriter out_;
};

}  // namespace

Answer on_code_action(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const auto range = read_range(value::at(params, "range"));
    if (!range) return invalid_params("The range is not valid");
    std::vector<std::string> only;
    const auto* context = value::at(params, "context");
    if (const auto* kinds = context ? value::at(*context, "only") : nullptr;
        kinds && kinds->is_array())
        for (const Value& kind : kinds->as_array())
            if (kind.is_string()) only.emplace_back(kind.as_string());
    return ActionList(state, *place, *range, std::move(only)).run();
}

}  // namespace bunraku::lsp
