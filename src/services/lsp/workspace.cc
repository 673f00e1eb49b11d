// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/workspace.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/yaml_outline.h"
#include "core/sys/file_system.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/environment/conf.h"
#include "language/environment/environment.h"

namespace bunraku::lsp {

namespace {

constexpr int kMaxFolderDepth = 40;
constexpr int kMaxLinks = 40;

/// Folders with copies of modules, or with code that is not part of the environment.
bool is_ignored_folder(std::string_view name) {
    return name.starts_with('.') || name == "spec" || name == "vendor" || name == "node_modules" ||
           name == "pkg" || name == "acceptance";
}

/// Reports whether a search in `base` does not reach a folder below it.
bool is_ignored_below(std::string_view folder, std::string_view base) {
    return std::ranges::any_of(base::split(folder.substr(base.size()), '/'), is_ignored_folder);
}

/// Returns the kind of a document by the name of its language.
FileKind kind_of_language(std::string_view language) {
    if (language == "puppet") return FileKind::Manifest;
    return language == "epp" || language == "epuppet" ? FileKind::Epp : FileKind::Other;
}

/// JSON is YAML, too.
bool may_be_data(std::string_view path) {
    return path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".eyaml") ||
           path.ends_with(".json");
}

bool is_module_ruby(std::string_view path) {
    return path.ends_with(".rb") && (path.find("/lib/puppet/") != std::string_view::npos ||
                                     path.find("/lib/facter/") != std::string_view::npos);
}

std::string folder_of(const std::string& path) {
    const std::size_t at = path.rfind('/');
    return at == std::string::npos || at == 0 ? "/" : path.substr(0, at);
}

/// Returns the name of the module in a folder such as "puppetlabs-ntp".
std::string module_name_of(std::string_view name) {
    const std::size_t at = name.find_last_of("-/");
    return std::string(at == std::string_view::npos ? name : name.substr(at + 1));
}

}  // namespace

bool is_below(std::string_view path, std::string_view folder) {
    if (!path.starts_with(folder)) return false;
    return path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/';
}

void Workspace::add_root(const std::string& path) {
    if (std::ranges::find(roots_, path) == roots_.end()) roots_.push_back(path);
}

void Workspace::add_modulepath(const std::string& path) {
    if (!reads_folder(path)) libraries_.push_back(path);
}

bool Workspace::reads_folder(std::string_view folder) const {
    const auto reads = [&](const std::string& root) {
        return is_below(folder, root) && !is_ignored_below(folder, root);
    };
    return std::ranges::any_of(roots_, reads) || std::ranges::any_of(libraries_, reads);
}

void Workspace::remove_root(const std::string& path) {
    std::erase(roots_, path);
    std::erase_if(libraries_, [&](const std::string& folder) { return is_below(folder, path); });
    forget_below(path);  // load() reads those of other roots again
}

bool Workspace::forget_below(const std::string& folder) {
    std::vector<std::string> gone;
    index_.each_file_below(folder, [&](const IndexedFile& file) {
        if (!open_.contains(file.path)) gone.push_back(file.path);
    });
    bool changed = false;
    for (const std::string& file : gone) changed = index_.remove(file) || changed;
    return changed;
}

void Workspace::load() {
    scanned_ = 0;
    modules_.clear();
    for (const std::string& root : roots_) {
        const auto around = [&](const std::string& other) {
            return other != root && is_below(root, other) && !is_ignored_below(root, other);
        };
        if (std::ranges::none_of(roots_, around)) scan(root, 0);
    }
    // environment.conf may have added folders outside of the roots.
    for (std::size_t i = 0; i < libraries_.size(); ++i) {
        const std::string folder = libraries_[i];
        scan(folder, 0);
    }
    read_pending_data();
    for (auto& [path, file] : open_) update(file);
}

void Workspace::note_module(const std::string& folder, const std::vector<std::string>& names) {
    constexpr std::string_view kParts[] = {"files",     "functions", "lib",          "manifests",
                                           "templates", "types",     "metadata.json"};
    const auto is_part = [&](const std::string& name) {
        return std::ranges::find(kParts, name) != std::end(kParts);
    };
    if (std::ranges::none_of(names, is_part)) return;
    // The folder of an environment may contain manifests, too.
    constexpr std::string_view kEnvironmentParts[] = {"environment.conf", "Puppetfile", "modules"};
    const bool described = std::ranges::find(names, "metadata.json") != names.end();
    const auto is_environment_part = [&](const std::string& name) {
        return std::ranges::find(kEnvironmentParts, name) != std::end(kEnvironmentParts);
    };
    if (!described && std::ranges::any_of(names, is_environment_part)) return;
    std::string name = module_name_of(sys::base_name(folder));
    if (const auto metadata = files_->read(folder + "/metadata.json")) {
        base::Arena arena;
        if (const auto json = value::parse_json(arena, *metadata)) {
            const std::string full = value::text_at(*json, "name");
            if (!full.empty()) name = module_name_of(full);
        }
    }
    modules_.push_back({std::move(name), folder});
}

/// Adds the module of a file that was created after the folders were read.
void Workspace::note_new_module(const std::string& path) {
    for (const std::string_view part : {"/manifests/", "/functions/", "/types/", "/templates/"}) {
        const std::size_t at = path.rfind(part);
        if (at == std::string::npos) continue;
        const std::string folder = path.substr(0, at);
        if (module_at(folder)) return;
        note_module(folder, files_->list(folder));
        std::ranges::sort(modules_, {}, &ModuleFolder::path);
        return;
    }
}

void Workspace::scan(const std::string& folder, int depth) {
    if (depth > kMaxFolderDepth || scanned_ > kMaxFiles) return;
    const std::vector<std::string> names = files_->list(folder);
    if (std::ranges::find(names, "environment.conf") != names.end() &&
        sys::base_name(folder_of(folder)) == "environments" &&
        std::ranges::find(environments_, folder) == environments_.end())
        environments_.push_back(folder);
    note_module(folder, names);
    for (const std::string& name : names) {
        const std::string path = (folder == "/" ? "" : folder) + "/" + name;
        if (files_->is_real_folder(path)) {
            // The name is a convention, also of repositories whose hiera.yaml is elsewhere.
            if (name.starts_with("hieradata")) data_folders_.insert(path);
            if (!is_ignored_folder(name)) scan(path, depth + 1);
        } else if (++scanned_ <= kMaxFiles) {
            if (name == "hiera.yaml") read_hiera_config(path);
            if (name == "environment.conf") read_environment_conf(path);
            if (may_be_data(name) && name != "hiera.yaml" && name != "metadata.json") {
                pending_data_.push_back(path);
            } else {
                scan_file(path);
            }
        }
    }
}

void Workspace::scan_file(const std::string& path) {
    const FileKind kind = kind_of(path);
    if (kind == FileKind::Other || kind == FileKind::Json || kind == FileKind::Puppetfile) return;
    if (open_.contains(path) || is_alias(path)) return;
    if (files_->stat(path).size > kMaxIndexedFile) return;
    if (const auto text = files_->read(path)) index_text(path, kind, *text);
}

bool Workspace::is_alias(const std::string& path) const {
    std::string at = path;
    for (int links = 0; links < kMaxLinks; ++links) {
        const auto target = files_->link(at);
        if (!target) break;
        at = environment::expand_path(*target, folder_of(at));
    }
    return at != path && reads_folder(folder_of(at));
}

void Workspace::read_hiera_config(const std::string& path) {
    const auto text = files_->read(path);
    if (!text) return;
    const std::string folder = folder_of(path);
    data_folders_.insert(folder + "/data");
    data_folders_.insert(folder + "/hieradata");
    const auto outline = codec::outline_yaml(*text);
    for (const auto& scalar : outline.scalars) {
        if (scalar.key || scalar.parent < 0) continue;
        const std::string& key = outline.scalars[static_cast<std::size_t>(scalar.parent)].text;
        if (key != "datadir" && key != ":datadir") continue;  // versions 5 and 3
        const std::string fixed = scalar.text.substr(0, scalar.text.find("%{"));
        data_folders_.insert(environment::expand_path(fixed, folder));
    }
}

void Workspace::read_environment_conf(const std::string& path) {
    const auto text = files_->read(path);
    if (!text) return;
    base::NullSink log;
    const auto settings = environment::read_conf(path, *text, environment::Spec{}, log);
    if (!settings) return;
    for (const auto& [name, value] : *settings) {
        if (name != "modulepath") continue;
        // $basemodulepath and other settings are those of a server, not of this machine.
        for (const std::string_view part : base::split(value, ':')) {
            if (part.empty() || part.find('$') != std::string_view::npos) continue;
            add_modulepath(environment::expand_path(part, folder_of(path)));
        }
    }
}

bool Workspace::index_text(const std::string& path, FileKind kind, std::string_view text) {
    FileSymbols symbols;
    switch (kind) {
        case FileKind::Manifest:
        case FileKind::Epp: {
            const auto parsed = parse_with_recovery(path, text, kind == FileKind::Epp);
            if (!parsed.useful && index_.file(path)) return false;  // keeps the last good symbols
            symbols = symbols_of_manifest(*parsed.tree);
            break;
        }
        case FileKind::Erb: symbols = symbols_of_erb(text); break;
        case FileKind::HieraData:
        case FileKind::HieraConfig: symbols = symbols_of_hiera(text, kind); break;
        case FileKind::Ruby: symbols = symbols_of_ruby(text, path); break;
        default: return false;
    }
    return index_.put(path, kind, group_of(path), std::move(symbols), text);
}

FileKind Workspace::kind_of(const std::string& path) const {
    const std::string_view name = sys::base_name(path);
    if (name.ends_with(".pp")) return FileKind::Manifest;
    if (name.ends_with(".epp")) return FileKind::Epp;
    if (name.ends_with(".erb")) return FileKind::Erb;
    if (name == "hiera.yaml") return FileKind::HieraConfig;
    if (name == "metadata.json") return FileKind::Json;
    if (may_be_data(name)) {
        const auto inside = [&](const std::string& folder) { return is_below(path, folder); };
        return std::ranges::any_of(data_folders_, inside) ? FileKind::HieraData : FileKind::Other;
    }
    if (is_module_ruby(path)) return FileKind::Ruby;
    if (name == "Puppetfile") return FileKind::Puppetfile;
    const auto open = open_.find(path);
    return open == open_.end() ? FileKind::Other : kind_of_language(open->second.language);
}

Group Workspace::group_of(const std::string& path) const {
    for (std::size_t i = 0; i < environments_.size(); ++i)
        if (is_below(path, environments_[i])) return static_cast<Group>(i + 1);
    return 0;
}

std::string Workspace::environment_of(const std::string& path) const {
    if (const Group group = group_of(path); group > 0) return environments_[group - 1];
    std::string best;
    for (const std::string& root : roots_)
        if (is_below(path, root) && root.size() > best.size()) best = root;
    return best;
}

std::string Workspace::lookup_environment(const std::string& path) const {
    std::string own = environment_of(path);
    if (environments_.empty() || group_of(path) > 0 || files_->stat(own + "/hiera.yaml").exists)
        return own;
    const auto production = std::ranges::find_if(environments_, [](const std::string& folder) {
        return sys::base_name(folder) == "production";
    });
    return production == environments_.end() ? environments_.front() : *production;
}

bool Workspace::has_module(std::string_view name) const {
    return std::ranges::any_of(modules_,
                               [&](const ModuleFolder& module) { return module.name == name; });
}

const ModuleFolder* Workspace::module_at(std::string_view folder) const {
    const auto found = std::ranges::lower_bound(modules_, folder, {}, &ModuleFolder::path);
    return found != modules_.end() && found->path == folder ? &*found : nullptr;
}

std::optional<std::string> Workspace::module_file(std::string_view module, std::string_view folder,
                                                  std::string_view rest, Group group) const {
    std::optional<std::string> found;
    for (const ModuleFolder& candidate : modules_) {
        if (candidate.name != module) continue;
        std::string path = candidate.path + "/" + std::string(folder) + "/" + std::string(rest);
        if (!files_->stat(path).exists) continue;
        if (group_of(candidate.path) == group) return path;
        if (!found) found = std::move(path);
    }
    return found;
}

bool Workspace::open(Document document, std::string language) {
    const std::string path = document.path();
    open_.erase(path);
    auto [it, fresh] =
        open_.try_emplace(path, OpenFile{std::move(document), std::move(language), {}, {}});
    BUNRAKU_ASSERT(fresh);
    return update(it->second);
}

bool Workspace::update(OpenFile& file) {
    const std::string& path = file.document.path();
    file.kind = kind_of(path);
    if (file.kind != FileKind::Manifest && file.kind != FileKind::Epp)
        return index_text(path, file.kind, file.document.text());
    file.parsed = parse_with_recovery(path, file.document.text(), file.kind == FileKind::Epp);
    if (!file.parsed.useful && index_.file(path)) return false;
    return index_.put(path, file.kind, group_of(path), symbols_of_manifest(*file.parsed.tree),
                      file.document.text());
}

bool Workspace::close(const std::string& path) {
    if (open_.erase(path) == 0) return false;
    return refresh(path);
}

OpenFile* Workspace::find_open(const std::string& path) {
    const auto found = open_.find(path);
    return found == open_.end() ? nullptr : &found->second;
}

bool Workspace::refresh(const std::string& path) {
    if (open_.contains(path)) return false;
    const bool known = reads_folder(folder_of(path));
    if (known && files_->is_real_folder(path)) return refresh_folder(path);
    if (sys::base_name(path) == "hiera.yaml") {
        const std::size_t before = data_folders_.size();
        read_hiera_config(path);
        if (known && data_folders_.size() != before) return refresh_folder(folder_of(path));
    }
    if (known) note_new_module(path);
    // Editors report a folder that was removed, but not its files.
    const bool changed = forget_below(path);
    std::erase_if(modules_, [&](const ModuleFolder& module) {
        return is_below(module.path, path) && files_->list(module.path).empty();
    });
    const FileKind kind = kind_of(path);
    const auto text = files_->read(path);
    if (known && kind != FileKind::Other && text && text->size() <= kMaxIndexedFile &&
        !is_alias(path))
        return index_text(path, kind, *text) || changed;
    return index_.remove(path) || changed;
}

bool Workspace::refresh_folder(const std::string& folder) {
    if (!reads_folder(folder)) return false;
    std::erase_if(modules_,
                  [&](const ModuleFolder& module) { return is_below(module.path, folder); });
    scanned_ = 0;
    scan(folder, 0);
    read_pending_data();
    return true;
}

/// Reads the data files of the folders that were scanned, now that all hiera.yaml are known.
void Workspace::read_pending_data() {
    for (const std::string& path : std::exchange(pending_data_, {}))
        if (kind_of(path) == FileKind::HieraData) scan_file(path);
    std::ranges::sort(modules_, {}, &ModuleFolder::path);
}

std::shared_ptr<const FileText> Workspace::text_of(const std::string& path) const {
    const auto found = open_.find(path);
    if (found != open_.end()) {
        const Document& document = found->second.document;
        return std::make_shared<FileText>(FileText{document.text(), document.lines()});
    }
    auto text = files_->read(path);
    if (!text) return nullptr;
    auto out = std::make_shared<FileText>();
    out->text = std::move(*text);
    out->lines = LineIndex(out->text);
    return out;
}

}  // namespace bunraku::lsp
