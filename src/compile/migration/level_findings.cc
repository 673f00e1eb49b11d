// SPDX-License-Identifier: Apache-2.0
#include "compile/migration/level_findings.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

#include "compile/migration/environments.h"
#include "compile/reference/documents.h"
#include "core/base/text.h"
#include "core/codec/ini.h"
#include "language/syntax/visit.h"
#include "modules/module/runtime_requirement.h"
#include "resources/apply/types/file/checksum.h"

namespace bunraku::migration {
namespace {

using config::Change;
using environment::Environment;
using syntax::Node;
using Weight = MigrationFinding::Weight;

bool is_named(const Node* node, std::string_view name) {
    const auto* qualified = syntax::as<syntax::QualifiedName>(node);
    return qualified && qualified->value == name;
}

/// Reports whether a call passes the encoding to regsubst.
bool passes_encoding(const Node* node) {
    if (const auto* call = syntax::as<syntax::CallNamedFunctionExpression>(node))
        return is_named(call->functor, "regsubst") && call->arguments.size() >= 5;
    const auto* method = syntax::as<syntax::CallMethodExpression>(node);
    return method && method->functor && is_named(method->functor->right, "regsubst") &&
           method->arguments.size() >= 4;
}

/// Returns the attributes of a resource expression, of its defaults or of an override if the type
/// is `type`; otherwise none.
std::vector<const syntax::AttributeOperation*> attributes(const Node* node, std::string_view type) {
    std::vector<const syntax::AttributeOperation*> out;
    const auto add = [&](syntax::NodeList operations) {
        for (const Node* one : operations)
            if (const auto* set = syntax::as<syntax::AttributeOperation>(one)) out.push_back(set);
    };
    if (const auto* resource = syntax::as<syntax::ResourceExpression>(node)) {
        if (!is_named(resource->type_name, type)) return out;
        for (const syntax::ResourceBody* body : resource->bodies) add(body->operations);
    } else if (const auto* defaults = syntax::as<syntax::ResourceDefaultsExpression>(node)) {
        if (base::same_ignoring_case(defaults->type_ref->text(), type)) add(defaults->operations);
    } else if (const auto* changed = syntax::as<syntax::ResourceOverrideExpression>(node)) {
        const std::string_view reference = changed->resources->text();
        if (base::same_ignoring_case(reference.substr(0, reference.find('[')), type))
            add(changed->operations);
    }
    return out;
}

bool has_checksum_content(const Node* node) {
    for (const auto* set : attributes(node, "file")) {
        const auto* text = syntax::as<syntax::LiteralString>(set->value_expr);
        if (set->attribute_name == "content" && text && apply::looks_like_checksum(text->value))
            return true;
    }
    return false;
}

bool is_remote_bucket(const Node* node) {
    for (const auto* set : attributes(node, "filebucket")) {
        const auto* off = syntax::as<syntax::LiteralBoolean>(set->value_expr);
        if (set->attribute_name == "server" ||
            (set->attribute_name == "path" && off && !off->value))
            return true;
    }
    return false;
}

/// Reports whether a line of Ruby contains a word, that is, without letters around it.
bool has_word(std::string_view line, std::string_view word) {
    const auto letter = [&](std::size_t at) {
        return at < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '_');
    };
    for (std::size_t at = line.find(word); at != std::string_view::npos;
         at = line.find(word, at + 1)) {
        if (!(at > 0 && letter(at - 1)) && !letter(at + word.size())) return true;
    }
    return false;
}

/// Words of custom facts that a change concerns.
struct FactWord {
    Change change;
    std::string_view word;
};
constexpr FactWord kFactWords[] = {
    {Change::FactLdapname, "ldapname"},
    {Change::FactTimeouts, "time_limit"},
    {Change::FactTimeouts, "limit"},
    {Change::FactCommands, "Resolution.exec"},
    {Change::FactCommands, "Resolution.which"},
    {Change::FactCommands, "Execution.exec"},
};

class LevelCheck {
public:
    LevelCheck(const config::Settings& settings, config::Compatibility to, base::LogSink& log)
        : settings_(settings), to_(to), log_(log), files_(sys::make_real_file_system()) {}

    std::vector<MigrationFinding> run() {
        puppet_conf();
        for (const auto& folder : environment_folders(settings_, *files_)) environment(folder);
        return std::move(findings_);
    }

private:
    /// Reports a change, if the level has it.
    void add(Change change, Weight weight, std::string where, std::uint32_t line = 0) {
        if (!config::changed(to_, change)) return;
        const std::string_view advice = config::level_change(change).advice;
        findings_.push_back(
            {weight, std::move(where),
             line == 0 ? std::string(advice) : fmt::format("{} (line {})", advice, line)});
    }

    void removed_settings(const std::string& path) {
        const auto text = files_->read(path);
        const auto ini = text ? codec::parse_ini(*text) : codec::parse_ini("");
        if (!ini) return;
        for (const auto& section : ini->sections)
            for (const auto& entry : section.entries)
                for (const auto& row : config::level_changes())
                    if (row.kind == config::LevelChange::Kind::Removed && row.name == entry.name)
                        add(row.change, Weight::Differs, path + ": " + entry.name);
    }

    void puppet_conf() {
        const std::string path = settings_.text("config");
        removed_settings(path);
        for (const auto& row : config::level_changes())
            if (row.kind == config::LevelChange::Kind::Default && !settings_.is_set(row.name))
                add(row.change, Weight::Note, path);
    }

    void environment(const std::string& folder) {
        removed_settings(folder + "/environment.conf");
        std::shared_ptr<const Environment> opened;
        try {
            opened = open_environment(settings_, folder, log_);
        } catch (const base::PuppetError& e) {
            findings_.push_back({Weight::Broken, folder, e.full_text()});
            return;
        }
        code(*opened, folder, {"manifests"});
        for (const auto& module : opened->modules()) {
            if (!seen_.insert(module.path).second) continue;
            code(*opened, module.path, {"manifests", "functions", "types"});
            facts(*opened, module.path);
        }
        requirements(*opened);
    }

    void code(const Environment& environment, const std::string& folder,
              std::initializer_list<const char*> parts) {
        for (const char* part : parts)
            for (const auto& name :
                 reference::files_below(environment.files(), folder, part, ".pp")) {
                const std::string file = folder + "/" + name;
                const auto parsed = environment.parse_file(file);
                if (parsed && parsed->tree) look(file, parsed->tree->program);
            }
        for (const auto& name :
             reference::files_below(environment.files(), folder, "templates", ".epp")) {
            const auto parsed = environment.parse_template(folder + "/" + name);
            if (parsed && parsed->tree) look(folder + "/" + name, parsed->tree->program);
        }
    }

    void look(const std::string& file, const Node* node) {
        const std::uint32_t line = node->where().line;
        if (passes_encoding(node)) add(Change::RegsubstEncoding, Weight::Broken, file, line);
        if (has_checksum_content(node)) add(Change::ContentChecksum, Weight::Differs, file, line);
        if (is_remote_bucket(node)) add(Change::FilebucketRead, Weight::Differs, file, line);
        syntax::for_each_child(node, [&](const Node* child) { look(file, child); });
    }

    void facts(const Environment& environment, const std::string& folder) {
        for (const auto& name :
             reference::files_below(environment.files(), folder, "lib/facter", ".rb")) {
            const std::string file = folder + "/" + name;
            const auto text = environment.read(file);
            if (!text) continue;
            std::uint32_t number = 0;
            for (std::string_view line : base::lines(*text)) {
                ++number;
                line = line.substr(0, line.find('#'));
                std::set<Change> found;
                for (const FactWord& one : kFactWords)
                    if (has_word(line, one.word) && found.insert(one.change).second)
                        add(one.change, Weight::Differs, file, number);
            }
        }
    }

    void requirements(const Environment& environment) {
        const auto installed = module::InstalledModules::load(environment.modulepath());
        if (!installed) return;
        for (const auto* one : installed->effective()) {
            if (!checked_.insert(one->path).second) continue;
            if (const auto unmet = module::unmet_runtime(one->requirements, to_))
                findings_.push_back(
                    {Weight::Differs, one->path, module::unmet_runtime_text(*unmet, to_)});
        }
    }

    const config::Settings& settings_;
    config::Compatibility to_;
    base::LogSink& log_;
    std::unique_ptr<sys::FileSystem> files_;
    std::vector<MigrationFinding> findings_;
    std::set<std::string> seen_, checked_;
};

}  // namespace

std::vector<MigrationFinding> level_findings(const config::Settings& settings,
                                             config::Compatibility to, base::LogSink& log) {
    return LevelCheck(settings, to, log).run();
}

}  // namespace bunraku::migration
