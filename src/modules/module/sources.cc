// SPDX-License-Identifier: Apache-2.0
#include "modules/module/sources.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "modules/module/feed.h"
#include "modules/module/tarball.h"
#include "modules/module/trust.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using ModuleKind = PuppetfileModule::Kind;

std::string sha256_of(std::string_view bytes) {
    return codec::hex_digest(codec::DigestKind::Sha256, bytes);
}

/// Returns the newest release in a range. Stable releases have priority.
const RemoteModule* newest_in(const std::vector<RemoteModule>& listed,
                              const base::SemVerRange& range) {
    const RemoteModule* best = nullptr;
    base::SemVer newest;
    for (const RemoteModule& r : listed) {
        const base::SemVer version = *base::SemVer::parse(r.version);
        if (!range.includes(version)) continue;
        const bool stable = version.prerelease.empty();
        const bool best_stable = best && newest.prerelease.empty();
        if (best_stable && !stable) continue;
        if (!best || (stable && !best_stable) || version > newest) {
            best = &r;
            newest = version;
        }
    }
    return best;
}

/// Lists the paths as git lists a tree. An empty folder represents a nested repository.
Result<void> list_paths(sys::FileSystem& files, const std::string& top, const std::string& folder,
                        std::vector<std::string>& out) {
    const auto names = BUNRAKU_TRY(files.list(top + "/" + folder));
    if (names.empty() && !folder.empty()) out.push_back(folder.substr(0, folder.size() - 1));
    for (const std::string& name : names) {
        const auto status = BUNRAKU_TRY(files.lstat(top + "/" + folder + name));
        if (status.kind == sys::FileKind::Directory) {
            BUNRAKU_TRY_VOID(list_paths(files, top, folder + name + "/", out));
        } else {
            out.push_back(folder + name);
        }
    }
    return {};
}

}  // namespace

/// A forge client borrowed from a pool, so that the next user can reuse its connections.
class ModuleSources::PooledClient {
public:
    PooledClient(ModuleSources& home, std::string url) : home_(home), url_(std::move(url)) {
        {
            std::unique_lock held(home_.mutex_);
            auto& idle = home_.idle_[url_];
            if (!idle.empty()) {
                client_ = std::move(idle.back());
                idle.pop_back();
            }
        }
        if (client_) return;
        ForgeClientOptions options = home_.forge_;
        // The author of a Puppetfile must not receive the credentials of the site's own forge.
        if (origin_of(url_) != origin_of(options.url)) options.authorization.clear();
        options.url = url_;
        options.attempts = 4;
        client_ = std::make_unique<ForgeClient>(std::move(options));
    }
    ~PooledClient() {
        std::unique_lock held(home_.mutex_);
        home_.idle_[url_].push_back(std::move(client_));
    }
    PooledClient(const PooledClient&) = delete;
    ForgeClient& operator*() { return *client_; }
    ForgeClient* operator->() { return client_.get(); }

private:
    ModuleSources& home_;
    std::string url_;
    std::unique_ptr<ForgeClient> client_;
};

Result<ResolvedModule> ModuleSources::resolve_module(const PuppetfileModule& m,
                                                     const ResolveOptions& by) {
    switch (m.kind) {
        case ModuleKind::Forge: return resolve_forge(m, by);
        case ModuleKind::Git: return resolve_git(m, by);
        case ModuleKind::Tarball: return resolve_tarball(m, by);
        case ModuleKind::Svn: return resolve_svn(m, by);
        case ModuleKind::Local: break;
    }
    return failure(fmt::format("'{}' is a local module", m.name));
}

Result<void> ModuleSources::fill(const PuppetfileModule& m, ResolvedModule& s,
                                 const std::string& folder) {
    if (m.kind == ModuleKind::Forge) {
        return unpack_tarball(BUNRAKU_TRY(release(parse_module_name(m.name)->slug(), s)), folder);
    }
    if (m.kind == ModuleKind::Tarball)
        return unpack_any_tarball(BUNRAKU_TRY(tarball(m, s)), folder);
    if (m.kind == ModuleKind::Svn) {
        BUNRAKU_TRY(svn(m, "export", {"--revision", s.commit, "--", m.source, folder}));
    } else {
        BUNRAKU_TRY_VOID(with_mirror(m.source, [&](GitMirror& mirror) -> Result<void> {
            auto repository = this->repository(m.source);
            const bool named = std::any_of(repository->refs.begin(), repository->refs.end(),
                                           [&](const auto& ref) { return ref.second == s.commit; });
            if (named) return mirror.write_files(s.commit, folder);
            if (!mirror.resolve(s.commit))
                BUNRAKU_TRY_VOID(learn(*repository, mirror, Learn::Likely));
            return mirror.write_files(BUNRAKU_TRY(mirror.resolve(s.commit)), folder);
        }));
    }
    return system_.files.replace(folder + "/REVISION", s.commit + "\n", {.mode = 0644});
}

// Modules from forges.

Result<ResolvedModule> ModuleSources::resolve_forge(const PuppetfileModule& m,
                                                    const ResolveOptions& by) {
    const std::string slug = parse_module_name(m.name)->slug();
    ResolvedModule out{.forge = by.forge};
    if (base::SemVer::parse(m.version)) {
        out.version = m.version;
    } else if (by.lock) {
        out.version = by.lock->version;
    } else if (m.version.empty() && !by.installed.empty() && !by.update) {
        out.version = by.installed;
    }
    if (by.lock && by.lock->version == out.version) out.sha256 = by.lock->sha256;
    if (!m.checksum.empty()) out.sha256 = m.checksum;
    if (out.version.empty()) {
        const std::string key = fmt::format("{} {} {}", by.forge, slug, m.version);
        auto turn = this->turn("settle " + key);
        std::unique_lock alone(*turn);
        {
            std::unique_lock held(mutex_);
            if (auto known = resolved_.find(key); known != resolved_.end()) {
                out.version = known->second;
            }
        }
        if (out.version.empty()) {
            PooledClient client(*this, by.forge);
            const bool any = m.version.empty() || m.version == "latest";
            std::optional<RemoteModule> found;
            if (any) found = BUNRAKU_TRY(client->current(slug));
            if (!found) {
                const auto listed = BUNRAKU_TRY(client->releases(slug, nullptr));
                const auto range = base::SemVerRange::parse(any ? ">= 0.0.0" : m.version);
                const RemoteModule* best = newest_in(listed, *range);
                if (!best && listed.empty()) {
                    return failure(
                        fmt::format("Module {} does not exist on {}", slug, client->shown_url()));
                }
                if (!best) {
                    return failure(fmt::format("Module {} has no release {} on {}", slug, m.version,
                                               client->shown_url()));
                }
                found = *best;
            }
            out.version = found->version;
            std::unique_lock held(mutex_);
            resolved_[key] = out.version;
        }
    }
    out.identity = fmt::format("forge {}-{}", slug, out.version);
    return out;
}

Result<std::string> ModuleSources::ask_release(ForgeClient& client, const std::string& slug,
                                               const std::string& version) {
    const auto fits = [&](const std::string& bytes) -> Result<void> {
        auto good = inspect_tarball(bytes);
        if (!good) return failure(slug + ": " + good.error().message);
        if (good->metadata.slug() == slug + "-" + version) return {};
        return failure(fmt::format("the forge sent {} for {}", good->metadata.slug(), slug));
    };
    // One request is enough if the forge has the same file paths as Puppet's.
    auto bytes = client.archive(slug, version);
    if (bytes && fits(*bytes)) return bytes;
    if (!bytes && bytes.error().code != 404 && bytes.error().code != 400) return bytes;
    const auto listed = BUNRAKU_TRY(client.releases(slug, nullptr));
    for (const RemoteModule& r : listed) {
        if (r.version != version) continue;
        bytes = BUNRAKU_TRY(client.download(r));
        BUNRAKU_TRY_VOID(fits(*bytes));
        return bytes;
    }
    if (listed.empty()) {
        return failure(fmt::format("Module {} does not exist on {}", slug, client.shown_url()));
    }
    return failure(
        fmt::format("Module {} has no release {} on {}", slug, version, client.shown_url()));
}

Result<std::string> ModuleSources::release(const std::string& slug, ResolvedModule& s) {
    const std::string key = fmt::format("{} {}-{}", s.forge, slug, s.version);
    auto turn = this->turn(key);
    std::unique_lock alone(*turn);
    const auto vouched = [&](const std::string& bytes) -> Result<void> {
        if (!forge_.trust) return {};
        PooledClient client(*this, s.forge);
        return client->vouch({*parse_module_name(slug), s.version}, bytes);
    };
    std::string bytes = cached_archive(s.sha256.empty() ? cached_digest(key) : s.sha256);
    if (!bytes.empty()) {
        auto good = vouched(bytes);
        // A cached archive may be older than the current signature rules. If it violates them, it
        // is fetched again.
        if (!good && !s.sha256.empty()) return std::unexpected(good.error());
        if (!good) bytes.clear();
    }
    if (bytes.empty()) {
        PooledClient client(*this, s.forge);
        bytes = BUNRAKU_TRY(ask_release(*client, slug, s.version));
        const std::string got = sha256_of(bytes);
        if (!s.sha256.empty() && s.sha256 != got) {
            return failure(
                fmt::format("{} {} is not what the lock file was written for: the "
                            "forge now offers other bytes",
                            slug, s.version));
        }
        BUNRAKU_TRY_VOID(vouched(bytes));
        cache_archive(key, got, bytes);
    }
    s.sha256 = sha256_of(bytes);
    return bytes;
}

// Modules from git repositories.

std::shared_ptr<ModuleSources::Repository> ModuleSources::repository(const std::string& url) {
    std::unique_lock held(mutex_);
    auto& out = repositories_[url];
    if (!out) out = std::make_shared<Repository>();
    return out;
}

std::shared_ptr<std::mutex> ModuleSources::turn(const std::string& key) {
    std::unique_lock held(mutex_);
    auto& out = turns_[key];
    if (!out) out = std::make_shared<std::mutex>();
    return out;
}

Result<void> ModuleSources::learn(Repository& r, GitMirror& mirror, Learn how) {
    if (r.fetched || (r.known && how == Learn::WhatIsThere)) return {};
    if (how != Learn::WhatIsThere) {
        if (r.failed) return std::unexpected(*r.failed);
        auto done = [&]() -> Result<bool> {
            if (how == Learn::Unlikely) {
                if (auto refs = BUNRAKU_TRY(mirror.refs_if_current())) {
                    r.refs = std::move(*refs);
                    return true;
                }
            }
            BUNRAKU_TRY_VOID(mirror.fetch());
            return false;
        }();
        if (!done) {
            r.failed = done.error();
            return std::unexpected(done.error());
        }
        r.fetched = true;
        r.known = r.known || *done;
        if (*done) return {};
    }
    r.refs = BUNRAKU_TRY(mirror.refs());
    r.known = true;
    return {};
}

Result<void> ModuleSources::with_mirror(const std::string& url,
                                        const std::function<Result<void>(GitMirror&)>& work) {
    auto repository = this->repository(url);
    std::unique_lock alone(repository->mutex);
    auto mirror = BUNRAKU_TRY(GitMirror::open(system_, cache_ + "/git", url, timeout_));
    return work(mirror);
}

Result<std::map<std::string, std::string>> ModuleSources::refs(const std::string& url) {
    std::map<std::string, std::string> out;
    BUNRAKU_TRY_VOID(with_mirror(url, [&](GitMirror& mirror) -> Result<void> {
        auto r = repository(url);
        BUNRAKU_TRY_VOID(learn(*r, mirror, Learn::Likely));
        out = r->refs;
        return {};
    }));
    return out;
}

void ModuleSources::prefetch(const std::string& url, const std::function<bool()>& stopped) {
    auto r = repository(url);
    std::unique_lock alone(r->mutex);
    if (r->fetched || r->failed) return;
    GitTimeouts timeouts = timeout_;
    timeouts.stopped = stopped;
    auto mirror = GitMirror::open(system_, cache_ + "/git", url, timeouts);
    if (!mirror) return;
    r->ahead = learn(*r, *mirror, Learn::Unlikely).has_value();
}

std::set<std::string> ModuleSources::asked() {
    std::set<std::string> out;
    // A thread that holds a repository's lock may lock `mutex_`, so the opposite order is not
    // allowed.
    const auto repositories = [&] {
        std::unique_lock held(mutex_);
        return repositories_;
    }();
    for (const auto& [url, r] : repositories) {
        std::unique_lock alone(r->mutex);
        if (r->wanted) out.insert(url);
    }
    return out;
}

Result<std::pair<std::string, std::string>> ModuleSources::commit_of(
    const std::string& url, const std::vector<std::string>& requests) {
    auto r = repository(url);
    std::unique_lock alone(r->mutex);
    std::optional<GitMirror> mirror;
    const auto open = [&]() -> Result<void> {
        if (!mirror) mirror = BUNRAKU_TRY(GitMirror::open(system_, cache_ + "/git", url, timeout_));
        return {};
    };
    const auto look = [&](const std::string& requested) -> std::string {
        for (const char* place : {"refs/tags/", "refs/heads/", ""}) {
            if (auto known = r->refs.find(place + requested); known != r->refs.end()) {
                return known->second;
            }
        }
        if (requested.size() < 4 ||
            requested.find_first_not_of("0123456789abcdef") != std::string::npos || !open()) {
            return {};
        }
        return mirror->resolve(requested).value_or("");
    };
    if (!r->known) {
        BUNRAKU_TRY_VOID(open());
        BUNRAKU_TRY_VOID(learn(*r, *mirror, Learn::WhatIsThere));
    }
    // Tags and commits do not change. Any other reference may have changed upstream.
    const std::string& first = requests.front();
    const bool stays =
        r->refs.contains("refs/tags/" + first) ||
        (!r->refs.contains("refs/heads/" + first) && first != "HEAD" && !look(first).empty());
    if (!stays) r->wanted = true;
    if (!stays && !r->fetched) {
        BUNRAKU_TRY_VOID(open());
        BUNRAKU_TRY_VOID(learn(*r, *mirror, Learn::Unlikely));
    }
    const auto found = [&]() -> std::pair<std::string, std::string> {
        for (const std::string& requested : requests) {
            if (std::string commit = look(requested); !commit.empty()) return {requested, commit};
        }
        return {};
    };
    auto out = found();
    if (out.second.empty() && r->ahead) {
        // The reference may have been created after the prefetch and before the Puppetfile was
        // read.
        r->ahead = r->fetched = false;
        BUNRAKU_TRY_VOID(open());
        BUNRAKU_TRY_VOID(learn(*r, *mirror, Learn::Likely));
        out = found();
    }
    if (!out.second.empty()) return out;
    return failure(fmt::format("{} has no '{}'", shown_url(url), first));
}

Result<ResolvedModule> ModuleSources::resolve_git(const PuppetfileModule& m,
                                                  const ResolveOptions& by) {
    ResolvedModule out;
    if (by.lock && is_commit(by.lock->commit)) {
        out.commit = by.lock->commit;
    } else if (is_commit(m.ref) && m.default_refs.empty() && by.branch_override.empty()) {
        out.commit = m.ref;
    } else {
        // r10k's order: requested reference, override, default.
        std::vector<std::string> requests;
        if (m.of_control_branch) {
            if (!by.control_branch.empty()) requests.push_back(by.control_branch);
        } else if (!m.ref.empty()) {
            requests.push_back(m.ref);
        } else {
            requests.emplace_back("master");
        }
        if (!by.branch_override.empty()) requests.push_back(by.branch_override);
        requests.insert(requests.end(), m.default_refs.begin(), m.default_refs.end());
        if (m.ref.empty()) requests.emplace_back("HEAD");
        if (requests.empty()) {
            return failure("Could not resolve control repo branch and no default provided");
        }
        auto [ref, commit] = BUNRAKU_TRY(commit_of(m.source, requests));
        out.ref = std::move(ref);
        out.commit = std::move(commit);
    }
    if (out.ref.empty()) out.ref = m.ref.empty() ? out.commit : m.ref;
    out.identity = "git " + out.commit;
    return out;
}

Result<std::string> ModuleSources::commit_tree(const std::string& url, const std::string& commit) {
    return made_once("control " + commit, [&](const std::string& folder) {
        return with_mirror(url,
                           [&](GitMirror& mirror) { return mirror.write_files(commit, folder); });
    });
}

Result<std::string> ModuleSources::empty_tree() {
    return made_once("nothing", [&](const std::string& folder) {
        return system_.files.make_directories(folder);
    });
}

Result<std::vector<std::string>> ModuleSources::svn_folders(const PuppetfileModule& at) {
    const std::string listed = BUNRAKU_TRY(svn(at, "list", {"--", at.source}));
    std::vector<std::string> out;
    for (std::string_view line : base::split(listed, '\n'))
        if (line.ends_with('/')) out.emplace_back(line.substr(0, line.size() - 1));
    return out;
}

Result<std::vector<std::string>> ModuleSources::commit_paths(const std::string& url,
                                                             const std::string& commit) {
    std::vector<std::string> out;
    const std::string tree = tree_path("control " + commit);
    if (system_.files.is_directory(tree)) {
        BUNRAKU_TRY_VOID(list_paths(system_.files, tree, "", out));
    } else {
        BUNRAKU_TRY_VOID(with_mirror(url, [&](GitMirror& mirror) -> Result<void> {
            out = BUNRAKU_TRY(mirror.paths(commit));
            return {};
        }));
    }
    std::sort(out.begin(), out.end());
    return out;
}

// Archives by address, and Subversion.

Result<ResolvedModule> ModuleSources::resolve_tarball(const PuppetfileModule& m,
                                                      const ResolveOptions& by) {
    ResolvedModule out;
    out.sha256 = m.checksum;
    if (out.sha256.empty() && by.lock) out.sha256 = by.lock->sha256;
    // Like r10k, retains the first fetched archive as the content of the address.
    if (out.sha256.empty() && !by.update) out.sha256 = cached_digest("tarball " + m.source);
    if (out.sha256.empty()) BUNRAKU_TRY(tarball(m, out));
    out.identity = "tarball " + out.sha256;
    return out;
}

Result<std::string> ModuleSources::tarball(const PuppetfileModule& m, ResolvedModule& s) {
    const std::string key = "tarball " + m.source;
    auto turn = this->turn(key);
    std::unique_lock alone(*turn);
    std::string bytes = cached_archive(s.sha256);
    if (bytes.empty()) {
        FeedOptions options;
        options.home = m.source;
        options.attempts = 3;
        Fetcher fetcher(options);
        const std::string url = m.source.starts_with('/') ? "file://" + m.source : m.source;
        bytes = BUNRAKU_TRY(fetcher.get(url, options.max_tarball));
        const std::string got = sha256_of(bytes);
        if (!s.sha256.empty() && got != s.sha256) {
            return failure(
                fmt::format("{}: the downloaded file does not match the checksum: "
                            "SHA-256 is {}, not {}",
                            shown_url(m.source), got, s.sha256));
        }
        cache_archive(key, got, bytes);
    }
    s.sha256 = sha256_of(bytes);
    return bytes;
}

Result<std::string> ModuleSources::svn(const PuppetfileModule& m, const std::string& verb,
                                       std::vector<std::string> arguments) {
    sys::Command c;
    c.argv = {"svn", verb, "--non-interactive"};
    if (!m.user.empty()) c.argv.insert(c.argv.end(), {"--username", m.user, "--no-auth-cache"});
    if (!m.password.empty()) {
        c.argv.emplace_back("--password-from-stdin");
        c.input = m.password + "\n";
    }
    c.argv.insert(c.argv.end(), arguments.begin(), arguments.end());
    c.environment = {{"LC_ALL", "C"}};
    c.timeout = std::chrono::minutes(30);
    c.stop = [this] {
        return timeout_.stopped && timeout_.stopped() ? sys::Stop::Ask : sys::Stop::No;
    };
    auto done = system_.processes.run(c);
    if (!done) return failure("Could not run svn: " + done.error().message);
    if (!done->ok())
        return failure(fmt::format("svn {} failed: {}", verb, shown_text(done->errors)));
    return std::move(done->output);
}

Result<ResolvedModule> ModuleSources::resolve_svn(const PuppetfileModule& m,
                                                  const ResolveOptions& by) {
    ResolvedModule out;
    out.commit = m.ref;
    if (by.lock && !by.lock->commit.empty()) out.commit = by.lock->commit;
    if (out.commit.empty()) {
        std::string printed =
            BUNRAKU_TRY(svn(m, "info", {"--show-item", "last-changed-revision", "--", m.source}));
        while (!printed.empty() && (printed.back() == '\n' || printed.back() == ' '))
            printed.pop_back();
        if (printed.empty() || printed.find_first_not_of("0123456789") != std::string::npos) {
            return failure(shown_url(m.source) + " did not report a revision");
        }
        out.commit = std::move(printed);
    }
    out.identity = fmt::format("svn {}@{}", m.source, out.commit);
    return out;
}

// Cached archives.

std::string ModuleSources::cached_archive(const std::string& sha256) {
    if (sha256.size() != 64) return {};
    auto bytes = system_.files.read(cache_ + "/archives/" + sha256);
    return bytes && sha256_of(*bytes) == sha256 ? std::move(*bytes) : std::string();
}

std::string ModuleSources::cached_digest(const std::string& key) {
    auto text = system_.files.read(cache_ + "/archives/index/" + sha256_of(key));
    return text && text->size() == 64 ? std::move(*text) : std::string();
}

void ModuleSources::cache_archive(const std::string& key, const std::string& sha256,
                                  const std::string& bytes) {
    // Errors are ignored, because a cache that is not writable only costs time.
    const std::string folder = cache_ + "/archives";
    if (!system_.files.make_directories(folder + "/index", 0700)) return;
    if (system_.files.replace(folder + "/" + sha256, bytes, {.mode = 0600})) {
        (void)system_.files.replace(folder + "/index/" + sha256_of(key), sha256, {.mode = 0600});
    }
}

std::string ModuleSources::tree_path(const std::string& key) const {
    return cache_ + "/trees/" + sha256_of(key).substr(0, 40);
}

Result<std::string> ModuleSources::made_once(
    const std::string& key, const std::function<Result<void>(const std::string&)>& fill) {
    auto turn = this->turn("tree " + key);
    std::unique_lock alone(*turn);
    const std::string path = tree_path(key);
    if (system_.files.is_directory(path)) {
        (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
        return path;
    }
    BUNRAKU_TRY_VOID(system_.files.make_directories(cache_ + "/trees", 0700));
    const std::string fresh = fmt::format("{}.{}.new", path, ::getpid());
    BUNRAKU_TRY_VOID(system_.files.remove_all(fresh));
    if (auto filled = fill(fresh); !filled) {
        (void)system_.files.remove_all(fresh);
        return std::unexpected(filled.error());
    }
    (void)::utimensat(AT_FDCWD, fresh.c_str(), nullptr, 0);
    if (auto placed = system_.files.rename(fresh, path); !placed) {
        (void)system_.files.remove_all(fresh);
        // Another process has created the tree first.
        if (!system_.files.is_directory(path)) return std::unexpected(placed.error());
    }
    return path;
}

Result<std::string> ModuleSources::tree(const PuppetfileModule& m, ResolvedModule& s) {
    // The signature rules and the published releases may have changed since the tree was created,
    // so check again.
    if (m.kind == ModuleKind::Forge && forge_.trust && forge_.trust->demands(s.forge)) {
        BUNRAKU_TRY(release(parse_module_name(m.name)->slug(), s));
    }
    // The key includes the digest in the lock file. An archive with another digest gets another
    // tree.
    const std::string key =
        s.identity + " " + (m.kind == ModuleKind::Forge ? s.forge + " " + s.sha256 : m.source);
    return made_once(key, [&](const std::string& folder) { return fill(m, s, folder); });
}

void ModuleSources::prune(int days) {
    prune_folder(cache_ + "/trees", days);
    prune_folder(cache_ + "/asked", days);
}

void ModuleSources::prune_folder(const std::string& folder, int days) {
    auto names = system_.files.list(folder);
    if (!names) return;
    const std::int64_t oldest =
        std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::system_clock::now().time_since_epoch() - std::chrono::hours(24 * days))
            .count();
    for (const std::string& name : *names) {
        auto status = system_.files.lstat(folder + "/" + name);
        if (status && status->mtime_ns < oldest) {
            (void)system_.files.remove_all(folder + "/" + name);
        }
    }
}

}  // namespace bunraku::module
