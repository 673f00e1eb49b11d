// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/service.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <thread>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "modules/forge/downloads.h"
#include "modules/forge/pull.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

/// Snapshots with more bytes of records than this are loaded in the background, because reading
/// them takes noticeable time.
constexpr std::uint64_t kLarge = 48U << 20;

/// Returns a value that changes when the file changes.
std::string stamp_of(const std::string& path, std::int64_t* seconds = nullptr) {
    struct stat s{};
    if (::stat(path.c_str(), &s) != 0) return "none";
    if (seconds) *seconds = s.st_mtim.tv_sec;
    return fmt::format("{}.{}.{}.{}", s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}
constexpr std::uint64_t kSeed = 14695981039346656037ULL;

bool same_text(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string stamp_now() { return module::forge_time(std::time(nullptr)); }

}  // namespace

/// The loaded state of one repository.
struct ForgeService::Slot {
    std::shared_mutex mutex;  ///< guards `current`
    SnapshotPtr current;
    std::mutex loading;  ///< one thread reads a new snapshot; the others wait or use the old one
    std::string failed;  ///< name of a snapshot that could not be read; it is not tried again
    std::thread background_loader;
    bool busy = false;        ///< true while `aside` runs (guarded by `loading`)
    std::mutex config_mutex;  ///< guards the members below; never held for long
    std::shared_ptr<const RepositoryConfig> config;
    std::string config_stamp;
    ~Slot() {
        if (background_loader.joinable()) background_loader.join();
    }
    SnapshotPtr get() {
        std::shared_lock held(mutex);
        return current;
    }
    /// Sets the snapshot unless the current one is newer. The caller holds `loading`.
    void set_if_newer(SnapshotPtr next) {
        BUNRAKU_ASSERT(next);
        SnapshotPtr now = get();
        if (now && ForgeStore::published_number(now->name()) >=
                       ForgeStore::published_number(next->name())) {
            return;
        }
        set(std::move(next));
    }
    void set(SnapshotPtr next) {
        BUNRAKU_ASSERT(next);
        std::unique_lock held(mutex);
        std::swap(current, next);
    }
};

ForgeService::ForgeService(ServiceOptions options)
    : options_(std::move(options)),
      forge_store_(options_.root),
      downloads_(std::make_unique<DownloadCounts>(forge_store_, options_.downloads_pause)),
      pull_(std::make_unique<Pull>(*this)) {}

ForgeService::~ForgeService() {
    pull_->refresher.end();  // stop first, because its threads use `pull_`
    slots_.clear();
}

ForgeService::Slot& ForgeService::slot(std::string_view repository) {
    {
        std::shared_lock held(slots_mutex_);
        if (auto it = slots_.find(repository); it != slots_.end()) return *it->second;
    }
    std::unique_lock held(slots_mutex_);
    auto& made = slots_[std::string(repository)];
    if (!made) made = std::make_unique<Slot>();
    return *made;
}

SnapshotPtr ForgeService::snapshot(std::string_view repository) {
    const std::string name = forge_store_.published(repository);
    if (name.empty()) return nullptr;  // do not create a slot for a name that does not exist
    Slot& s = slot(repository);
    SnapshotPtr current = s.get();
    if (current && current->name() == name) return current;
    std::unique_lock held(s.loading);
    current = s.get();
    if (current && current->name() == name) return current;
    if (s.failed == name) return current;
    struct stat status{};
    const bool large =
        ::stat((forge_store_.snapshot_path(name) + "/.records").c_str(), &status) == 0 &&
        static_cast<std::uint64_t>(status.st_size) > kLarge;
    if (current && large) {
        if (!s.busy) {
            if (s.background_loader.joinable()) s.background_loader.join();
            s.busy = true;
            s.background_loader = std::thread([this, &s, name] {
                auto loaded = Snapshot::load(forge_store_, name);
                std::unique_lock done(s.loading);
                BUNRAKU_ASSERT(s.busy);
                if (loaded) {
                    s.set_if_newer(*loaded);
                } else {
                    s.failed = name;
                }
                s.busy = false;
            });
        }
        return current;
    }
    // A concurrent publish may have removed this snapshot; then there is a newer one.
    std::string wanted = name;
    for (int round = 0; round < 5; ++round) {
        auto loaded = Snapshot::load(forge_store_, wanted);
        if (loaded) {
            s.set(*loaded);
            return *loaded;
        }
        const std::string next = forge_store_.published(repository);
        if (next.empty()) return nullptr;
        if (next == wanted) break;
        wanted = next;
    }
    s.failed = wanted;
    return current;
}

Selection ForgeService::repository(std::string_view id) {
    Selection out;
    out.repository = id;
    SnapshotPtr s = snapshot(id);
    if (!s) {
        out.unknown = true;
        return out;
    }
    out.version = mix(kSeed, s->name());
    out.modified = s->published_at();
    out.snapshots.push_back(std::move(s));
    const auto config = config_of(id);
    out.pulls.push_back(config && !config->upstreams.empty() ? 1 : 0);
    if (config && !config->own.empty()) out.reserving.push_back(*config);
    return out;
}

bool Selection::owns(const module::ModuleName& module) const {
    BUNRAKU_ASSERT(pulls.size() == snapshots.size());
    for (const RepositoryConfig& config : reserving) {
        if (config.reserves(module)) return true;
    }
    const std::string slug = module.slug();
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        const SnapshotModule* m = snapshots[i]->module(slug);
        if (m && (!pulls[i] || m->owned)) return true;
    }
    return false;
}

bool Selection::shows(std::size_t i, std::string_view slug) const {
    BUNRAKU_ASSERT(i < snapshots.size() && pulls.size() == snapshots.size());
    if (snapshots.size() < 2 || !pulls[i]) return true;
    const SnapshotModule* mine = snapshots[i]->module(slug);
    if (!mine || mine->owned) return true;
    for (std::size_t j = 0; j < snapshots.size(); ++j) {
        if (j == i) continue;
        const SnapshotModule* other = snapshots[j]->module(slug);
        if (!other) continue;
        if (!pulls[j] || other->owned || (j < i && other->live)) return false;
    }
    const auto name = module::parse_module_name(slug);
    return !name || std::none_of(reserving.begin(), reserving.end(),
                                 [&](const RepositoryConfig& c) { return c.reserves(*name); });
}

std::shared_ptr<const std::vector<Binding>> ForgeService::bindings(std::uint64_t* version,
                                                                   std::int64_t* modified) {
    std::int64_t seconds = 0;
    const std::string stamp = stamp_of(forge_store_.access().consumers_file(), &seconds);
    std::unique_lock held(bindings_mutex_);
    if (!bindings_ || stamp != bindings_stamp_) {
        bindings_ = std::make_shared<const std::vector<Binding>>(forge_store_.access().bindings());
        bindings_stamp_ = stamp;
        bindings_version_ = mix(kSeed, stamp);
        bindings_modified_ = seconds;
    }
    *version = bindings_version_;
    *modified = bindings_modified_;
    return bindings_;
}

Selection ForgeService::consumer(std::string_view id) {
    Selection out;
    auto all = bindings(&out.version, &out.modified);
    for (const Binding& b : *all) {
        if (b.consumer != id) continue;
        SnapshotPtr s = snapshot(b.repository);
        if (!s) continue;
        out.version = mix(out.version, s->name());
        out.modified = std::max(out.modified, s->published_at());
        out.snapshots.push_back(std::move(s));
        const auto config = config_of(b.repository);
        out.pulls.push_back(config && !config->upstreams.empty() ? 1 : 0);
        if (config && !config->own.empty()) out.reserving.push_back(*config);
    }
    return out;
}

ForgeService::Access ForgeService::may_write(std::string_view token, std::string_view repository) {
    if (token.empty()) return Access::NoToken;
    if (!options_.token.empty() && same_text(token, options_.token)) return Access::Granted;
    const std::string digest = codec::hex_digest(codec::DigestKind::Sha256, token);
    const std::int64_t now = std::time(nullptr);
    for (const Token& t : *tokens()) {
        if (t.reads_only || t.over(now) || !same_text(t.sha256, digest)) continue;
        if (repository.empty() || t.allows(repository)) return Access::Granted;
    }
    return Access::WrongToken;
}

std::shared_ptr<const std::vector<Token>> ForgeService::tokens() {
    const std::string stamp = stamp_of(forge_store_.access().tokens_file());
    std::unique_lock held(people_mutex_);
    if (!tokens_ || stamp != tokens_stamp_) {
        tokens_ = std::make_shared<const std::vector<Token>>(forge_store_.access().tokens());
        tokens_stamp_ = stamp;
    }
    return tokens_;
}

std::shared_ptr<const std::vector<User>> ForgeService::users() {
    const std::string stamp = stamp_of(forge_store_.access().users_file());
    std::unique_lock held(people_mutex_);
    if (!users_ || stamp != users_stamp_) {
        users_ = std::make_shared<const std::vector<User>>(forge_store_.access().users());
        users_stamp_ = stamp;
    }
    return users_;
}

Requester ForgeService::requester_of(const http::Request& request) {
    Requester out;
    out.certificate = request.peer.name();
    const std::int64_t now = std::time(nullptr);
    const auto by_token = [&](std::string_view text) {
        if (text.empty()) return;
        if (!options_.token.empty() && same_text(text, options_.token)) out.everything = true;
        const std::string digest = codec::hex_digest(codec::DigestKind::Sha256, text);
        for (const Token& t : *tokens()) {
            if (t.over(now) || !same_text(t.sha256, digest)) continue;
            out.token = t.name;
            out.token_repositories = t.repositories;
        }
    };
    by_token(http::bearer_token(request));
    if (auto pair = http::basic_credentials(request)) {
        const std::string digest = codec::hex_digest(codec::DigestKind::Sha256, pair->second);
        for (const User& u : *users()) {
            if (u.name != pair->first || (u.until != 0 && u.until <= now)) continue;
            if (!same_text(u.sha256, digest)) continue;
            out.user = u.name;
            out.groups = u.groups;
        }
        // Some clients can send a token only as the password.
        if (out.user.empty()) by_token(pair->second);
    }
    return out;
}

bool ForgeService::closed(std::string_view repository) {
    const auto config = config_of(repository);
    return config && config->closed;
}

bool ForgeService::may_read(std::string_view repository, const Requester& requester) {
    const auto config = config_of(repository);
    if (!config || !config->closed) return true;
    return forge::may_read(config->readers, repository, requester, std::time(nullptr));
}

bool ForgeService::known_token(std::string_view token) {
    return may_write(token, {}) == Access::Granted;
}

Result<std::string> ForgeService::post(std::string_view repository, std::string_view bytes,
                                       std::string_view signature) {
    auto batch = BUNRAKU_TRY(forge_store_.begin(repository));
    const auto config = config_of(repository);
    // If the repository has upstreams or reserved names, a full publish must decide which releases
    // are visible.
    const bool alone = config && config->upstreams.empty() && config->own.empty();
    const auto state = alone ? forge_store_.clean_state(repository) : std::nullopt;
    std::string slug = BUNRAKU_TRY(batch->upload(bytes, {}, true, 0, signature));
    BUNRAKU_TRY_VOID(batch->finish());
    BUNRAKU_TRY_VOID(publish(repository, state, {slug}, std::move(batch)));
    return slug;
}

Result<void> ForgeService::publish(std::string_view repository,
                                   const std::optional<PublishedState>& before,
                                   const std::vector<std::string>& added,
                                   std::unique_ptr<ForgeStore::Batch> batch) {
    std::optional<Addition> addition;
    if (before) addition = BUNRAKU_TRY(forge_store_.publish_addition(repository, *before, added));
    BUNRAKU_ASSERT(!before || batch);
    batch.reset();
    if (!addition) BUNRAKU_TRY(forge_store_.publish(repository));
    // Load the new snapshot before returning, so that a client that gets the response also sees the
    // result.
    Slot& s = slot(repository);
    std::unique_lock held(s.loading);
    SnapshotPtr current = s.get();
    if (addition && current && current->name() == before->name) {
        BUNRAKU_ASSERT(current->repository() == repository);
        current =
            Snapshot::with(current, addition->name, forge_store_.snapshot_path(addition->name),
                           addition->second, addition->records);
        if (current) {
            s.set(std::move(current));
            return {};
        }
    }
    const std::string name = forge_store_.published(repository);
    auto loaded = Snapshot::load(forge_store_, name);
    if (loaded) s.set_if_newer(*loaded);
    return {};
}

Result<void> ForgeService::delete_release(std::string_view repository,
                                          const module::ReleaseName& release,
                                          const std::string& reason) {
    BUNRAKU_TRY_VOID(forge_store_.change_flags(repository, [&](Flags& flags) -> Result<void> {
        const std::string slug = release.slug();
        bool there = false;
        for (const Unit& unit : forge_store_.units(repository)) there |= unit.name.slug() == slug;
        if (!there || flags.deletion(slug)) return failure("no such release", 404);
        flags.deleted.push_back({slug, stamp_now(), reason});
        return {};
    }));
    return publish(repository);
}

Result<void> ForgeService::delete_module(std::string_view repository,
                                         const module::ModuleName& module,
                                         const std::string& reason) {
    BUNRAKU_TRY_VOID(forge_store_.change_flags(repository, [&](Flags& flags) -> Result<void> {
        bool found = false;
        for (const Unit& unit : forge_store_.units(repository)) {
            const std::string slug = unit.name.slug();
            if (unit.name.module.slug() != module.slug() || flags.deletion(slug)) continue;
            flags.deleted.push_back({slug, stamp_now(), reason});
            found = true;
        }
        if (!found) return failure("no such module", 404);
        return {};
    }));
    return publish(repository);
}

Result<void> ForgeService::deprecate(std::string_view repository, const module::ModuleName& module,
                                     const std::string& reason, const std::string& replacement) {
    BUNRAKU_TRY_VOID(forge_store_.change_flags(repository, [&](Flags& flags) -> Result<void> {
        bool found = false;
        for (const Unit& unit : forge_store_.units(repository)) {
            found |= unit.name.module.slug() == module.slug() && !flags.deletion(unit.name.slug());
        }
        if (!found) return failure("no such module", 404);
        std::erase_if(flags.deprecated,
                      [&](const Flags::Deprecation& d) { return d.module == module.slug(); });
        flags.deprecated.push_back({module.slug(), stamp_now(), reason, replacement});
        return {};
    }));
    return publish(repository);
}

bool ForgeService::pulls(std::string_view repository) {
    const auto config = config_of(repository);
    return config && !config->upstreams.empty();
}

std::shared_ptr<const RepositoryConfig> ForgeService::config_of(std::string_view repository) {
    if (!module::valid_identifier(repository)) return nullptr;
    if (forge_store_.published(repository).empty()) return nullptr;
    Slot& s = slot(repository);
    // The stamp costs one stat() call. It also detects a change of the upstreams immediately.
    const std::string stamp = stamp_of(forge_store_.config_file(repository));
    std::unique_lock held(s.config_mutex);
    if (!s.config || s.config_stamp != stamp) {
        s.config = std::make_shared<const RepositoryConfig>(
            stamp == "none" ? RepositoryConfig{} : forge_store_.config(repository));
        s.config_stamp = stamp;
    }
    return s.config;
}

/// Returns the key of a cached upstream result. The key includes the stamp of the configuration,
/// because keys and upstreams may change at any time. After a change the upstreams are asked again.
std::string ForgeService::memory_key(std::string_view repository, std::string_view what) const {
    return fmt::format("{} {} {}", repository, stamp_of(forge_store_.config_file(repository)),
                       what);
}

std::vector<std::string> ForgeService::bound_to(std::string_view consumer) {
    std::uint64_t version = 0;
    std::int64_t modified = 0;
    std::vector<std::string> out;
    auto all = bindings(&version, &modified);
    for (const Binding& b : *all) {
        if (b.consumer == consumer) out.push_back(b.repository);
    }
    return out;
}

}  // namespace bunraku::forge
