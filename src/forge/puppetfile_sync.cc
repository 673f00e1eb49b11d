// Installing a Puppetfile: versions are chosen, kept in a lock file, fetched side by side.
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "codec/digest.h"
#include "forge/feed.h"
#include "forge/installed.h"
#include "forge/module_tool.h"
#include "forge/puppetfile.h"
#include "sys/lock.h"
#include "value/rich_data.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Level;
using base::Result;

/// What the lock file holds of a module: the wish, and what it came to.
struct Locked {
    std::string wish;  ///< changes with the Puppetfile's line
    std::string version, sha256, git, commit;
};
using LockFile = std::map<std::string, Locked>;

std::string wish_of(const PuppetfileModule& m) {
    return m.from_git() ? fmt::format("git {} {}", m.git, m.ref) : "forge " + m.version;
}

LockFile read_lock(const std::string& text) {
    LockFile out;
    base::Arena arena;
    auto json = value::parse_json(arena, text);
    const value::Value* modules =
        json && json->is_hash() ? json->as_hash().find("modules") : nullptr;
    if (!modules || !modules->is_hash()) return out;
    for (const value::Entry& e : modules->as_hash()) {
        if (!e.key.is_string() || !e.value.is_hash()) continue;
        Locked l;
        l.wish = text_at(e.value, "wish");
        l.version = text_at(e.value, "version");
        l.sha256 = text_at(e.value, "sha256");
        l.git = text_at(e.value, "git");
        l.commit = text_at(e.value, "commit");
        out[std::string(e.key.as_string())] = std::move(l);
    }
    return out;
}

std::string lock_text(const LockFile& lock) {
    std::string out = "{\n  \"modules\": {";
    bool first = true;
    for (const auto& [name, l] : lock) {
        out += fmt::format("{}\n    {}: {{\n      \"wish\": {}", first ? "" : ",",
                           json_string(name), json_string(l.wish));
        first = false;
        const auto field = [&](std::string_view key, const std::string& value) {
            if (!value.empty()) out += fmt::format(",\n      \"{}\": {}", key, json_string(value));
        };
        field("version", l.version);
        field("sha256", l.sha256);
        field("git", l.git);
        field("commit", l.commit);
        out += "\n    }";
    }
    return out + (first ? "}\n}\n" : "\n  }\n}\n");
}

/// Runs git without prompts; the error holds what it said.
Result<std::string> git(sys::System& system, std::vector<std::string> arguments,
                        std::size_t limit = 64U << 20) {
    sys::Command c;
    c.argv = {"git"};
    c.argv.insert(c.argv.end(), arguments.begin(), arguments.end());
    c.environment = {{"GIT_TERMINAL_PROMPT", "0"}, {"LC_ALL", "C"}};
    c.timeout = std::chrono::minutes(30);
    c.output_limit = limit;
    auto out = system.processes.run(c);
    if (!out) return failure("git cannot be run: " + out.error().message);
    if (!out->ok()) {
        std::string text = out->errors;
        while (text.ends_with('\n')) text.pop_back();
        return failure(fmt::format(
            "git {} failed: {}", arguments[0] == "--git-dir" ? arguments[2] : arguments[0], text));
    }
    return std::move(out->output);
}

bool is_commit(const std::string& text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

class Installer {
public:
    Installer(const PuppetfileOptions& options, sys::System& system, base::LogSink& log,
              std::string forge_url)
        : options_(options), system_(system), log_(log), forge_(options.forge) {
        forge_.url = std::move(forge_url);
    }

    /// One module: true where something was installed.
    Result<bool> bring(const PuppetfileModule& m, const std::string& folder,
                       std::optional<Locked>& lock) {
        const std::string target = folder + "/" + m.folder();
        return m.from_git() ? from_git(m, target, lock) : from_forge(m, target, lock);
    }
    void note(Level level, std::string text) {
        std::unique_lock held(mutex_);
        log_.log(level, std::move(text));
    }

private:
    Result<bool> from_forge(const PuppetfileModule& m, const std::string& target,
                            std::optional<Locked>& lock) {
        const ModuleName name = *parse_module_name(m.name);
        // What stands there now?
        std::string have;
        if (auto text = system_.files.read(target + "/metadata.json")) {
            if (auto metadata = parse_metadata(*text);
                metadata && metadata->module.slug() == name.slug()) {
                have = metadata->version;
            }
        }
        const bool exact = base::SemVer::parse(m.version).has_value();
        std::string want = exact ? m.version : lock ? lock->version : "";
        std::string sha256 = lock && lock->version == want ? lock->sha256 : "";
        if (want.empty() && m.version.empty() && !have.empty() && !options_.update) want = have;
        ForgeClient client(forge_);
        std::optional<RemoteModule> release;
        if (want.empty() || want != have) {
            auto all = BUNRAKU_TRY(client.releases(name.slug(), nullptr));
            if (all.empty()) {
                return failure(
                    fmt::format("Module {} does not exist on {}", name.slug(), client.shown_url()));
            }
            auto range = base::SemVerRange::parse(
                m.version.empty() || m.version == "latest" ? ">= 0.0.0" : m.version);
            const RemoteModule* best = nullptr;
            base::SemVer newest;
            for (const RemoteModule& r : all) {
                const base::SemVer version = *base::SemVer::parse(r.version);
                if (!want.empty()) {
                    if (r.version == want) best = &r;
                    continue;
                }
                if (!range->includes(version)) continue;
                const bool stable = version.prerelease.empty();
                const bool best_stable = best && newest.prerelease.empty();
                if (best && best_stable && !stable) continue;
                if (!best || (stable && !best_stable) || version > newest) {
                    best = &r;
                    newest = version;
                }
            }
            if (!best) {
                return failure(fmt::format("Module {} has no release {} on {}", name.slug(),
                                           want.empty() ? m.version : want, client.shown_url()));
            }
            release = *best;
            want = best->version;
        }
        if (release && !sha256.empty() && !release->sha256.empty() &&
            lower(release->sha256) != sha256) {
            return failure(
                fmt::format("{} {} is not what the lock file was written for: the "
                            "forge now offers other bytes",
                            name.slug(), want));
        }
        const bool fresh = want != have;
        if (fresh) {
            if (!have.empty() && !options_.force) {
                auto changes = changed_files(target);
                if (changes && !changes->empty()) {
                    return failure(
                        fmt::format("{} has local changes; --force replaces it", target));
                }
            }
            const std::string bytes = BUNRAKU_TRY(client.download(*release));
            auto good = inspect_tarball(bytes);
            if (!good) return failure(name.slug() + ": " + good.error().message);
            if (good->metadata.slug() != name.slug() + "-" + want) {
                return failure(
                    fmt::format("the forge sent {} for {}", good->metadata.slug(), name.slug()));
            }
            sha256 = codec::hex_digest(codec::DigestKind::Sha256, bytes);
            BUNRAKU_TRY_VOID(place_module(bytes, target));
            note(Level::Notice,
                 have.empty() ? fmt::format("Installed {} {} into {}", name.slug(), want, target)
                              : fmt::format("Changed {} from {} to {}", name.slug(), have, want));
        }
        lock = Locked{wish_of(m), want, sha256, "", ""};
        return fresh;
    }

    Result<bool> from_git(const PuppetfileModule& m, const std::string& target,
                          std::optional<Locked>& lock) {
        std::string have;
        if (auto text = system_.files.read(target + "/REVISION")) {
            have = text->substr(0, text->find('\n'));
        }
        std::string commit = lock ? lock->commit : "";
        if (commit.empty() && is_commit(m.ref)) commit = m.ref;
        if (!commit.empty() && commit == have) {
            lock = Locked{wish_of(m), "", "", m.git, commit};
            return false;
        }
        const std::string mirror =
            options_.cache + "/git/" +
            codec::hex_digest(codec::DigestKind::Sha256, m.git).substr(0, 32);
        BUNRAKU_TRY_VOID(system_.files.make_directories(options_.cache + "/git", 0700));
        const auto in = [&](std::vector<std::string> arguments, std::size_t limit = 64U << 20) {
            arguments.insert(arguments.begin(), {"--git-dir", mirror});
            return git(system_, std::move(arguments), limit);
        };
        const auto resolve = [&](const std::string& ref) {
            return in({"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"});
        };
        auto lock_file = BUNRAKU_TRY(sys::FileLock::acquire(mirror + ".lock"));
        if (!system_.files.is_directory(mirror)) {
            const std::string fresh = mirror + ".new";
            BUNRAKU_TRY_VOID(system_.files.remove_all(fresh));
            BUNRAKU_TRY(git(system_, {"clone", "--quiet", "--mirror", "--", m.git, fresh}));
            BUNRAKU_TRY_VOID(system_.files.rename(fresh, mirror));
        } else if (commit.empty() || !resolve(commit)) {
            BUNRAKU_TRY(in({"fetch", "--quiet", "--prune", "--tags", "--force"}));
        }
        const std::string ref = !commit.empty() ? commit : m.ref.empty() ? "HEAD" : m.ref;
        auto found = resolve(ref);
        if (!found) return failure(fmt::format("{} has no '{}'", m.git, ref));
        std::string id = *found;
        while (id.ends_with('\n')) id.pop_back();
        if (!is_commit(id)) return failure(fmt::format("{} has no '{}'", m.git, ref));
        const bool fresh = id != have;
        if (fresh) {
            if (have.empty() && system_.files.exists(target) && !options_.force &&
                !system_.files.exists(target + "/metadata.json")) {
                return failure(target + " is no module; --force replaces it");
            }
            const std::string archive =
                BUNRAKU_TRY(in({"archive", "--format=tar.gz", "--prefix=module/", id}, 1U << 30));
            BUNRAKU_TRY_VOID(place_module(archive, target));
            // Written last: without it the next run installs anew.
            BUNRAKU_TRY_VOID(
                system_.files.replace(target + "/REVISION", id + "\n", {.mode = 0644}));
            note(Level::Notice,
                 fmt::format("Installed {} at {} into {}", m.name, id.substr(0, 12), target));
        }
        lock = Locked{wish_of(m), "", "", m.git, id};
        return fresh;
    }

    const PuppetfileOptions& options_;
    sys::System& system_;
    base::LogSink& log_;
    ForgeClientOptions forge_;
    std::mutex mutex_;
};

}  // namespace

Result<PuppetfileSummary> sync_puppetfile(const PuppetfileOptions& options, sys::System& system,
                                          base::LogSink& log) {
    const std::string text = BUNRAKU_TRY(system.files.read(options.puppetfile));
    auto parsed = parse_puppetfile(text);
    if (!parsed) return failure(options.puppetfile + ": " + parsed.error().message);
    const Puppetfile& file = *parsed;
    const std::string home(sys::directory_name(sys::expand_path(options.puppetfile)));
    const auto folder_of = [&](const PuppetfileModule& m) {
        if (!options.moduledir.empty() && (m.moduledir.empty() || m.moduledir == file.moduledir)) {
            return sys::expand_path(options.moduledir, home);
        }
        return sys::expand_path(m.moduledir.empty() ? "modules" : m.moduledir, home);
    };
    std::string url = file.forge.empty() ? options.forge.url : file.forge;
    if (url.find("://") == std::string::npos) url = "https://" + url;

    const std::string lock_path = options.puppetfile + ".lock.json";
    LockFile before;
    if (auto old = system.files.read(lock_path)) before = read_lock(*old);
    std::vector<std::optional<Locked>> locks(file.modules.size());
    for (std::size_t i = 0; i < file.modules.size(); ++i) {
        const PuppetfileModule& m = file.modules[i];
        if (m.local) continue;
        auto known = before.find(m.name);
        const bool fits = known != before.end() && known->second.wish == wish_of(m);
        if (options.frozen && !fits) {
            return failure(fmt::format("{} does not fit {}: '{}' is not locked as written",
                                       lock_path, options.puppetfile, m.name));
        }
        if (fits && !options.update) locks[i] = known->second;
    }

    PuppetfileSummary out;
    std::set<std::string> folders;
    for (const PuppetfileModule& m : file.modules) folders.insert(folder_of(m));
    for (const std::string& f : folders) {
        BUNRAKU_TRY_VOID(system.files.make_directories(f, 0777));
    }
    Installer installer(options, system, log, url);
    std::atomic<std::size_t> at{0};
    std::mutex mutex;
    const auto work = [&] {
        for (std::size_t i = at++; i < file.modules.size(); i = at++) {
            const PuppetfileModule& m = file.modules[i];
            if (m.local) continue;
            auto done = installer.bring(m, folder_of(m), locks[i]);
            if (!done)
                installer.note(Level::Err, fmt::format("{}: {}", m.name, done.error().message));
            std::unique_lock held(mutex);
            ++(!done ? out.failed : *done ? out.installed : out.kept);
        }
    };
    std::vector<std::thread> threads;
    const std::size_t n = std::min<std::size_t>(
        file.modules.size(), static_cast<std::size_t>(std::max(1, options.parallel)));
    for (std::size_t i = 1; i < n; ++i) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();

    if (options.purge) {
        std::set<std::string> wanted;
        for (const PuppetfileModule& m : file.modules) {
            wanted.insert(folder_of(m) + "/" + m.folder());
        }
        for (const std::string& f : folders) {
            for (const std::string& name : BUNRAKU_TRY(system.files.list(f))) {
                const std::string path = f + "/" + name;
                if (name.starts_with('.') || wanted.contains(path) ||
                    !system.files.is_directory(path)) {
                    continue;
                }
                BUNRAKU_TRY_VOID(system.files.remove_all(path));
                installer.note(Level::Notice, "Removed " + path);
                ++out.removed;
            }
        }
    }
    if (!options.frozen) {
        LockFile after;
        for (std::size_t i = 0; i < file.modules.size(); ++i) {
            if (locks[i]) after[file.modules[i].name] = *locks[i];
        }
        const std::string fresh = lock_text(after);
        auto old = system.files.read(lock_path);
        if (!old || *old != fresh) {
            BUNRAKU_TRY_VOID(system.files.replace(lock_path, fresh, {.mode = 0644}));
        }
    }
    return out;
}

}  // namespace bunraku::forge
