// SPDX-License-Identifier: Apache-2.0
#include "language/environment/environment.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "language/environment/conf.h"

namespace bunraku::environment {

namespace {

std::string_view trim(base::TextView s BUNRAKU_LIFETIMEBOUND) {
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
    return s;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
    auto text = disk_files()->read(path);
    return text ? std::optional(std::move(*text)) : std::nullopt;
}

bool Environment::reuse_opened(const std::string& path, const Environment* previous) {
    const Stamp stamp = fingerprints_.record(path);
    opened_with_.emplace(path, stamp);
    if (!previous) return false;
    const auto it = previous->opened_with_.find(path);
    return it != previous->opened_with_.end() && it->second.same(stamp);
}

std::optional<std::string> Environment::conf(std::string_view setting) const {
    for (const auto& [key, value] : conf_) {
        if (key == setting) return value;
    }
    return std::nullopt;
}

config::Compatibility Environment::level() const {
    const auto own = spec_.level_fixed ? std::nullopt : conf("compatibility");
    return own ? config::level_from_name(*own).value_or(spec_.level) : spec_.level;
}

std::string Environment::conflict() const {
    if (!spec_.disable_per_environment_manifest) return {};
    auto manifest = conf("manifest");
    if (!manifest || manifest->empty() || *manifest == spec_.default_manifest) return {};
    return fmt::format(
        "The 'disable_per_environment_manifest' setting is true, and the '{}' environment has an "
        "environment.conf manifest that conflicts with the 'default_manifest' setting.",
        spec_.name);
}

Stamp Environment::depends_on(const std::string& path) const {
    note(Read::File, path);
    return fingerprints_.record(path);
}

base::Result<std::string> Environment::read(const std::string& path) const {
    note(Read::File, path);
    return files().read(path);
}

Stamp Environment::stat(const std::string& path) const {
    note(Read::Exists, path);
    return files().stat(path);
}

std::vector<std::string> Environment::list(const std::string& path) const {
    note(Read::Folder, path);
    return files().list(path);
}

std::vector<std::string> Environment::glob(const std::string& pattern) const {
    note(Read::Glob, pattern);
    return files().glob(pattern);
}

std::optional<std::string> Environment::variable(const std::string& name) const {
    note(Read::Variable, name);
    return files().variable(name);
}

const std::vector<Module>& Environment::modules() const {
    {
        std::unique_lock lock(mutex_);
        if (modules_read_.ids().empty()) {
            for (const auto& path : modulepath_)
                modules_read_.add(spec_.reads->id(Read::Folder, path));
        }
    }
    modules_read_.note();
    return modules_;
}

const Module* Environment::find_module(std::string_view name) const {
    auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
}

const Module* Environment::module(std::string_view name) const {
    const Module* found = find_module(name);
    if (!valid_module_name(name)) return found;
    {
        std::shared_lock lock(mutex_);
        if (auto it = module_reads_.find(std::string(name)); it != module_reads_.end()) {
            it->second.note();
            return found;
        }
    }
    // Only the folders up to the first match are dependencies.
    DependencyRecorder reads;
    for (const auto& path : modulepath_) {
        const auto folder = fmt::format("{}/{}", path, name);
        reads.add(spec_.reads->id(Read::Exists, folder));
        if (found && found->path == folder) break;
    }
    reads.note();
    std::unique_lock lock(mutex_);
    module_reads_.emplace(std::string(name), std::move(reads));
    return found;
}

const Module* Environment::module_of_file(std::string_view path) const {
    for (const auto& dir : modulepath_) {
        if (path.size() <= dir.size() + 1 || !path.starts_with(dir) || path[dir.size()] != '/')
            continue;
        auto rest = path.substr(dir.size() + 1);
        const auto* found = find_module(rest.substr(0, rest.find('/')));
        if (found && path.starts_with(found->path)) return found;
    }
    return nullptr;
}

bool Environment::exists(const std::string& path, bool read_next) const {
    {
        std::shared_lock lock(mutex_);
        if (auto it = exists_.find(path); it != exists_.end()) {
            if (!read_next || !it->second.there) DependencyRecorder::note(it->second.read);
            return it->second.there;
        }
    }
    const Stamp stamp = fingerprints_.record(path);
    const Found found{stamp.exists && !stamp.directory, spec_.reads->id(Read::Exists, path)};
    if (!read_next || !found.there) DependencyRecorder::note(found.read);
    std::unique_lock lock(mutex_);
    exists_.emplace(path, found);
    return found.there;
}

namespace {

/// Cached results of searches through every module. Compiles repeatedly look up names that no
/// module has.
class FoundPaths {
public:
    template <class Find>
    std::optional<std::string> get(ReadTable& table, char kind, std::string_view name,
                                   Find&& find) {
        std::string key = kind + std::string(name);
        {
            std::shared_lock lock(mutex_);
            if (auto it = paths_.find(key); it != paths_.end()) {
                it->second.reads.note();
                return it->second.path;
            }
        }
        Answer answer;
        {
            const DependencyRecorder::ReadGroup together(table, answer.reads);
            answer.path = find();
        }
        std::unique_lock lock(mutex_);
        return paths_.emplace(std::move(key), std::move(answer)).first->second.path;
    }

private:
    struct Answer {
        std::optional<std::string> path;
        DependencyRecorder reads;
    };
    std::shared_mutex mutex_;
    std::unordered_map<std::string, Answer> paths_;
};

std::shared_ptr<FoundPaths> found_paths(const Environment& environment) {
    return environment.attached<FoundPaths>([] { return std::make_shared<FoundPaths>(); });
}

std::vector<std::string_view> name_parts(base::TextView name BUNRAKU_LIFETIMEBOUND) {
    std::vector<std::string_view> parts;
    while (true) {
        auto at = name.find("::");
        parts.push_back(name.substr(0, at));
        if (at == std::string_view::npos) return parts;
        name = name.substr(at + 2);
    }
}

// Reports whether no part can leave the folder. The names are from manifests, so this check
// prevents path traversal.
bool safe_parts(const std::vector<std::string_view>& parts) {
    return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
        return !part.empty() && part.find('/') == std::string_view::npos && part != "." &&
               part != ".." && part.find('\0') == std::string_view::npos;
    });
}

std::string join_path(const std::string& base, std::span<const std::string_view> parts,
                      std::string_view extension) {
    std::string out = base;
    for (auto part : parts) out.append("/").append(part);
    out.append(extension);
    return out;
}

}  // namespace

std::vector<std::pair<const Module*, std::string>> Environment::manifest_candidates(
    std::string_view qualified_name) const {
    std::vector<std::pair<const Module*, std::string>> out;
    auto parts = name_parts(qualified_name);
    if (!safe_parts(parts)) return out;
    const Module* owner = module(parts[0]);
    if (!owner) return out;
    const std::string manifests = owner->path + "/manifests";
    const std::string init = manifests + "/init.pp";
    const bool has_init = exists(init, true);
    BUNRAKU_ASSERT(!parts.empty());
    // The longest path is first. At every step Puppet reads init.pp before the file itself.
    for (std::size_t n = parts.size(); n >= 1; --n) {
        if (has_init) out.emplace_back(owner, init);
        if (n > 1) {
            auto file = join_path(manifests, std::span(parts).subspan(1, n - 1), ".pp");
            if (exists(file, true)) out.emplace_back(owner, std::move(file));
        }
    }
    return out;
}

std::optional<std::string> Environment::function_file(std::string_view qualified_name) const {
    auto parts = name_parts(qualified_name);
    if (!safe_parts(parts)) return std::nullopt;
    std::string path;
    if (parts.size() == 1 || parts[0] == "environment") {
        if (directory_.empty()) return std::nullopt;
        // Puppet 8.11 reads environment::f from functions/environment/f.pp. The documentation names
        // functions/f.pp, which is accepted here too.
        path = join_path(directory_ + "/functions", std::span(parts), ".pp");
        if (parts.size() > 1 && !exists(path))
            path = join_path(directory_ + "/functions", std::span(parts).subspan(1), ".pp");
    } else {
        const Module* owner = module(parts[0]);
        if (!owner) return std::nullopt;
        path = join_path(owner->path + "/functions", std::span(parts).subspan(1), ".pp");
    }
    if (exists(path)) return path;
    // functions/M.pp cannot define the function M of module M: Puppet accepts init for plans and
    // tasks only.
    return std::nullopt;
}

std::optional<std::string> Environment::type_file(std::string_view qualified_name) const {
    auto parts = name_parts(qualified_name);
    if (!safe_parts(parts)) return std::nullopt;
    std::string path;
    if (parts.size() == 1) {
        if (!directory_.empty()) {
            path = join_path(directory_ + "/types", std::span(parts), ".pp");
            if (exists(path)) return path;
        }
        const Module* owner = module(parts[0]);
        if (!owner) return std::nullopt;
        path = owner->path + "/types/init_typeset.pp";
        return exists(path) ? std::optional(path) : std::nullopt;
    }
    if (parts[0] == "environment") {
        if (directory_.empty()) return std::nullopt;
        path = join_path(directory_ + "/types", std::span(parts).subspan(1), ".pp");
        return exists(path) ? std::optional(path) : std::nullopt;
    }
    const Module* owner = module(parts[0]);
    if (!owner) return std::nullopt;
    path = join_path(owner->path + "/types", std::span(parts).subspan(1), ".pp");
    return exists(path) ? std::optional(path) : std::nullopt;
}

std::optional<std::string> Environment::ruby_type_file(std::string_view type_name) const {
    if (type_name.find_first_of("/.:") != std::string_view::npos || type_name.empty())
        return std::nullopt;
    return found_paths(*this)->get(
        *spec_.reads, 't', type_name, [&]() -> std::optional<std::string> {
            for (const auto& module : modules()) {
                auto path = fmt::format("{}/lib/puppet/type/{}.rb", module.path, type_name);
                if (exists(path)) return path;
            }
            if (!directory_.empty()) {
                auto path = fmt::format("{}/lib/puppet/type/{}.rb", directory_, type_name);
                if (exists(path)) return path;
            }
            return own_plugin(fmt::format("puppet/type/{}.rb", type_name));
        });
}

/// Finds a plugin outside of modules in the order of Puppet's autoloader: first the plugins that
/// were synchronized to this machine, then Ruby's load path.
std::optional<std::string> Environment::own_plugin(const std::string& name) const {
    note(Read::Setting, "libdir");
    std::vector<std::string> folders;
    const auto own = spec_.setting ? spec_.setting("libdir") : std::nullopt;
    if (own && !own->empty()) folders.push_back(*own);
    const std::string more =
        spec_.setting ? spec_.setting("ruby_plugin_folders").value_or("") : std::string();
    for (std::string_view folder : base::split(more, ':'))
        if (!folder.empty()) folders.emplace_back(folder);
    for (const std::string& folder : folders) {
        auto path = fmt::format("{}/{}", folder, name);
        if (exists(path)) return path;
    }
    return std::nullopt;
}

std::optional<std::string> Environment::ruby_function_file(std::string_view qualified_name) const {
    if (auto found = ruby_function_file(qualified_name, false)) return found;
    return ruby_function_file(qualified_name, true);
}

std::optional<std::string> Environment::ruby_function_file(std::string_view qualified_name,
                                                           bool legacy) const {
    auto parts = name_parts(qualified_name);
    if (!safe_parts(parts) || (legacy && parts.size() > 1)) return std::nullopt;
    const std::string_view folder =
        legacy ? "/lib/puppet/parser/functions" : "/lib/puppet/functions";
    auto look = [&](const std::string& root) -> std::optional<std::string> {
        auto path = join_path(root + std::string(folder), parts, ".rb");
        return exists(path) ? std::optional(path) : std::nullopt;
    };
    const auto synchronized = [&] {
        return own_plugin(join_path(std::string(folder.substr(5)), parts, ".rb"));
    };
    if (parts.size() > 1) {
        if (parts[0] == "environment" && !directory_.empty()) return look(directory_);
        const Module* owner = module(parts[0]);
        return owner ? look(owner->path) : synchronized();
    }
    return found_paths(*this)->get(*spec_.reads, legacy ? '3' : '4', qualified_name,
                                   [&]() -> std::optional<std::string> {
                                       if (!directory_.empty()) {
                                           if (auto found = look(directory_)) return found;
                                       }
                                       for (const auto& module : modules()) {
                                           if (auto found = look(module.path)) return found;
                                       }
                                       return synchronized();
                                   });
}

std::optional<std::string> Environment::ruby_data_type_file(std::string_view qualified_name) const {
    auto parts = name_parts(qualified_name);
    if (!safe_parts(parts)) return std::nullopt;
    auto look = [&](const std::string& root) -> std::optional<std::string> {
        auto path = join_path(root + "/lib/puppet/datatypes", parts, ".rb");
        return exists(path) ? std::optional(path) : std::nullopt;
    };
    if (parts.size() > 1) {
        const Module* owner = module(parts[0]);
        return owner ? look(owner->path) : std::nullopt;
    }
    return found_paths(*this)->get(*spec_.reads, 'd', qualified_name,
                                   [&]() -> std::optional<std::string> {
                                       if (!directory_.empty()) {
                                           if (auto found = look(directory_)) return found;
                                       }
                                       for (const auto& module : modules()) {
                                           if (auto found = look(module.path)) return found;
                                       }
                                       return std::nullopt;
                                   });
}

std::string Environment::ruby_type_namevar(const std::string& ruby_file) const {
    note(Read::File, ruby_file);
    {
        std::shared_lock lock(mutex_);
        if (auto it = namevars_.find(ruby_file); it != namevars_.end()) return it->second;
    }
    std::string namevar = "name";
    fingerprints_.record(ruby_file);
    if (auto text = files().read(ruby_file)) {
        // Matches `newparam(:x, :namevar => true)`, or `isnamevar` after the last newparam or
        // newproperty.
        std::string current;
        std::string_view rest = *text;
        while (!rest.empty()) {
            auto nl = rest.find('\n');
            auto line = trim(rest.substr(0, nl));
            rest = nl == std::string_view::npos ? std::string_view() : rest.substr(nl + 1);
            if (line.empty() || line[0] == '#') continue;
            for (std::string_view word : {"newparam", "newproperty"}) {
                auto at = line.find(word);
                if (at == std::string_view::npos) continue;
                auto name = line.find_first_of(":'\"", at);
                if (name == std::string_view::npos) continue;
                auto end = name + 1;
                while (end < line.size() &&
                       (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_'))
                    ++end;
                current = line.substr(name + 1, end - name - 1);
            }
            bool flagged = line.starts_with("isnamevar") ||
                           line.find("namevar => true") != std::string_view::npos ||
                           line.find("namevar: true") != std::string_view::npos ||
                           line.find("{ isnamevar }") != std::string_view::npos;
            if (flagged && !current.empty()) {
                namevar = current;
                break;
            }
        }
    }
    std::unique_lock lock(mutex_);
    namevars_.emplace(ruby_file, namevar);
    return namevar;
}

std::vector<std::shared_ptr<const ParsedFile>> Environment::main_manifests() const {
    {
        std::shared_lock lock(mutex_);
        if (main_) {
            main_reads_.note();
            return *main_;
        }
    }
    DependencyRecorder reads;
    std::vector<std::shared_ptr<const ParsedFile>> files;
    {
        const DependencyRecorder::Collecting collecting(reads);
        files = read_manifests();
    }
    std::unique_lock lock(mutex_);
    if (!main_) {
        BUNRAKU_ASSERT(main_reads_.ids().empty());
        main_ = files;
        main_reads_ = std::move(reads);
    }
    return *main_;
}

std::vector<std::shared_ptr<const ParsedFile>> Environment::read_manifests() const {
    std::vector<std::shared_ptr<const ParsedFile>> out;
    if (spec_.code) return {parse_text(spec_.code_name, *spec_.code)};
    if (manifest_.empty()) return out;
    std::vector<std::string> files;
    const Stamp there = fingerprints_.record(manifest_);
    // For a file, the read of its content already implies that it exists.
    if (!there.exists || there.directory) note(Read::Exists, manifest_);
    if (there.directory) {
        // Puppet reads all *.pp files below the folder, sorted by path. It does not follow links to
        // folders and skips hidden names.
        std::vector<std::string> pending{manifest_};
        while (!pending.empty()) {
            auto dir = std::move(pending.back());
            pending.pop_back();
            fingerprints_.record(dir);
            for (const auto& name : list(dir)) {
                if (name[0] == '.') continue;
                auto path = dir + "/" + name;
                if (spec_.files->is_real_folder(path)) {
                    pending.push_back(path);
                } else if (name.ends_with(".pp")) {
                    files.push_back(std::move(path));
                }
            }
        }
        std::sort(files.begin(), files.end());
    } else {
        files.push_back(manifest_);
    }
    for (const auto& file : files) {
        auto parsed = parse_manifest(file);
        if (parsed) {
            out.push_back(std::move(parsed));
            continue;
        }
        if (!stat(file).exists) continue;  // Puppet treats a missing manifest as empty.
        throw base::PuppetError(
            fmt::format("Could not parse for environment {}: Could not read file {}", spec_.name,
                        file),
            "", base::PuppetError::Class::Plain);
    }
    return out;
}

}  // namespace bunraku::environment
