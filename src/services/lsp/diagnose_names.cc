// SPDX-License-Identifier: Apache-2.0
// Unknown classes, types, functions, variables, attributes, templates and files.
#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "core/base/text.h"
#include "language/function/table.h"
#include "language/types/type.h"
#include "resources/facts/context.h"
#include "resources/facts/facts.h"
#include "resources/restype/spec.h"
#include "services/lsp/describe.h"
#include "services/lsp/diagnose.h"
#include "services/lsp/resolve.h"

namespace bunraku::lsp {

namespace {

/// Variables that Puppet sets, besides facts.
constexpr std::string_view kBuiltinVariables[] = {"facts",
                                                  "trusted",
                                                  "server_facts",
                                                  "environment",
                                                  "title",
                                                  "name",
                                                  "module_name",
                                                  "caller_module_name",
                                                  "clientcert",
                                                  "clientversion",
                                                  "clientnoop",
                                                  "servername",
                                                  "serverip",
                                                  "serverip6",
                                                  "serverversion",
                                                  "settings",
                                                  "agent_specified_environment",
                                                  "_",
                                                  "pe_server_version"};

bool is_legacy_fact(std::string_view name) {
    return std::ranges::any_of(facts::legacy_names(),
                               [&](const auto& each) { return each.name == name; });
}

class NameChecker {
public:
    NameChecker(const State& state, const OpenFile& file, const IndexedFile& indexed,
                std::vector<Problem>& out)
        : state_(state),
          workspace_(state.workspace),
          index_(state.workspace.index()),
          file_(file),
          indexed_(indexed),
          group_(indexed.group),
          out_(out) {}

    void run() {
        for (const Occurrence& occurrence : indexed_.symbols.occurrences) check(occurrence);
    }

private:
    void report(const Occurrence& at, std::string_view code, std::string message, bool suggest) {
        Problem problem;
        problem.span = at.span;
        problem.severity = Severity::Warning;
        problem.code = code;
        problem.message = std::move(message);
        if (suggest) problem.wanted = at.key;
        out_.push_back(std::move(problem));
    }
    void check(const Occurrence& at) {
        if (at.role == Role::Prefix || at.role == Role::Inherited || at.role == Role::Title) return;
        if (at.role == Role::Define || at.role == Role::Key) return;
        const std::string_view name = at.key.name.view();
        switch (at.key.kind) {
            case SymbolKind::Class: return check_class(at, name);
            case SymbolKind::Type: return check_type(at, name);
            case SymbolKind::Function: return check_function(at, name);
            case SymbolKind::Variable: return check_variable(at, name);
            case SymbolKind::Template:
            case SymbolKind::File: return check_file(at, name);
            default: return;
        }
    }
    /// Names of modules that are not here cannot be checked.
    bool is_foreign(std::string_view name) const {
        return !workspace_.has_module(name.substr(0, name.find("::")));
    }
    void check_class(const Occurrence& at, std::string_view name) {
        if (index_.defined(at.key, group_) || name == "main") return;
        if (is_foreign(name)) {
            report(at, "unknown-module",
                   fmt::format("Class '{}' is not in this workspace, nor is its module", name),
                   false);
            out_.back().severity = Severity::Information;
            return;
        }
        report(at, "unknown-class", fmt::format("Unknown class: '{}'", name), true);
    }
    void check_type(const Occurrence& at, std::string_view name) {
        if (index_.defined(at.key, group_)) return;
        if (native_type(name) || types::builtin_type(name) || name == "class" || name == "error" ||
            name == "target" || name == "plan" || name == "deferred")
            return;
        if (name.find("::") == std::string_view::npos) {
            if (!is_resource_type(at)) return;
            report(at, "unknown-type", fmt::format("Unknown resource type: '{}'", name), true);
            return;
        }
        if (is_foreign(name)) {
            report(at, "unknown-module",
                   fmt::format("Type '{}' is not in this workspace, nor is its module", name),
                   false);
            out_.back().severity = Severity::Information;
            return;
        }
        report(at, "unknown-type", fmt::format("Unknown type: '{}'", name), true);
    }
    /// Reports whether the name is that of resources. Old code uses capitalized words as texts.
    bool is_resource_type(const Occurrence& at) const {
        const std::string& text = file_.document.text();
        const std::size_t next = text.find_first_not_of(" \t\n", at.span.end());
        return next != std::string::npos &&
               (text[next] == '{' || text[next] == '[' || text[next] == '<');
    }
    void check_function(const Occurrence& at, std::string_view name) {
        if (index_.defined(at.key, group_) || function::builtin_functions().find(name)) return;
        if (name.find("::") != std::string_view::npos && is_foreign(name)) return;
        report(at, "unknown-function", fmt::format("Unknown function: '{}'", name), true);
    }
    void check_variable(const Occurrence& at, std::string_view name) {
        if (name.starts_with('~')) return;
        const std::string_view owner = namespace_of(name);
        if (owner.empty()) return check_top_variable(at, name);
        if (owner == "settings") return;
        if (is_attribute(at)) return check_attribute(at, owner, last_segment(name));
        const Definition* definition = owner_definition(workspace_, owner, group_);
        if (!definition || definition->kind != DefinitionKind::Class) return;
        if (is_assigned(at.key)) return;
        Occurrence inherited = at;
        inherited.role = Role::Inherited;
        const auto key = resolved_key(workspace_, inherited, group_);
        if (key.name.view().find("::") != std::string_view::npos) return;
        report(at, "unknown-variable", fmt::format("Unknown variable: '{}'", name), true);
    }
    /// Reports whether some code assigns a variable. A file may use it many times.
    bool is_assigned(SymbolKey key) {
        const auto [found, fresh] = assigned_.try_emplace(key, false);
        if (fresh) found->second = !index_.defining(key, group_).empty();
        return found->second;
    }
    static bool is_attribute(const Occurrence& at) {
        return at.role == Role::Attribute || at.role == Role::ClassAttribute;
    }
    void check_attribute(const Occurrence& at, std::string_view owner, std::string_view name) {
        const auto meta = restype::metaparameters();
        if (std::ranges::find(meta, name, &restype::Attribute::name) != meta.end()) return;
        // "name" is an alias of the name variable.
        if (name == "provider" || name == "name") return;
        const Definition* definition = owner_definition(workspace_, owner, group_, at.role);
        if (definition) {
            if (definition->open || parameter_of(workspace_, at.key.name.view(), group_, at.role))
                return;
            report(at, "unknown-parameter",
                   fmt::format("'{}' has no parameter named '{}'", owner, name), true);
            return;
        }
        const auto* type = at.role == Role::Attribute ? native_type(owner) : nullptr;
        if (!type || native_attribute(*type, name)) return;
        report(at, "unknown-attribute", fmt::format("no parameter named '{}' in '{}'", name, owner),
               true);
    }
    void check_top_variable(const Occurrence& at, std::string_view name) {
        if (std::ranges::find(kBuiltinVariables, name) != std::end(kBuiltinVariables)) return;
        const Definition* around = indexed_.symbols.enclosing(at.span.offset);
        // Code outside of definitions sees the variables of other manifests of the environment.
        if (!around || around->kind == DefinitionKind::Node) return;
        const auto core = facts::all_facts();
        if (std::ranges::find(core, name, &facts::FactSpec::name) != core.end()) return;
        if (restype::is_metaparameter(name)) return;  // the variable of a define
        if (is_legacy_fact(name)) return;             // lint reports it
        if (index_.occurs(symbol_key(SymbolKind::Fact, name), group_)) return;
        if (is_assigned(at.key)) return;
        report(at, "unknown-variable", fmt::format("Unknown variable: '{}'", name), false);
        // A custom fact, an external fact or a classifier may set the variable.
        out_.back().severity = Severity::Information;
    }
    void check_file(const Occurrence& at, std::string_view name) {
        const std::size_t slash = name.find('/');
        if (slash == std::string_view::npos || !workspace_.has_module(name.substr(0, slash)))
            return;
        if (name.find_first_of(" \t\n") != std::string_view::npos) return;
        if (named_file(state_, at, group_)) return;
        const bool is_template = at.key.kind == SymbolKind::Template;
        report(at, is_template ? "unknown-template" : "unknown-file",
               fmt::format("Could not find {} '{}'", is_template ? "template" : "file", name),
               false);
    }

    const State& state_;
    const Workspace& workspace_;
    const SymbolIndex& index_;
    const OpenFile& file_;
    const IndexedFile& indexed_;
    Group group_;
    std::vector<Problem>& out_;
    std::unordered_map<SymbolKey, bool> assigned_;
};

}  // namespace

void check_names(const State& state, const OpenFile& file, const IndexedFile& indexed,
                 std::vector<Problem>& out) {
    NameChecker(state, file, indexed, out).run();
}

}  // namespace bunraku::lsp
