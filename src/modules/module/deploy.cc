#include "modules/module/deploy.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/descriptor.h"
#include "core/sys/lock.h"
#include "modules/module/deploy_folder.h"
#include "modules/module/feed.h"
#include "modules/module/names.h"
#include "modules/module/parallel.h"
#include "modules/module/places.h"
#include "modules/module/sources.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Level;
using base::Result;
using What = DeployedEnvironment::What;

constexpr int kTreeDays = 30;

/// One module of one environment.
struct ModulePlan {
    std::size_t index = 0;  ///< in the Puppetfile
    std::string path;       ///< in the environment, "modules/web"
    std::string identity;   ///< what it is to be, tests left out or not
    Settled settled;
    std::string tree;
    bool keeps = false;  ///< as it stands
};

struct EnvironmentPlan {
    const DeploySource* source = nullptr;
    DeployedEnvironment out;
    std::optional<VersionFolders> folders;
    std::string old_folder;
    VersionState old;
    bool with_modules = false;
    std::string tree;  ///< the commit's files
    Puppetfile file;
    std::string forge;
    LockFile lock;
    std::vector<ModulePlan> modules;
    std::vector<std::string> module_folders;
    std::string version;
    std::time_t started = 0;
    bool failed() const { return out.what == What::Failed; }
};

std::string time_text(std::time_t t) {
    std::tm parts{};
    ::localtime_r(&t, &parts);
    char text[64];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &parts);
    return text;
}

/// A deploy, pass by pass (`run`).
class Deployment {
public:
    Deployment(const DeployOptions& options, sys::System& system, base::LogSink& log)
        : options_(options),
          config_(options.config),
          system_(system),
          log_(log),
          sources_(system, options.cache, forge_of(options), {.stopped = options.stopped}) {}

    Result<std::vector<DeployedEnvironment>> run() {
        BUNRAKU_TRY_VOID(check_lock());
        BUNRAKU_TRY_VOID(take_turns());
        {
            const Ahead ahead(*this);
            BUNRAKU_TRY_VOID(learn_branches(true));
            BUNRAKU_TRY_VOID(choose());
            read_puppetfiles();
            settle_modules();
        }
        remember_asked();
        drop_unchanged();
        fetch_trees();
        build();
        switch_over();
        if (config_.purge_deployment) purge();
        run_after(false);
        sources_.prune(kTreeDays);
        return results();
    }

    Result<std::vector<DeployedEnvironment>> run_modules() {
        BUNRAKU_TRY_VOID(check_lock());
        BUNRAKU_TRY_VOID(take_turns());
        BUNRAKU_TRY_VOID(learn_branches(false));
        BUNRAKU_TRY_VOID(choose());
        std::erase_if(plans_, [](const EnvironmentPlan& p) { return p.old_folder.empty(); });
        for (EnvironmentPlan& p : plans_) {
            p.with_modules = true;
            if (!p.old.commit.empty()) p.out.commit = p.old.commit;
        }
        read_puppetfiles();
        for (EnvironmentPlan& p : plans_) {
            for (ModulePlan& m : p.modules) {
                const std::string folder = p.file.modules[m.index].folder();
                m.keeps = std::find(options_.only_modules.begin(), options_.only_modules.end(),
                                    folder) == options_.only_modules.end();
                if (!m.keeps) continue;
                auto known = p.old.modules.find(m.path);
                m.identity = known == p.old.modules.end() ? "" : known->second;
            }
            std::erase_if(p.modules,
                          [](const ModulePlan& m) { return m.keeps && m.identity.empty(); });
        }
        settle_modules();
        drop_unchanged();
        fetch_trees();
        build();
        switch_over();
        run_after(true);
        return results();
    }

    Result<std::vector<DeployListing>> list(bool fetch) {
        BUNRAKU_TRY_VOID(learn_branches(fetch));
        std::vector<DeployListing> out;
        for (const DeploySource& source : config_.sources) {
            DeployListing listing{.source = &source, .environments = {}};
            for (EnvironmentPlan& p : plans_) {
                if (p.source != &source) continue;
                const VersionState& old = p.old;
                DeployListing::Environment e{.name = p.out.branch,
                                             .dirname = p.out.name,
                                             .signature = old.commit,
                                             .status = p.old_folder.empty()         ? "absent"
                                                       : old.commit == p.out.commit ? "insync"
                                                                                    : "outdated",
                                             .modules = {}};
                for (const auto& [path, identity] : old.modules) {
                    e.modules.push_back(path + " " + identity);
                }
                listing.environments.push_back(std::move(e));
            }
            out.push_back(std::move(listing));
        }
        return out;
    }

private:
    static ForgeClientOptions forge_of(const DeployOptions& options) {
        ForgeClientOptions out = options.forge;
        out.stopped = options.stopped;
        const DeployConfig& config = options.config;
        if (!config.forge_url.empty()) {
            // What the settings hold is for the address that they name.
            if (origin_of(config.forge_url) != origin_of(out.url)) out.authorization.clear();
            out.url = config.forge_url;
        }
        if (!config.forge_token.empty()) {
            out.authorization = config.forge_token.find(' ') == std::string::npos
                                    ? "Bearer " + config.forge_token
                                    : config.forge_token;
        }
        if (out.url.find("://") == std::string::npos) out.url = "https://" + out.url;
        while (out.url.ends_with('/')) out.url.pop_back();
        return out;
    }

    void note(Level level, std::string text) {
        std::unique_lock held(mutex_);
        log_.log(level, std::move(text));
    }
    void fail(EnvironmentPlan& p, const std::string& why) {
        std::unique_lock held(mutex_);
        if (p.failed()) return;
        p.out.what = What::Failed;
        p.out.error = why;
        log_.log(Level::Err, fmt::format("Environment {} is left as it is: {}", p.out.name, why));
    }
    bool stopped() const { return options_.stopped && options_.stopped(); }
    /// For every plan that is not lost.
    void for_all(int most, const std::function<Result<void>(EnvironmentPlan&)>& work) {
        in_parallel(plans_.size(), most, [&](std::size_t i) {
            EnvironmentPlan& p = plans_[i];
            if (p.failed()) return;
            if (stopped()) return fail(p, "the deploy was stopped");
            if (auto done = work(p); !done) fail(p, done.error().message);
        });
    }
    static int few() {
        return std::max(2, static_cast<int>(std::thread::hardware_concurrency()) * 2);
    }

    Result<void> check_lock() const {
        if (config_.write_lock.empty()) return {};
        return failure(
            "Making changes to deployed environments has been administratively "
            "disabled.\nReason: " +
                config_.write_lock,
            16);
    }

    Result<void> take_turns() {
        std::set<std::string> folders;
        for (const DeploySource& s : config_.sources) folders.insert(s.basedir);
        for (const std::string& folder : folders) {
            BUNRAKU_TRY_VOID(system_.files.make_directories(folder + "/.bunraku"));
            locks_.push_back(
                BUNRAKU_TRY(wait_for_lock(folder + "/.bunraku/.lock", options_.stopped)));
        }
        return {};
    }

    Result<void> learn_branches(bool fetch) {
        std::vector<base::Error> errors(config_.sources.size());
        std::vector<std::map<std::string, std::string>> refs(config_.sources.size());
        in_parallel(config_.sources.size(), options_.parallel, [&](std::size_t i) {
            const std::string& remote = config_.sources[i].remote;
            Result<std::map<std::string, std::string>> found;
            if (fetch) {
                found = sources_.refs(remote);
            } else if (auto done = sources_.with_mirror(remote,
                                                        [&](GitMirror& mirror) -> Result<void> {
                                                            found = mirror.refs();
                                                            return {};
                                                        });
                       !done) {
                found = std::unexpected(done.error());
            }
            if (found) {
                refs[i] = std::move(*found);
            } else {
                errors[i] = found.error();
            }
        });
        for (std::size_t i = 0; i < refs.size(); ++i) {
            const DeploySource& source = config_.sources[i];
            if (!errors[i].message.empty()) {
                return failure(
                    fmt::format("Unable to determine current branches for Git source "
                                "'{}' ({}): {}",
                                source.name, source.basedir, errors[i].message));
            }
            const bool branches = std::any_of(refs[i].begin(), refs[i].end(), [](const auto& r) {
                return r.first.starts_with("refs/heads/");
            });
            // A repository that lost its branches is no reason to remove every environment.
            if (!branches && fetch) {
                return failure(fmt::format("Git source '{}' ({}) has no branches", source.name,
                                           shown_url(source.remote)));
            }
            add_plans(source, refs[i]);
        }
        return no_collisions();
    }

    bool filtered(const DeploySource& source, const std::string& branch) {
        for (const std::string& prefix : source.ignore_branch_prefixes) {
            if (!branch.starts_with(prefix)) continue;
            note(Level::Info, fmt::format("Branch {} filtered out by ignore_branch_prefixes {}",
                                          branch, prefix));
            return true;
        }
        if (source.filter_command.empty()) return false;
        sys::Command c;
        c.argv = {"/bin/sh", "-c", source.filter_command};
        c.environment = {{"R10K_BRANCH", branch},
                         {"R10K_NAME", source.name},
                         {"GIT_DIR", mirror_path(source.remote)}};
        c.timeout = std::chrono::minutes(5);
        c.stop = [this] { return stopped() ? sys::Stop::Ask : sys::Stop::No; };
        auto done = system_.processes.run(c);
        if (done && done->ok()) return false;
        note(Level::Info, fmt::format("Branch `{}:{}` filtered out by filter_command {}",
                                      source.name, branch, source.filter_command));
        return true;
    }
    std::string mirror_path(const std::string& url) {
        std::string out;
        (void)sources_.with_mirror(url, [&](GitMirror& mirror) -> Result<void> {
            out = mirror.path();
            return {};
        });
        return out;
    }

    /// Where it is kept which repositories this deploy's modules come from.
    std::string asked_path() const {
        std::string key;
        for (const DeploySource& s : config_.sources) key += s.remote + "\n" + s.basedir + "\n";
        for (const std::string& name : options_.environments) key += name + "\n";
        return options_.cache + "/asked/" +
               codec::hex_digest(codec::DigestKind::Sha256, key).substr(0, 32);
    }
    void remember_asked() {
        if (!options_.modules) return;
        std::string text;
        for (const std::string& url : sources_.asked()) text += url + "\n";
        auto known = system_.files.read(asked_path());
        // Addresses may hold passwords. Nothing depends on it: what cannot be kept costs time.
        if ((!known || *known != text) &&
            system_.files.make_directories(options_.cache + "/asked", 0700)) {
            (void)system_.files.replace(asked_path(), text, {.mode = 0600});
        }
    }

    /// The repositories of the deploy before are asked while the control repository is. What nobody
    /// wants any more is let go as soon as that is known.
    class Ahead {
    public:
        explicit Ahead(Deployment& home) : home_(home) {
            if (!home.options_.modules) return;
            std::string_view rest = text_ = home.system_.files.read(home.asked_path()).value_or("");
            for (std::size_t end; (end = rest.find('\n')) != rest.npos;
                 rest.remove_prefix(end + 1)) {
                urls_.emplace_back(rest.substr(0, end));
            }
            if (urls_.empty()) return;
            thread_ = std::thread([this] {
                in_parallel(urls_.size(), home_.options_.parallel, [this](std::size_t i) {
                    const auto stopped = [this] { return over_ || home_.stopped(); };
                    if (!stopped()) home_.sources_.ask_ahead(urls_[i], stopped);
                });
            });
        }
        ~Ahead() {
            over_ = true;
            if (thread_.joinable()) thread_.join();
        }
        Ahead(const Ahead&) = delete;

    private:
        Deployment& home_;
        std::string text_;
        std::vector<std::string> urls_;
        std::atomic<bool> over_{false};
        std::thread thread_;
    };

    void add_plans(const DeploySource& source, const std::map<std::string, std::string>& refs) {
        constexpr std::string_view kHeads = "refs/heads/";
        for (const auto& [ref, commit] : refs) {
            if (!ref.starts_with(kHeads)) continue;
            const std::string branch = ref.substr(kHeads.size());
            if (filtered(source, branch)) continue;
            const BranchName name = environment_of_branch(source, branch);
            if (name.refused) {
                note(Level::Err,
                     fmt::format("Environment {} contained non-word characters, ignoring it.",
                                 codec::json_string(name.name)));
                continue;
            }
            if (name.corrected && source.invalid_branches == "correct_and_warn") {
                note(Level::Warning, fmt::format("Environment {} contained non-word characters, "
                                                 "correcting name to {}",
                                                 codec::json_string(name.name), name.dirname));
            }
            EnvironmentPlan p;
            p.source = &source;
            p.out.source = source.name;
            p.out.branch = branch;
            p.out.name = name.dirname;
            p.out.path = source.basedir + "/" + name.dirname;
            p.out.commit = commit;
            p.folders.emplace(system_, source.basedir, name.dirname);
            p.old_folder = p.folders->current();
            p.old = p.folders->state();
            plans_.push_back(std::move(p));
        }
    }

    Result<void> no_collisions() {
        std::map<std::string, const EnvironmentPlan*> seen;
        for (const EnvironmentPlan& p : plans_) {
            auto [it, fresh] = seen.emplace(p.out.path, &p);
            if (fresh) continue;
            return failure(fmt::format("Environment collision at {} between {}:{} and {}:{}",
                                       p.out.path, p.out.source, p.out.branch,
                                       it->second->out.source, it->second->out.branch));
        }
        for (const EnvironmentPlan& p : plans_) desired_.insert(p.out.path);
        return {};
    }

    Result<void> choose() {
        if (options_.environments.empty()) {
            for (EnvironmentPlan& p : plans_) p.with_modules = wants_modules(p);
            return {};
        }
        std::set<std::string> wanted;
        for (std::string name : options_.environments) {
            // As r10k: the branch's name will do.
            for (char& c : name) {
                const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  (c >= '0' && c <= '9') || c == '_';
                if (!word) c = '_';
            }
            wanted.insert(std::move(name));
        }
        std::set<std::string> unknown = wanted;
        for (const EnvironmentPlan& p : plans_) unknown.erase(p.out.name);
        std::erase_if(plans_,
                      [&](const EnvironmentPlan& p) { return !wanted.contains(p.out.name); });
        for (EnvironmentPlan& p : plans_) p.with_modules = wants_modules(p);
        for (const std::string& name : unknown) {
            note(Level::Err, fmt::format("Environment(s) '{}' cannot be found in any source and "
                                         "will not be deployed.",
                                         name));
            missing_.push_back({.what = What::Failed, .name = name, .error = "it is in no source"});
        }
        return {};
    }
    bool wants_modules(const EnvironmentPlan& p) const {
        return options_.modules || p.old_folder.empty();
    }

    void read_puppetfiles() {
        for_all(few(), [&](EnvironmentPlan& p) -> Result<void> {
            p.started = std::time(nullptr);
            if (!p.with_modules && p.old.commit == p.out.commit) return {};
            p.tree = BUNRAKU_TRY(sources_.commit_tree(p.source->remote, p.out.commit));
            const std::string path = p.tree + "/" + p.source->puppetfile;
            auto text = system_.files.read(path);
            if (!text) return {};
            auto file = read_puppetfile(system_, path, *text, p.out.branch);
            if (!file) {
                return failure(fmt::format("{}: {}", p.source->puppetfile, file.error().message));
            }
            p.file = std::move(*file);
            for (const PuppetfileModule& m : p.file.modules) {
                for (const std::string& warning : m.warnings) {
                    note(Level::Warning, fmt::format("{}: {}: line {}: {}", p.out.name,
                                                     p.source->puppetfile, m.line, warning));
                }
            }
            if (auto lock = system_.files.read(path + ".lock.json")) p.lock = read_lock_file(*lock);
            p.forge = config_.forge_override && !p.file.forge.empty() ? p.file.forge
                                                                      : sources_.forge().url;
            if (p.forge.find("://") == std::string::npos) p.forge = "https://" + p.forge;
            // As if the Puppetfile stood at the top, whatever its name is.
            const Places places = BUNRAKU_TRY(
                find_places(p.file, p.tree + "/Puppetfile", std::string(), system_.files));
            for (std::size_t i = 0; i < p.file.modules.size(); ++i) {
                if (p.file.modules[i].local()) continue;
                const std::string folder = places.folders[i].substr(
                    std::min(places.folders[i].size(), places.base.size() + 1));
                if (!folder.empty()) p.module_folders.push_back(folder);
                p.modules.push_back({.index = i,
                                     .path = places.targets[i].substr(places.base.size() + 1),
                                     .settled = {}});
            }
            return {};
        });
    }

    /// The version of a forge's module that stands at a path.
    static std::string standing_version(const EnvironmentPlan& p, const ModulePlan& m) {
        auto known = p.old.modules.find(m.path);
        auto name = parse_module_name(p.file.modules[m.index].name);
        if (known == p.old.modules.end() || !name) return {};
        const std::string start = "forge " + name->slug() + "-";
        if (!known->second.starts_with(start)) return {};
        const std::string rest = known->second.substr(start.size());
        return rest.substr(0, rest.find(' '));
    }

    void settle_modules() {
        struct Job {
            EnvironmentPlan* plan;
            ModulePlan* module;
        };
        std::vector<Job> jobs;
        for (EnvironmentPlan& p : plans_) {
            if (!p.with_modules || p.failed()) continue;
            for (ModulePlan& m : p.modules) {
                if (!m.keeps) jobs.push_back({&p, &m});
            }
        }
        in_parallel(jobs.size(), options_.parallel, [&](std::size_t i) {
            EnvironmentPlan& p = *jobs[i].plan;
            ModulePlan& m = *jobs[i].module;
            const PuppetfileModule& wish = p.file.modules[m.index];
            note(Level::Info,
                 fmt::format("Resolving module {} of environment {}", wish.name, p.out.name));
            SettleBy by{.installed = standing_version(p, m),
                        .forge = p.forge,
                        .control_branch = p.out.branch,
                        .branch_override = options_.branch_override};
            auto locked = p.lock.find(wish.name);
            if (locked != p.lock.end() && locked->second.wish == wish_of(wish)) {
                by.lock = &locked->second;
            }
            auto settled =
                stopped() ? failure("the deploy was stopped") : sources_.settle(wish, by);
            if (!settled) return fail(p, fmt::format("{}: {}", wish.name, settled.error().message));
            m.settled = std::move(*settled);
            m.identity = m.settled.identity;
            if (leaves_tests_out(wish)) m.identity += " without spec";
        });
    }
    bool leaves_tests_out(const PuppetfileModule& m) const {
        return m.exclude_spec.value_or(config_.exclude_spec) && !m.own_folder;
    }

    void drop_unchanged() {
        for (EnvironmentPlan& p : plans_) {
            if (p.failed() || options_.force || p.old.source.empty()) continue;
            if (p.old.commit != p.out.commit) continue;
            bool same = true;
            if (p.with_modules) {
                for (const ModulePlan& m : p.modules) {
                    auto known = p.old.modules.find(m.path);
                    same = same && known != p.old.modules.end() && known->second == m.identity;
                }
                same = same &&
                       (p.modules.size() == p.old.modules.size() || !options_.only_modules.empty());
            }
            if (same) unchanged_.insert(&p);
        }
    }
    bool changes(const EnvironmentPlan& p) const { return !p.failed() && !unchanged_.contains(&p); }

    void fetch_trees() {
        struct Job {
            EnvironmentPlan* plan;
            ModulePlan* module;
        };
        // Each content once; the others find it there.
        std::map<std::string, std::vector<Job>> by_content;
        for (EnvironmentPlan& p : plans_) {
            if (!changes(p) || !p.with_modules) continue;
            for (ModulePlan& m : p.modules) {
                if (m.keeps) continue;
                by_content[m.settled.identity + " " + m.settled.forge + " " + m.settled.sha256]
                    .push_back({&p, &m});
            }
        }
        std::vector<std::vector<Job>*> contents;
        for (auto& [identity, jobs] : by_content) contents.push_back(&jobs);
        in_parallel(contents.size(), options_.parallel, [&](std::size_t i) {
            base::Result<std::string> tree;
            for (const Job& job : *contents[i]) {
                const PuppetfileModule& wish = job.plan->file.modules[job.module->index];
                // What cannot be had is asked for once.
                if (tree) {
                    tree = stopped() ? failure("the deploy was stopped")
                                     : sources_.tree(wish, job.module->settled);
                }
                if (tree) {
                    job.module->tree = *tree;
                } else {
                    fail(*job.plan, fmt::format("{}: {}", wish.name, tree.error().message));
                }
            }
        });
    }

    void build() {
        for_all(few(), [&](EnvironmentPlan& p) -> Result<void> {
            if (!changes(p)) return {};
            auto done = build_one(p);
            if (!done) (void)system_.files.remove_all(p.folders->fresh());
            return done;
        });
    }

    /// Where what the version before has of a content may be linked (copy_tree).
    std::string alike(const EnvironmentPlan& p, const std::string& path) const {
        return p.old_folder.empty() || options_.force ? "" : p.old_folder + "/" + path;
    }

    /// Is no module's folder in another's?
    static bool stand_apart(const std::vector<ModulePlan>& modules) {
        std::set<std::string> paths;
        for (const ModulePlan& m : modules) paths.insert(m.path + "/");
        std::string before;
        for (const std::string& path : paths) {
            if (!before.empty() && path.starts_with(before)) return false;
            before = path;
        }
        return true;
    }

    Result<void> place(const EnvironmentPlan& p, const ModulePlan& m, const std::string& fresh) {
        auto& files = system_.files;
        const std::string to = fresh + "/" + m.path;
        const std::string& from = m.keeps ? p.old_folder + "/" + m.path : m.tree;
        BUNRAKU_TRY_VOID(files.make_directories(std::string(sys::directory_name(to))));
        BUNRAKU_TRY_VOID(files.remove_all(to));
        std::set<std::string> without;
        if (!m.keeps && leaves_tests_out(p.file.modules[m.index])) without.insert("spec");
        auto known = p.old.modules.find(m.path);
        const bool same = known != p.old.modules.end() && known->second == m.identity;
        return copy_tree(from, to, without, same ? alike(p, m.path) : "");
    }

    Result<void> build_one(EnvironmentPlan& p) {
        auto& files = system_.files;
        const std::string fresh = p.folders->fresh();
        BUNRAKU_TRY_VOID(files.make_directories(std::string(sys::directory_name(fresh))));
        BUNRAKU_TRY_VOID(files.remove_all(fresh));
        if (p.tree.empty()) {
            p.tree = BUNRAKU_TRY(sources_.commit_tree(p.source->remote, p.out.commit));
        }
        BUNRAKU_TRY_VOID(
            copy_tree(p.tree, fresh, {}, p.old.commit == p.out.commit ? alike(p, "") : ""));
        VersionState state{.source = p.out.source, .branch = p.out.branch, .commit = p.out.commit};
        CarryRules rules{.purge_environment = config_.purge_environment,
                         .purge_puppetfile = config_.purge_puppetfile,
                         .allowlist = config_.purge_allowlist};
        if (p.with_modules) {
            rules.module_folders = p.module_folders;
            std::vector<Result<void>> placed(p.modules.size());
            in_parallel(p.modules.size(), stand_apart(p.modules) ? few() : 1,
                        [&](std::size_t i) { placed[i] = place(p, p.modules[i], fresh); });
            for (std::size_t i = 0; i < placed.size(); ++i) {
                BUNRAKU_TRY_VOID(placed[i]);
                state.modules[p.modules[i].path] = p.modules[i].identity;
            }
            for (const auto& [path, identity] : p.old.modules) {
                if (!state.modules.contains(path)) rules.module_paths.push_back(path);
            }
            rules.keep_modules = !config_.purge_puppetfile;
        } else {
            state.modules = p.old.modules;
            for (const auto& [path, identity] : p.old.modules) rules.module_paths.push_back(path);
            rules.keep_modules = true;
        }
        p.out.modules = static_cast<int>(state.modules.size());
        if (!p.old_folder.empty()) {
            if (!p.old.commit.empty()) {
                // Where nothing is known of it any more, all of it stays.
                auto paths = sources_.commit_paths(p.source->remote, p.old.commit);
                if (paths) rules.managed = std::move(*paths);
            }
            BUNRAKU_TRY_VOID(carry_over(files, p.old_folder, fresh, rules));
        }
        BUNRAKU_TRY_VOID(
            files.replace(fresh + "/.r10k-deploy.json", deploy_info(p), {.mode = 0644}));
        p.version = BUNRAKU_TRY(p.folders->finish(state));
        return {};
    }

    /// r10k's own record, which other tools read.
    std::string deploy_info(const EnvironmentPlan& p) const {
        std::string modules;
        for (const ModulePlan& m : p.modules) {
            if (!p.with_modules || m.keeps) continue;
            const PuppetfileModule& wish = p.file.modules[m.index];
            const bool git = wish.from_git();
            modules += fmt::format(
                "{}\n    {{\n      \"name\": {},\n      \"version\": {},\n      \"sha\": {}\n    "
                "}}",
                modules.empty() ? "" : ",", codec::json_string(wish.folder()),
                codec::json_string(git ? (wish.ref.empty() ? "master" : wish.ref)
                                       : m.settled.version),
                git ? codec::json_string(m.settled.commit) : "null");
        }
        return fmt::format(
            "{{\n  \"name\": {},\n  \"signature\": {},\n  \"started_at\": {},\n"
            "  \"finished_at\": {},\n  \"deploy_success\": true,\n  \"module_deploys\": "
            "[{}{}]\n}}\n",
            codec::json_string(p.out.branch), codec::json_string(p.out.commit),
            codec::json_string(time_text(p.started)),
            codec::json_string(time_text(std::time(nullptr))), modules,
            modules.empty() ? "" : "\n  ");
    }

    void switch_over() {
        bool any = false;
        for (const EnvironmentPlan& p : plans_) any |= !p.version.empty();
        if (any) {
            // A link that outlives a power cut leads to files that do.
            std::set<std::string> folders = {options_.cache};
            for (const DeploySource& s : config_.sources) folders.insert(s.basedir);
            std::set<dev_t> waited_for;
            for (const std::string& folder : folders) {
                const sys::Descriptor fd(
                    ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
                struct stat status{};
                if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) continue;
                if (waited_for.insert(status.st_dev).second) ::syncfs(fd.get());
            }
        }
        for_all(1, [&](EnvironmentPlan& p) -> Result<void> {
            if (!p.version.empty()) {
                BUNRAKU_TRY_VOID(p.folders->use(p.version));
                p.out.what = What::Deployed;
                note(Level::Notice,
                     fmt::format("Environment {} is now at {}", p.out.name, p.out.commit));
            }
            return {};
        });
        in_parallel(plans_.size(), few(),
                    [&](std::size_t i) { plans_[i].folders->tidy(std::max(2, options_.keep)); });
    }

    void purge() {
        std::set<std::string> folders;
        for (const DeploySource& s : config_.sources) folders.insert(s.basedir);
        for (const std::string& folder : folders) {
            auto names = system_.files.list(folder);
            if (!names) continue;
            for (const std::string& name : *names) {
                if (name.starts_with('.') || desired_.contains(folder + "/" + name)) continue;
                auto removed = VersionFolders(system_, folder, name).remove();
                DeployedEnvironment e{.what = What::Removed,
                                      .name = name,
                                      .path = folder + "/" + name,
                                      .error = removed ? "" : removed.error().message};
                note(removed ? Level::Notice : Level::Err,
                     removed
                         ? "Removing unmanaged path " + e.path
                         : fmt::format("Unable to remove unmanaged path {}: {}", e.path, e.error));
                missing_.push_back(std::move(e));
            }
        }
    }

    /// r10k's postrun. Of `deploy module` only where something was changed.
    void run_after(bool changed_only) {
        if (config_.postrun.empty()) return;
        std::string names;
        for (const EnvironmentPlan& p : plans_) {
            if (changed_only && p.out.what != What::Deployed) continue;
            names += (names.empty() ? "" : " ") + p.out.name;
        }
        if (changed_only && names.empty()) return;
        sys::Command c;
        for (std::string word : config_.postrun) {
            constexpr std::string_view kNames = "$modifiedenvs";
            for (std::size_t at = 0; (at = word.find(kNames, at)) != word.npos;) {
                word.replace(at, kNames.size(), names);
                at += names.size();
            }
            c.argv.push_back(std::move(word));
        }
        c.timeout = std::chrono::hours(1);
        c.stop = [this] { return stopped() ? sys::Stop::Ask : sys::Stop::No; };
        c.merge_errors = true;
        auto done = system_.processes.run(c);
        if (!done) {
            note(Level::Err, "The postrun command cannot be run: " + done.error().message);
        } else if (!done->ok()) {
            note(Level::Err, fmt::format("The postrun command ended with {}: {}", done->status,
                                         done->output.substr(0, 1000)));
        }
    }

    std::vector<DeployedEnvironment> results() {
        std::vector<DeployedEnvironment> out;
        for (EnvironmentPlan& p : plans_) out.push_back(std::move(p.out));
        for (DeployedEnvironment& e : missing_) out.push_back(std::move(e));
        return out;
    }

    const DeployOptions& options_;
    const DeployConfig& config_;
    sys::System& system_;
    base::LogSink& log_;
    ModuleSources sources_;
    std::mutex mutex_;
    std::vector<sys::FileLock> locks_;
    std::vector<EnvironmentPlan> plans_;
    std::set<const EnvironmentPlan*> unchanged_;
    std::set<std::string> desired_;  ///< paths of all environments
    std::vector<DeployedEnvironment> missing_;
};

}  // namespace

Result<std::vector<DeployedEnvironment>> deploy_environments(const DeployOptions& options,
                                                             sys::System& system,
                                                             base::LogSink& log) {
    return Deployment(options, system, log).run();
}

Result<std::vector<DeployedEnvironment>> deploy_modules(const DeployOptions& options,
                                                        sys::System& system, base::LogSink& log) {
    return Deployment(options, system, log).run_modules();
}

Result<std::vector<DeployListing>> list_deployment(const DeployOptions& options, bool fetch,
                                                   sys::System& system, base::LogSink& log) {
    return Deployment(options, system, log).list(fetch);
}

Result<std::string> rollback_environment(const DeployOptions& options, const std::string& name,
                                         sys::System& system) {
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) {
        return failure(fmt::format("'{}' is no environment", name));
    }
    for (const DeploySource& source : options.config.sources) {
        VersionFolders folders(system, source.basedir, name);
        if (folders.current().empty()) continue;
        const auto alone = BUNRAKU_TRY(sys::FileLock::acquire(source.basedir + "/.bunraku/.lock"));
        const std::string version = BUNRAKU_TRY(folders.before());
        BUNRAKU_TRY_VOID(folders.use(version));
        return folders.state().commit;
    }
    return failure(fmt::format("There is no environment '{}' in any source", name));
}

}  // namespace bunraku::module
