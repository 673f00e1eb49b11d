// SPDX-License-Identifier: Apache-2.0
#include "language/environment/environment.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/ruby_json.h"
#include "core/value/rich_data.h"
#include "language/environment/conf.h"

namespace bunraku::environment {

namespace {

bool is_module_name(std::string_view name) {
    if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

std::string_view trim(base::TextView s BUNRAKU_LIFETIMEBOUND) {
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
    return s;
}

/// Returns false if Puppet would ignore the module (FaultyMetadata, 8.11).
bool load_metadata(Module& module, const Files& files, syntax::ValidateOptions::Strict strict,
                   base::LogSink& log) {
    auto text = files.read(module.path + "/metadata.json");
    if (!text || text->empty()) return true;
    base::Arena arena(4096);
    auto data = value::parse_json(arena, *text);
    // Ruby's JSON parser skips comments.
    if (!data) {
        if (auto plain = value::parse_json(arena, codec::without_json_comments(*text)); plain)
            data = std::move(plain);
    }
    if (!data || !data->is_hash()) {
        auto message = fmt::format(
            "{} has an invalid and unparsable metadata.json file. The parse error: {}", module.name,
            data ? "not an object" : codec::json_error(*text, data.error().message));
        if (strict == syntax::ValidateOptions::Strict::Error) {
            log.log(base::Level::Err, message);
        } else if (strict == syntax::ValidateOptions::Strict::Warning) {
            log.log(base::Level::Warning, message);
        }
        return strict != syntax::ValidateOptions::Strict::Error;
    }
    const value::HashRep& h = data->as_hash();
    auto text_of = [](const value::Value* v) {
        return v && v->is_string() ? std::string(v->as_string()) : std::string();
    };
    auto slashed = [](std::string name) {
        std::replace(name.begin(), name.end(), '-', '/');
        return name;
    };
    module.has_metadata = true;
    module.forge_name = slashed(text_of(h.find("name")));
    module.version = text_of(h.find("version"));
    if (const auto* deps = h.find("dependencies"); deps && deps->is_array()) {
        for (const auto& dep : deps->as_array()) {
            if (!dep.is_hash()) continue;
            auto requirement = text_of(dep.as_hash().find("version_requirement"));
            module.dependencies.push_back({slashed(text_of(dep.as_hash().find("name"))),
                                           requirement.empty() ? ">= 0.0.0" : requirement});
        }
    }
    return true;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
    auto text = disk_files()->read(path);
    return text ? std::optional(std::move(*text)) : std::nullopt;
}

namespace {

/// Returns the folder that `dir` links to. With the setting `versioned_environment_dirs` an
/// environment's folder may be a link to one of its versions, and all paths are then those of the
/// version (Environments::Directories.real_path).
std::string version_of(const Files& files, const std::string& dir) {
    const auto target = files.link(dir);
    return target ? expand_path(*target, dir.substr(0, dir.rfind('/'))) : dir;
}

}  // namespace

bool valid_environment_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    });
}

base::Result<std::shared_ptr<const Environment>> Environment::open(const Spec& spec,
                                                                   base::LogSink& log,
                                                                   const Environment* previous) {
    std::shared_ptr<Environment> env(new Environment());
    env->spec_ = spec;
    if (!env->spec_.files) env->spec_.files = disk_files();
    if (!env->spec_.reads)
        env->spec_.reads = previous ? previous->reads() : std::make_shared<ReadTable>();
    const Files& files = env->files();
    env->fingerprints_.read_from(files);
    const DependencyRecorder::Collecting collecting(env->opening_);
    const std::string cwd = working_directory();
    if (!spec.directory.empty()) {
        env->directory_ = expand_path(spec.directory, cwd);
    } else if (valid_environment_name(spec.name)) {
        for (const auto& parent : spec.environmentpath) {
            auto dir = expand_path(parent, cwd) + "/" + spec.name;
            env->note(Read::Exists, dir);
            if (!env->fingerprints_.record(dir).directory) continue;
            env->directory_ = spec.setting && spec.setting("versioned_environment_dirs") == "true"
                                  ? version_of(files, dir)
                                  : dir;
            break;
        }
    }
    if (!env->directory_.empty()) {
        const auto file = env->directory_ + "/environment.conf";
        env->note(Read::File, file);
        if (env->reuse_opened(file, previous)) {
            env->conf_ = previous->conf_;
        } else if (auto text = files.read(file)) {
            env->conf_ = BUNRAKU_TRY(read_conf(file, *text, log));
        }
    }
    const std::string base_modules = fmt::format("{}", fmt::join(spec.basemodulepath, ":"));
    auto setting = [&](std::string_view name) -> std::optional<std::string> {
        if (name == "environment") return spec.name;
        if (name == "basemodulepath") return base_modules;
        return spec.setting ? spec.setting(name) : std::nullopt;
    };

    // modulepath
    std::vector<std::string> paths;
    if (spec.modulepath_given) {
        paths = spec.modulepath;
    } else if (auto conf = env->conf("modulepath")) {
        if (conf->find_first_of("*?[{") != std::string::npos) env->note(Read::Glob, *conf);
        for (const auto& part : expand_modulepath(*conf, env->directory_, files)) {
            auto text = BUNRAKU_TRY(interpolate(part, setting));
            std::string_view rest = text;
            while (!rest.empty()) {
                auto at = rest.find(':');
                paths.emplace_back(rest.substr(0, at));
                rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
            }
        }
    } else {
        if (!env->directory_.empty()) paths.push_back(env->directory_ + "/modules");
        paths.insert(paths.end(), spec.basemodulepath.begin(), spec.basemodulepath.end());
    }
    for (const auto& path : paths) {
        if (!path.empty()) env->modulepath_.push_back(expand_path(path, cwd));
    }

    // manifest
    auto absolute = [&](const std::string& path) -> base::Result<std::string> {
        if (path.starts_with('$')) return interpolate(path, setting);
        return interpolate(expand_path(path, env->directory_), setting);
    };
    if (spec.no_manifest) {
        env->manifest_.clear();
    } else if (!spec.manifest.empty()) {
        env->manifest_ = expand_path(spec.manifest, cwd);
    } else if (!env->directory_.empty()) {
        auto conf = env->conf("manifest");
        if (conf && !spec.disable_per_environment_manifest) {
            env->manifest_ = BUNRAKU_TRY(absolute(*conf));
        } else {
            env->manifest_ = expand_path(spec.default_manifest, env->directory_);
        }
        if (conf && spec.disable_per_environment_manifest) {
            auto wanted = BUNRAKU_TRY(absolute(*conf));
            if (wanted != env->manifest_) {
                log.log(base::Level::Err,
                        fmt::format("The 'disable_per_environment_manifest' setting is true, but "
                                    "the environment located at {} has a manifest setting in its "
                                    "environment.conf of '{}' which does not match the "
                                    "default_manifest setting '{}'. If this environment is "
                                    "expecting to find modules in '{}', they will not be "
                                    "available!",
                                    env->directory_, wanted, spec.default_manifest, wanted));
            }
        }
    }
    if (auto conf = env->conf("config_version"); conf && !conf->empty()) {
        env->config_version_ = BUNRAKU_TRY(absolute(*conf));
    }
    if (previous && previous->modulepath_ == env->modulepath_ &&
        previous->manifest_ == env->manifest_) {
        std::shared_lock lock(previous->mutex_);
        env->carried_ = previous->parsed_;
    }

    // If several modules have the same name, the first one counts.
    std::unordered_set<std::string> seen;
    for (const auto& path : env->modulepath_) {
        env->fingerprints_.record(path);
        std::vector<std::string> names;
        try {
            names = files.list(path);
        } catch (const base::PuppetError& error) {
            // A user may have no permission for the machine's module folders; the compile then runs
            // without them.
            if (std::ranges::find(spec.basemodulepath, path) == spec.basemodulepath.end()) throw;
            log.log(base::Level::Warning,
                    fmt::format("Skipping the modules of {}: {}", path, error.message()));
        }
        for (auto& name : names) {
            auto full = path + "/" + name;
            if (!is_module_name(name) || seen.contains(name) || !files.stat(full).directory)
                continue;
            Module module;
            module.name = name;
            module.path = full;
            if (env->reuse_opened(full + "/metadata.json", previous)) {
                const Module* known = previous->find_module(name);
                if (previous->faulty_.contains(full)) env->faulty_.insert(full);
                if (known && known->path == full) module = *known;
            } else if (!load_metadata(module, files, spec.strict, log)) {
                env->faulty_.insert(full);
            }
            if (env->faulty_.contains(full)) continue;
            seen.insert(name);
            env->modules_.push_back(std::move(module));
        }
    }
    for (const auto& module : env->modules_) env->by_name_.emplace(module.name, &module);
    return std::shared_ptr<const Environment>(std::move(env));
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
    if (!is_module_name(name)) return found;
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
