// SPDX-License-Identifier: Apache-2.0
// The command `module list`: lists installed modules flat or as a tree, and reports conflicts.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/codec/json_text.h"
#include "modules/module/runtime_requirement.h"
#include "modules/module/tool.h"

namespace bunraku::module {

namespace {

using base::Level;
using base::Result;
using Unmet = InstalledModules::Unmet;

std::string dashed(std::string name) {
    std::replace(name.begin(), name.end(), '/', '-');
    return name;
}

/// A problem with one dependency, for all modules that need it.
struct ModuleProblem {
    std::vector<std::string> errors;
    std::string parent, parent_version, version;  ///< of the last module that needs it
};
using ModuleProblems = std::map<Unmet::Reason, std::map<std::string, ModuleProblem>>;

ModuleProblems problems_of(const InstalledModules& modules) {
    ModuleProblems out;
    auto all = modules.effective();
    std::stable_sort(all.begin(), all.end(),
                     [](const auto* a, const auto* b) { return a->name < b->name; });
    for (const InstalledModule* m : all) {
        std::vector<Unmet> unmet = modules.unmet(*m);
        std::stable_sort(unmet.begin(), unmet.end(),
                         [](const Unmet& a, const Unmet& b) { return a.name < b.name; });
        for (const Unmet& u : unmet) {
            ModuleProblem& t = out[u.reason][u.name];
            t.errors.push_back(fmt::format("'{}' ({}) requires '{}' ({})", dashed(u.parent),
                                           u.parent_version, dashed(u.name), u.constraint));
            t.parent = u.parent;
            t.parent_version = u.parent_version;
            t.version = u.installed_version;
        }
    }
    return out;
}

void warn(const ModuleProblems& troubles, base::LogSink& log) {
    for (Unmet::Reason reason :
         {Unmet::Reason::NonSemantic, Unmet::Reason::Mismatch, Unmet::Reason::Missing}) {
        auto found = troubles.find(reason);
        if (found == troubles.end()) continue;
        for (const auto& [name, t] : found->second) {
            std::string text;
            switch (reason) {
                case Unmet::Reason::Mismatch:
                    text = fmt::format("Module '{}' (v{}) fails to meet some dependencies:",
                                       dashed(name), t.version);
                    break;
                case Unmet::Reason::NonSemantic:
                    text = fmt::format("Non semantic version dependency {} (v{}):", dashed(name),
                                       t.version);
                    break;
                case Unmet::Reason::Missing:
                    text = fmt::format("Missing dependency '{}':", dashed(name));
                    break;
            }
            for (const std::string& e : t.errors) text += "\n  " + e;
            log.log(Level::Warning, std::move(text));
        }
    }
}

class Lister {
public:
    Lister(const InstalledModules& modules, const ModuleProblems& troubles, bool color)
        : modules_(modules), troubles_(troubles), color_(color) {}

    TreeNode node(const InstalledModule& m, const InstalledModule* parent, const std::string& path,
                  bool label_invalid) const {
        std::string text = m.full_name();
        text += " (" + colored(color_, "cyan", m.version.empty() ? "???" : "v" + m.version) + ")";
        if (m.modulepath != path) text += " [" + m.modulepath + "]";
        auto mismatches = troubles_.find(Unmet::Reason::Mismatch);
        if (mismatches != troubles_.end()) {
            auto t = mismatches->second.find(m.forge_name);
            if (t != mismatches->second.end() &&
                (label_invalid || (parent && t->second.parent == parent->forge_name &&
                                   t->second.parent_version == "v" + parent->version))) {
                text += "  " + colored(color_, "red", "invalid");
            }
        }
        return {m.full_name(), std::move(text), {}};
    }

    std::vector<TreeNode> tree(const std::vector<const InstalledModule*>& list,
                               const InstalledModule* parent, const std::string& path, int depth) {
        std::vector<TreeNode> out;
        for (const InstalledModule* m : list) {
            const std::string key = m->forge_name.empty() ? m->name : m->forge_name;
            if (!seen_.insert(key).second) continue;
            TreeNode n = node(*m, parent, path, false);
            // Each module is drawn once, so the recursion ends. The limit protects the stack.
            if (depth < 500) {
                for (const Unmet& u : modules_.unmet(*m)) {
                    if (u.reason != Unmet::Reason::Missing) continue;
                    n.children.push_back(
                        {u.name,
                         fmt::format("{} {} ({})", colored(color_, "bg_red", "UNMET DEPENDENCY"),
                                     dashed(u.name), colored(color_, "cyan", u.constraint)),
                         {}});
                }
                std::vector<const InstalledModule*> needs;
                for (const Dependency& d : m->dependencies) {
                    const std::size_t slash = d.name.find('/');
                    if (slash == std::string::npos) continue;
                    std::string_view rest = std::string_view(d.name).substr(slash + 1);
                    if (auto* dep = modules_.named(rest.substr(0, rest.find('/')))) {
                        needs.push_back(dep);
                    }
                }
                for (TreeNode& child : tree(needs, m, path, depth + 1)) {
                    n.children.push_back(std::move(child));
                }
            }
            out.push_back(std::move(n));
        }
        return out;
    }
    void forget() { seen_.clear(); }

private:
    const InstalledModules& modules_;
    const ModuleProblems& troubles_;
    bool color_;
    std::set<std::string> seen_;
};

}  // namespace

Result<std::string> list_modules(const ToolOptions& options, bool tree, base::LogSink& log) {
    std::vector<std::string> warnings;
    const InstalledModules modules =
        BUNRAKU_TRY(InstalledModules::load(options.modulepath, &warnings));
    for (std::string& w : warnings) log.log(Level::Warning, std::move(w));
    const ModuleProblems troubles = problems_of(modules);
    warn(troubles, log);
    warn_of_runtimes(modules, nullptr, options.level, log);
    Lister lister(modules, troubles, options.color);
    std::string out;
    for (const InstalledModules::Folder& folder : modules.folders()) {
        out += folder.path + (folder.modules.empty() ? " (no modules installed)" : "") + "\n";
        std::vector<const InstalledModule*> list;
        for (const InstalledModule& m : folder.modules) list.push_back(&m);
        std::vector<TreeNode> nodes;
        if (tree) {
            // The roots are the modules that no other module depends on.
            std::map<const InstalledModule*, std::size_t> needed;
            for (const InstalledModule* m : list) {
                needed[m] = m->forge_name.empty() ? 0 : modules.required_by(m->forge_name).size();
            }
            std::stable_sort(list.begin(), list.end(),
                             [&](const auto* a, const auto* b) { return needed[a] < needed[b]; });
            lister.forget();
            nodes = lister.tree(list, nullptr, folder.path, 0);
        } else {
            std::stable_sort(list.begin(), list.end(), [](const auto* a, const auto* b) {
                return (a->forge_name.empty() ? a->name : a->forge_name) <
                       (b->forge_name.empty() ? b->name : b->forge_name);
            });
            for (const InstalledModule* m : list) {
                nodes.push_back(lister.node(*m, nullptr, folder.path, true));
            }
        }
        out += draw_tree(nodes);
    }
    return out;
}

namespace {

std::string problems_json(const ModuleProblems& troubles, Unmet::Reason reason) {
    std::string out;
    auto found = troubles.find(reason);
    if (found == troubles.end()) return out;
    for (const auto& [name, t] : found->second) {
        std::string errors;
        for (const std::string& e : t.errors) {
            errors += (errors.empty() ? "" : ",") + codec::json_string(e);
        }
        out += fmt::format(
            R"({}{}:{{"errors":[{}],"parent":{{"name":{},"version":{}}},"version":{}}})",
            out.empty() ? "" : ",", codec::json_string(name), errors, codec::json_string(t.parent),
            codec::json_string(t.parent_version),
            reason == Unmet::Reason::Missing ? "null" : codec::json_string(t.version));
    }
    return out;
}

}  // namespace

Result<std::string> list_modules_as_json(const ToolOptions& options, const std::string& environment,
                                         base::LogSink& log) {
    std::vector<std::string> warnings;
    const InstalledModules modules =
        BUNRAKU_TRY(InstalledModules::load(options.modulepath, &warnings));
    for (std::string& w : warnings) log.log(Level::Warning, std::move(w));
    const ModuleProblems troubles = problems_of(modules);
    std::string paths;
    for (const InstalledModules::Folder& folder : modules.folders()) {
        std::string names;
        for (const InstalledModule& m : folder.modules) {
            names += (names.empty() ? "" : ",") +
                     codec::json_string(fmt::format("Module {}({})", m.name, m.path));
        }
        paths += fmt::format("{}{}:[{}]", paths.empty() ? "" : ",", codec::json_string(folder.path),
                             names);
    }
    return fmt::format(R"({{"environment":{},"modules_by_path":{{{}}},"unmet_dependencies":)"
                       R"({{"non_semantic_version":{{{}}},"version_mismatch":{{{}}},)"
                       R"("missing":{{{}}}}}}})",
                       codec::json_string(environment), paths,
                       problems_json(troubles, Unmet::Reason::NonSemantic),
                       problems_json(troubles, Unmet::Reason::Mismatch),
                       problems_json(troubles, Unmet::Reason::Missing)) +
           "\n";
}

}  // namespace bunraku::module
