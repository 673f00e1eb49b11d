// SPDX-License-Identifier: Apache-2.0
// YAML syntax, hiera.yaml, keys that set no parameter, and data of the wrong type.
#include <fmt/format.h>
#include <unordered_map>

#include "core/codec/yaml.h"
#include "core/codec/yaml_outline.h"
#include "core/value/from_yaml.h"
#include "language/hiera/config.h"
#include "services/lsp/diagnose.h"
#include "services/lsp/resolve.h"
#include "services/lsp/type_names.h"

namespace bunraku::lsp {

namespace {

using value::Value;

/// Reports whether some string of the data is computed at the lookup.
bool has_interpolation(const codec::YamlNode& node) {
    if (node.text.find("%{") != std::string::npos) return true;
    for (const auto& item : node.items)
        if (has_interpolation(item)) return true;
    for (const auto& entry : node.entries)
        if (has_interpolation(entry.first) || has_interpolation(entry.second)) return true;
    return false;
}

Value value_of_yaml(base::Arena& arena, const codec::YamlNode& node) {
    return value::from_yaml(arena, node, [&](const codec::YamlNode& text, bool) {
        return value::make_string(arena, text.text);
    });
}

class DataChecker {
public:
    DataChecker(const State& state, const IndexedFile& indexed, std::vector<Problem>& out)
        : state_(state), indexed_(indexed), out_(out) {}

    void run(const codec::YamlNode& root) {
        const bool typed = !converts();
        WorkspaceTypes types(state_.workspace, indexed_.group);
        std::unordered_map<std::string_view, const codec::YamlNode*> values;
        for (const auto& [name, value] : root.entries) values.try_emplace(name.text, &value);
        for (const Definition& key : indexed_.symbols.definitions) {
            const std::string_view name = key.key.name.view();
            if (namespace_of(name).empty()) continue;
            if (out_.size() >= kMaxProblems) return;
            const auto* parameter = parameter_of(state_.workspace, name, indexed_.group);
            if (!parameter) {
                check_key(key, name);
            } else if (const auto data = values.find(name); data != values.end() && typed) {
                check_data(types, key, *parameter, *data->second);
            }
        }
    }

private:
    /// Reports whether lookup_options may convert data before its type is checked.
    bool converts() const {
        for (const FoundPlace& place : data_places(state_, "lookup_options", indexed_.group)) {
            const auto text = state_.workspace.text_of(place.path);
            if (text && text->text.find("convert_to") != std::string::npos) return true;
        }
        return false;
    }
    void report(const Definition& key, Severity severity, std::string code, std::string message) {
        Problem problem;
        problem.span = key.name_span;
        problem.severity = severity;
        problem.code = std::move(code);
        problem.message = std::move(message);
        out_.push_back(std::move(problem));
    }
    void check_key(const Definition& key, std::string_view name) {
        const auto& index = state_.workspace.index();
        const std::string_view owner = namespace_of(name);
        const bool known = index.defined(symbol_key(SymbolKind::Class, owner), indexed_.group);
        if (!known && !state_.workspace.has_module(owner.substr(0, owner.find("::")))) return;
        for (const auto& place :
             index.occurrences(symbol_key(SymbolKind::HieraKey, name), indexed_.group))
            if (place.occurrence->role == Role::Use) return;
        if (known) {
            report(
                key, Severity::Warning, "unused-key",
                fmt::format("Class '{}' has no parameter named '{}'", owner, last_segment(name)));
        } else {
            report(key, Severity::Warning, "unused-key",
                   fmt::format("Nothing reads this key: there is no class '{}'", owner));
        }
    }
    void check_data(WorkspaceTypes& types, const Definition& key, const ParameterInfo& parameter,
                    const codec::YamlNode& data) {
        // Hashes of several levels may be merged, so that one level need not be complete.
        if (parameter.type.empty() || data.kind == codec::YamlNode::Kind::Mapping) return;
        if (has_interpolation(data)) return;
        if (auto message =
                types.mismatch(parameter.type, fmt::format("parameter '{}'", parameter.name),
                               value_of_yaml(types.arena(), data)))
            report(key, Severity::Error, "type-mismatch", std::move(*message));
    }

    const State& state_;
    const IndexedFile& indexed_;
    std::vector<Problem>& out_;
};

void check_hiera_config(const OpenFile& file, const codec::YamlNode& root,
                        std::vector<Problem>& out) {
    const Document& document = file.document;
    base::Arena arena;
    std::string message;
    base::Location where{document.path(), 1, 1};
    try {
        const std::string folder = document.path().substr(0, document.path().rfind('/'));
        const auto config = hiera::make_config(hiera::Layer::Environment, document.path(), folder,
                                               value_of_yaml(arena, root), document.text(), folder);
        message = config.fault;
        if (config.fault_line > 0) where.line = config.fault_line;
    } catch (const base::PuppetError& error) {
        message = error.message();
        if (error.where().line > 0) where.line = error.where().line;
    }
    if (message.empty()) return;
    const auto line = static_cast<std::size_t>(where.line - 1);
    if (line >= document.lines().count()) return;
    const auto size =
        static_cast<std::uint32_t>(document.lines().line(document.text(), line).size());
    out.push_back({{document.lines().start(line), size},
                   Severity::Error,
                   "hiera-config",
                   std::move(message),
                   {},
                   false});
}

}  // namespace

void check_hiera(const State& state, const OpenFile& file, const IndexedFile* indexed,
                 std::vector<Problem>& out) {
    const Document& document = file.document;
    const auto outline = codec::outline_yaml(document.text());
    if (outline.problem) {
        const std::uint32_t offset =
            document.lines().offset(document.text(),
                                    {static_cast<std::uint32_t>(outline.problem->place.line),
                                     static_cast<std::uint32_t>(outline.problem->place.column)},
                                    Encoding::Utf32);
        out.push_back(
            {{offset, 0}, Severity::Error, "yaml-syntax", outline.problem->message, {}, false});
        return;
    }
    const auto root = codec::parse_yaml(document.text(), document.path());
    if (!root) {
        out.push_back({{0, 0}, Severity::Error, "yaml-syntax", root.error().message, {}, false});
        return;
    }
    if (file.kind == FileKind::HieraConfig) {
        check_hiera_config(file, *root, out);
    } else if (indexed) {
        DataChecker(state, *indexed, out).run(*root);
    }
}

}  // namespace bunraku::lsp
