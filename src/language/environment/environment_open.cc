// SPDX-License-Identifier: Apache-2.0
// Opens an environment: finds its folder, reads environment.conf, and lists the modules.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <mutex>
#include <shared_mutex>

#include "core/codec/ruby_json.h"
#include "core/value/rich_data.h"
#include "language/environment/conf.h"
#include "language/environment/environment.h"

namespace bunraku::environment {

namespace {

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

bool valid_module_name(std::string_view name) {
    if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// The steps of opening an environment.
class Environment::Opening {
public:
    Opening(Environment& env, base::LogSink& log, const Environment* previous)
        : env_(env), spec_(env.spec_), files_(env.files()), log_(log), previous_(previous) {}

    base::Result<void> run() {
        find_directory();
        BUNRAKU_TRY_VOID(read_environment_conf());
        BUNRAKU_TRY_VOID(resolve_modulepath());
        BUNRAKU_TRY_VOID(resolve_manifest());
        if (auto conf = env_.conf("config_version"); conf && !conf->empty()) {
            env_.config_version_ = BUNRAKU_TRY(absolute(*conf));
        }
        carry_parsed_files();
        find_modules();
        return {};
    }

private:
    void find_directory() {
        if (!spec_.directory.empty()) {
            env_.directory_ = expand_path(spec_.directory, cwd_);
            return;
        }
        if (!valid_environment_name(spec_.name)) return;
        for (const auto& parent : spec_.environmentpath) {
            auto dir = expand_path(parent, cwd_) + "/" + spec_.name;
            env_.note(Read::Exists, dir);
            if (!env_.fingerprints_.record(dir).directory) continue;
            env_.directory_ = spec_.setting && spec_.setting("versioned_environment_dirs") == "true"
                                  ? version_of(files_, dir)
                                  : dir;
            return;
        }
    }

    base::Result<void> read_environment_conf() {
        if (env_.directory_.empty()) return {};
        const auto file = env_.directory_ + "/environment.conf";
        env_.note(Read::File, file);
        if (env_.reuse_opened(file, previous_)) {
            env_.conf_ = previous_->conf_;
        } else if (auto text = files_.read(file)) {
            env_.conf_ = BUNRAKU_TRY(read_conf(file, *text, spec_, log_));
        }
        return {};
    }

    /// Replaces the settings in a value of environment.conf.
    base::Result<std::string> interpolated(const std::string& text) const {
        return interpolate(text, [this](std::string_view name) -> std::optional<std::string> {
            if (name == "environment") return spec_.name;
            if (name == "basemodulepath") {
                return fmt::format("{}", fmt::join(spec_.basemodulepath, ":"));
            }
            return spec_.setting ? spec_.setting(name) : std::nullopt;
        });
    }

    base::Result<std::string> absolute(const std::string& path) const {
        return interpolated(path.starts_with('$') ? path : expand_path(path, env_.directory_));
    }

    base::Result<void> resolve_modulepath() {
        std::vector<std::string> paths;
        if (spec_.modulepath_given) {
            paths = spec_.modulepath;
        } else if (auto conf = env_.conf("modulepath")) {
            if (conf->find_first_of("*?[{") != std::string::npos) env_.note(Read::Glob, *conf);
            for (const auto& part : expand_modulepath(*conf, env_.directory_, files_)) {
                auto text = BUNRAKU_TRY(interpolated(part));
                std::string_view rest = text;
                while (!rest.empty()) {
                    auto at = rest.find(':');
                    paths.emplace_back(rest.substr(0, at));
                    rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
                }
            }
        } else {
            if (!env_.directory_.empty()) paths.push_back(env_.directory_ + "/modules");
            paths.insert(paths.end(), spec_.basemodulepath.begin(), spec_.basemodulepath.end());
        }
        for (const auto& path : paths) {
            if (!path.empty()) env_.modulepath_.push_back(expand_path(path, cwd_));
        }
        return {};
    }

    base::Result<void> resolve_manifest() {
        if (spec_.no_manifest) {
            env_.manifest_.clear();
        } else if (!spec_.manifest.empty()) {
            env_.manifest_ = expand_path(spec_.manifest, cwd_);
        } else if (!env_.directory_.empty()) {
            return resolve_manifest_of_directory();
        }
        return {};
    }

    base::Result<void> resolve_manifest_of_directory() {
        auto conf = env_.conf("manifest");
        if (conf && !spec_.disable_per_environment_manifest) {
            env_.manifest_ = BUNRAKU_TRY(absolute(*conf));
            return {};
        }
        env_.manifest_ = expand_path(spec_.default_manifest, env_.directory_);
        if (!conf) return {};
        auto wanted = BUNRAKU_TRY(absolute(*conf));
        if (wanted != env_.manifest_) {
            log_.log(base::Level::Err,
                     fmt::format("The 'disable_per_environment_manifest' setting is true, but "
                                 "the environment located at {} has a manifest setting in its "
                                 "environment.conf of '{}' which does not match the "
                                 "default_manifest setting '{}'. If this environment is "
                                 "expecting to find modules in '{}', they will not be "
                                 "available!",
                                 env_.directory_, wanted, spec_.default_manifest, wanted));
        }
        return {};
    }

    void carry_parsed_files() {
        if (!previous_ || previous_->modulepath_ != env_.modulepath_ ||
            previous_->manifest_ != env_.manifest_) {
            return;
        }
        std::shared_lock lock(previous_->mutex_);
        env_.carried_ = previous_->parsed_;
    }

    void find_modules() {
        // If several modules have the same name, the first one counts.
        std::unordered_set<std::string> seen;
        for (const auto& path : env_.modulepath_) {
            env_.fingerprints_.record(path);
            for (auto& name : names_in(path)) {
                const auto folder = path + "/" + name;
                if (!valid_module_name(name) || seen.contains(name) ||
                    !files_.stat(folder).directory) {
                    continue;
                }
                if (add_module(name, folder)) seen.insert(name);
            }
        }
        for (const auto& module : env_.modules_) env_.by_name_.emplace(module.name, &module);
    }

    std::vector<std::string> names_in(const std::string& path) const {
        try {
            return files_.list(path);
        } catch (const base::PuppetError& error) {
            // A user may have no permission for the machine's module folders; the compile then runs
            // without them.
            if (std::ranges::find(spec_.basemodulepath, path) == spec_.basemodulepath.end()) throw;
            log_.log(base::Level::Warning,
                     fmt::format("Skipping the modules of {}: {}", path, error.message()));
            return {};
        }
    }

    /// Returns false if Puppet would ignore the module.
    bool add_module(const std::string& name, const std::string& folder) {
        Module module;
        module.name = name;
        module.path = folder;
        if (env_.reuse_opened(folder + "/metadata.json", previous_)) {
            const Module* known = previous_->find_module(name);
            if (previous_->faulty_.contains(folder)) env_.faulty_.insert(folder);
            if (known && known->path == folder) module = *known;
        } else if (!load_metadata(module, files_, spec_.strict, log_)) {
            env_.faulty_.insert(folder);
        }
        if (env_.faulty_.contains(folder)) return false;
        env_.modules_.push_back(std::move(module));
        return true;
    }

    Environment& env_;
    const Spec& spec_;
    const Files& files_;
    base::LogSink& log_;
    const Environment* previous_;  ///< may be null
    const std::string cwd_ = working_directory();
};

base::Result<std::shared_ptr<const Environment>> Environment::open(const Spec& spec,
                                                                   base::LogSink& log,
                                                                   const Environment* previous) {
    std::shared_ptr<Environment> env(new Environment());
    env->spec_ = spec;
    if (!env->spec_.files) env->spec_.files = disk_files();
    if (!env->spec_.reads)
        env->spec_.reads = previous ? previous->reads() : std::make_shared<ReadTable>();
    env->fingerprints_.read_from(env->files());
    const DependencyRecorder::Collecting collecting(env->opening_);
    BUNRAKU_TRY_VOID(Opening(*env, log, previous).run());
    return std::shared_ptr<const Environment>(std::move(env));
}

}  // namespace bunraku::environment
