// SPDX-License-Identifier: Apache-2.0
#include "services/server/catalog_cache.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "compile/compiler/change.h"
#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "core/sys/change_times.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "net/http/message.h"

namespace bunraku::server {

using environment::Read;
using environment::ReadTable;
using environment::Trace;
using Item = ReadTable::Item;

namespace {

/// One response in this many is verified by a compile.
constexpr std::uint64_t kSample = 100;
/// Maximum age. After that the catalog is compiled again, so that the store receives it.
constexpr std::int64_t kAge = std::int64_t{86'400} * 1'000'000'000;
/// Limit of additional files per entry. Checking more files in each request would make the cache
/// too slow.
constexpr std::size_t kMaxSeen = 4096;
constexpr std::size_t kMaxEntries = 50'000;
/// Versions of an environment whose state is remembered.
constexpr std::size_t kMostVersions = 3;
constexpr std::string_view kDistrusted =
    "a cached catalog of this environment differed from a compiled one: see the log";

/// Reports whether each request must answer the read itself: only the request has the answer, or
/// asking is faster than watching files.
bool is_own(Read kind) {
    switch (kind) {
        case Read::Fact:
        case Read::Trusted:
        case Read::ServerFact:
        case Read::Parameter:
        case Read::Setting:
        case Read::Variable:
        case Read::Query:
        case Read::Export:
        case Read::Glob: return true;
        default: return false;
    }
}

bool is_watched(Read kind) {
    return kind == Read::File || kind == Read::Exists || kind == Read::Folder || kind == Read::Data;
}

std::uint64_t number_of(const std::string& answer) {
    const auto digest = codec::short_digest(answer, 16);
    std::uint64_t out = 0;
    std::from_chars(digest.data(), digest.data() + digest.size(), out, 16);
    return out;
}

/// Mixes a read and its answer into 64 bits, so that sums of these values identify sets.
std::uint64_t mixed(std::uint64_t read, std::uint64_t answer) {
    std::uint64_t x = (read + 1) * 0x9E3779B97F4A7C15ULL ^ answer;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
    return x ^ x >> 31;
}

/// Returns a number for a read that is the same in every process.
std::uint64_t number_of(const Item& item) {
    return number_of(
        fmt::format("{} {}\n{}", environment::read_name(item.kind), item.name, item.detail));
}

std::uint64_t answers_of_node(const compiler::InputsSnapshot& world, const std::vector<Item>& own) {
    std::uint64_t out = 0;
    for (const auto& item : own)
        out += mixed(number_of(item), number_of(compiler::answer_to(world, item)));
    return out;
}

/// Returns a digest of the JSON without the parts that differ in every compile: version and
/// catalog_uuid.
std::string digest_without_stamps(std::string_view json) {
    codec::Digest digest(codec::DigestKind::Sha256);
    for (const std::string_view name : {"\"version\":", "\"catalog_uuid\":"}) {
        const auto at = json.find(name);
        if (at == std::string_view::npos) continue;
        const auto end = json.find_first_of(",}", at);
        digest.update(json.substr(0, at));
        json = json.substr(end == std::string_view::npos ? json.size() : end);
    }
    digest.update(json);
    return digest.hex();
}

}  // namespace

CatalogCache::CatalogCache(std::string folder, base::LogSink& log, std::string program,
                           std::shared_ptr<store::Secrets> secrets, ContentMark mark)
    : folder_(std::move(folder)),
      log_(log),
      secrets_(std::move(secrets)),
      mark_(std::move(mark)),
      traces_(folder_, std::move(program), secrets_) {}

std::size_t CatalogCache::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

void CatalogCache::clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    environments_.clear();
    traces_.drop_all();
}

std::shared_ptr<CatalogCache::EnvironmentState> CatalogCache::state_of(
    const site::Session& session) {
    const auto& opened = *session.environment();
    // All versions of an environment have the same path but different folders.
    auto folder = opened.files().place(opened.directory());
    const std::lock_guard lock(mutex_);
    auto& environment = environments_[opened.name()];
    auto& slot = environment.states[std::move(folder)];
    if (!slot) {
        slot = std::make_shared<EnvironmentState>();
        slot->revision = next_revision();
        slot->number = ++states_;
        slot->distrusted = environment.distrusted;
    }
    slot->last_used = ++uses_;
    auto out = slot;
    if (environment.states.size() > kMostVersions) {
        environment.states.erase(std::ranges::min_element(
            environment.states, {}, [](const auto& state) { return state.second->last_used; }));
    }
    return out;
}

void CatalogCache::forget(const std::string& key) {
    traces_.drop(key);
    const std::lock_guard lock(mutex_);
    entries_.erase(key);
}

std::shared_ptr<CatalogCache::Entry> CatalogCache::recall(const std::string& key,
                                                          site::Session& session) {
    auto stored = traces_.load(key, session.environment()->reads());
    if (!stored) return nullptr;
    auto entry = std::make_shared<Entry>();
    entry->table = session.environment()->reads();
    entry->trace = std::move(stored->trace);
    sort_reads(*entry);
    entry->seen = std::move(stored->seen);
    entry->world = stored->world;
    entry->of_node = stored->of_node;
    entry->fingerprint = std::move(stored->fingerprint);
    entry->version = std::move(stored->version);
    entry->since_ns = stored->since_ns;
    entry->text_digest = std::move(stored->text_digest);
    entry->catalog = {
        .etag = std::move(stored->etag),
        .digest = std::move(stored->digest),
        .facts = std::make_shared<const std::vector<std::string>>(std::move(stored->facts))};
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kMaxEntries) return nullptr;
    return entries_.try_emplace(key, std::move(entry)).first->second;
}

void CatalogCache::remember(const std::string& key, const Entry& entry) {
    traces_.save(key, {.etag = entry.catalog.etag,
                       .digest = entry.catalog.digest,
                       .fingerprint = entry.fingerprint,
                       .version = entry.version,
                       .text_digest = entry.text_digest,
                       .since_ns = entry.since_ns,
                       .world = entry.world,
                       .of_node = entry.of_node,
                       .facts = *entry.catalog.facts,
                       .seen = entry.seen,
                       .trace = entry.trace});
}

void CatalogCache::sort_reads(Entry& entry) {
    BUNRAKU_ASSERT(entry.trace && entry.table == entry.trace->table());
    BUNRAKU_ASSERT(entry.own.empty() && !entry.paths);
    Paths paths{.table = entry.table, .list = {}};
    for (const auto& [item, answer] : entry.trace->items()) {
        if (item.kind == Read::Fact) continue;
        if (is_own(item.kind)) {
            entry.own.push_back(item);
        } else if (is_watched(item.kind)) {
            paths.list.push_back(item.name);
        }
    }
    std::ranges::sort(paths.list);
    const auto rest = std::ranges::unique(paths.list);
    paths.list.erase(rest.begin(), rest.end());
    paths.list.shrink_to_fit();
    BUNRAKU_ASSERT(std::ranges::is_sorted(paths.list));
    entry.paths = one_of(std::move(paths));
}

std::shared_ptr<const CatalogCache::Paths> CatalogCache::one_of(Paths paths) {
    constexpr std::size_t kMany = 1000;
    std::size_t sum = paths.list.size();
    for (const auto path : paths.list)
        sum = sum * 0x9e3779b97f4a7c15U + std::hash<std::string_view>{}(path);
    const std::lock_guard lock(mutex_);
    if (paths_.size() > kMany)
        std::erase_if(paths_, [](const auto& e) { return e.second.expired(); });
    auto& slot = paths_[sum];
    if (auto known = slot.lock(); known && known->list == paths.list) return known;
    auto out = std::make_shared<const Paths>(std::move(paths));
    slot = out;
    return out;
}

std::string CatalogCache::file_of(const std::string& key) const {
    return fmt::format("{}/{}.json.gz", folder_, codec::short_digest(key));
}

// Checks the files of an entry. A check by another request is reused if it was made after `asked`.
void CatalogCache::check_paths(EnvironmentState& state, Entry& entry,
                               const environment::Files& files,
                               std::chrono::steady_clock::time_point asked) {
    const auto moment = moment_of(state, files);
    if (moment != 0 && entry.looked_at == moment) return;
    std::string path;  // reused, because there are thousands of paths
    for (const auto name : entry.paths->list) {
        path = name;
        auto [it, fresh] = state.paths.try_emplace(path);
        auto& watched = it->second;
        if (!fresh && watched.checked >= asked) continue;
        const auto now = std::chrono::steady_clock::now();
        const auto stamp = files.stat(path);
        if (fresh || !watched.stamp.same(stamp)) {
            if (!fresh) {
                constexpr std::size_t kFew = 16;
                if (state.changed.size() >= kFew) state.changed.erase(state.changed.begin());
                state.changed.push_back(path);
                BUNRAKU_ASSERT(state.changed.size() <= kFew);
                state.revision = next_revision();
                state.answers.clear();
            }
            watched.stamp = stamp;
        }
        watched.checked = now;
    }
    entry.looked_at = moment;
}

std::vector<std::string> CatalogCache::unseen_reads(site::Session& session, const Trace& trace) {
    std::vector<std::string> out;
    for (const auto& item : compiler::Change::unseen(trace))
        if (!session.can_ask(item)) out.push_back(read_text(item));
    return out;
}

std::uint64_t CatalogCache::inputs_of(EnvironmentState& state,
                                      const compiler::InputsSnapshot& world, const Trace& trace) {
    const auto& table = *trace.table();
    std::uint64_t out = 0;
    const auto with_answer = [&](const Item& read, const Item& asked) {
        return mixed(number_of(read), number_of(compiler::answer_to(world, asked)));
    };
    const auto add = [&](std::uint64_t id, auto&& item_of) {
        const auto [it, fresh] = state.answers.try_emplace(id, 0);
        if (fresh) it->second = item_of();
        out += it->second;
    };
    trace.ids().for_each([&](environment::ReadId id) {
        const auto item = table.item(id);
        if (is_own(item.kind)) return;
        add(id, [&] {
            // A comment may move the line numbers in a catalog without changing any definition.
            if (item.kind != Read::Definition && item.kind != Read::Names)
                return with_answer(item, item);
            // From now on the environment detects changes of this file.
            (void)world.environment->parse_manifest(std::string(item.name));
            return with_answer(item, Item{Read::File, item.name, {}});
        });
    });
    for (const auto& [file, keys] : trace.data()) {
        keys.for_each([&, file_id = file](environment::ReadId key) {
            add((std::uint64_t{file_id} + 1) << 32 | key, [&] {
                const Item item{Read::Data, table.item(file_id).name, table.item(key).detail};
                return with_answer(item, item);
            });
        });
    }
    return out;
}

/// Reports whether a path is unchanged, and updates its stamp if its content is.
bool CatalogCache::same(SeenPath& seen, const environment::Files& files) const {
    const auto stamp = files.stat(seen.path);
    if (seen.stamp.same(stamp)) return true;
    if (!mark_ || seen.content.empty() || mark_(files.place(seen.path)) != seen.content)
        return false;
    seen.stamp = stamp;
    return true;
}

bool CatalogCache::own_reads_unchanged(const EnvironmentState& state, const Entry& entry,
                                       const compiler::InputsSnapshot& world,
                                       site::Session& session) const {
    const auto& files = session.environment()->files();
    if (answers_of_node(world, entry.own) != entry.of_node ||
        session.config_version() != entry.version)
        return false;
    const auto moment = moment_of(state, files);
    if (moment != 0 && entry.seen_at == moment) return true;
    const std::lock_guard lock(entry.seen_mutex);
    if (!std::ranges::all_of(entry.seen, [&](auto& seen) { return same(seen, files); }))
        return false;
    entry.seen_at = moment;
    return true;
}

std::optional<CatalogCache::CachedCatalog> CatalogCache::find(const Key& key,
                                                              site::Session& session,
                                                              const std::string* fingerprint) {
    const auto text = key.text();
    std::shared_ptr<Entry> entry;
    {
        const std::lock_guard lock(mutex_);
        const auto it = entries_.find(text);
        if (it != entries_.end()) entry = it->second;
    }
    if (!entry) entry = recall(text, session);
    if (!entry) {
        // If the request contains only a fingerprint, the agent will send a second request with
        // facts.
        if (!fingerprint) reasons_.compiled(key.node, key.environment, "");
        return std::nullopt;
    }
    const auto state = state_of(session);
    auto world = session.world();
    world.answer = [&](const Item& item) { return session.stored_answer(item); };
    const auto asked = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(state->mutex);
        if (*state->distrusted) {
            reasons_.compiled(key.node, key.environment, std::string(kDistrusted));
            return std::nullopt;
        }
        if (state->environment != session.environment()) {
            state->environment = session.environment();
            state->revision = next_revision();
            state->answers.clear();
        }
        check_paths(*state, *entry, session.environment()->files(), asked);
        if (entry->revision != state->revision) {
            // Ids of another table have other meanings.
            if (entry->table != session.environment()->reads() ||
                inputs_of(*state, world, *entry->trace) != entry->world) {
                std::vector<std::string> paths;
                for (const auto& path : state->changed)
                    if (std::ranges::binary_search(entry->paths->list, path))
                        paths.push_back("file " + path);
                reasons_.compiled(key.node, key.environment, "code or data that it reads changed",
                                  std::move(paths));
                forget(text);
                return std::nullopt;
            }
            entry->revision = state->revision;
        }
    }
    const auto print = fingerprint
                           ? *fingerprint
                           : compiler::facts_fingerprint(world.facts, *entry->catalog.facts);
    if (print != entry->fingerprint) {
        // The agent computed its fingerprint for an older catalog. The reason is recorded when it
        // sends its facts.
        if (!fingerprint) {
            explain_facts(key, *entry, world);
            forget(text);
        }
        return std::nullopt;
    }
    if (!own_reads_unchanged(*state, *entry, world, session)) {
        if (!fingerprint) explain_own(key, *entry, world, session);
        forget(text);
        return std::nullopt;
    }
    if (sys::make_real_clock()->now_ns() - entry->since_ns > kAge) {
        reasons_.compiled(key.node, key.environment, "the cached catalog is older than a day");
        forget(text);
        return std::nullopt;
    }
    auto out = entry->catalog;
    if (++asked_ % kSample == 0) {
        entry->compare = true;
        out.to_compare = true;
    }
    ++answered_;
    reasons_.served(key.node, key.environment);
    return out;
}

void CatalogCache::explain_facts(const Key& key, const Entry& entry,
                                 const compiler::InputsSnapshot& world) {
    std::vector<std::string> changed;
    const auto& paths = *entry.catalog.facts;
    BUNRAKU_ASSERT(entry.fact_answers.empty() || entry.fact_answers.size() == paths.size());
    for (std::size_t i = 0; i < entry.fact_answers.size() && i < paths.size(); ++i) {
        const Item read{Read::Fact, paths[i], {}};
        if (number_of(compiler::answer_to(world, read)) != entry.fact_answers[i])
            changed.push_back(read_text(read));
    }
    reasons_.compiled(key.node, key.environment, "facts that it reads changed", std::move(changed));
}

void CatalogCache::explain_own(const Key& key, const Entry& entry,
                               const compiler::InputsSnapshot& world, site::Session& session) {
    std::vector<std::string> changed;
    BUNRAKU_ASSERT(entry.own_answers.empty() || entry.own_answers.size() == entry.own.size());
    for (std::size_t i = 0; i < entry.own_answers.size() && i < entry.own.size(); ++i)
        if (number_of(compiler::answer_to(world, entry.own[i])) != entry.own_answers[i])
            changed.push_back(read_text(entry.own[i]));
    if (session.config_version() != entry.version) changed.emplace_back("config_version");
    const auto& files = session.environment()->files();
    {
        const std::lock_guard lock(entry.seen_mutex);
        for (auto& seen : entry.seen)
            if (!same(seen, files)) changed.push_back("file " + seen.path);
    }
    reasons_.compiled(key.node, key.environment, "inputs that each request reads changed",
                      std::move(changed));
}

std::optional<CatalogCache::CachedCatalog> CatalogCache::not_cached(
    const Key& key, std::string reason, std::vector<std::string> details) {
    reasons_.not_cached(key.node, std::move(reason), std::move(details));
    return std::nullopt;
}

bool CatalogCache::nothing_changed(EnvironmentState& state, Entry& entry, site::Session& session) {
    const auto& files = session.environment()->files();
    {
        const std::lock_guard lock(state.mutex);
        check_paths(state, entry, files, std::chrono::steady_clock::now());
        if (entry.revision != state.revision) return false;
    }
    auto world = session.world();
    world.answer = [&](const Item& item) { return session.stored_answer(item); };
    return session.environment()->unchanged() && own_reads_unchanged(state, entry, world, session);
}

void CatalogCache::distrust(const Key& key, EnvironmentState& state) {
    log_.log(base::Level::Err,
             fmt::format("The catalog of {} in environment {} changed although nothing "
                         "that it reads has changed: catalogs of this environment are "
                         "compiled each time from now on. Please report this.",
                         key.node, key.environment));
    *state.distrusted = true;
    // The traces must not be used after a restart either.
    traces_.drop_all();
}

void CatalogCache::compare(const Key& key, site::Session& session, const std::string& json) {
    std::shared_ptr<Entry> entry;
    {
        const std::lock_guard lock(mutex_);
        const auto it = entries_.find(key.text());
        if (it != entries_.end()) entry = it->second;
    }
    // Another thread has replaced or removed the entry meanwhile.
    if (!entry || !entry->compare.exchange(false)) return;
    const auto state = state_of(session);
    if (entry->text_digest != digest_without_stamps(json) &&
        nothing_changed(*state, *entry, session))
        distrust(key, *state);
}

std::optional<std::string> CatalogCache::packed(const Key& key,
                                                const CachedCatalog& catalog) const {
    auto packed = sys::disk().read(file_of(key.text()));
    if (!packed || codec::short_digest(*packed) != catalog.digest) return std::nullopt;
    if (!secrets_) return std::move(*packed);
    auto opened = secrets_->open(std::move(*packed), kCatalogSealContext);
    if (!opened) return std::nullopt;
    return std::move(*opened);
}

std::optional<CatalogCache::CachedCatalog> CatalogCache::keep(
    const Key& key, site::Session& session, const site::Compiled& compiled, const std::string& json,
    std::vector<SeenPath> seen, std::int64_t began_ns) {
    const auto text = key.text();
    const auto& trace = compiled.trace;
    const auto state = state_of(session);
    auto entry = std::make_shared<Entry>();
    entry->text_digest = digest_without_stamps(json);
    std::shared_ptr<Entry> before;
    bool room = false;
    {
        const std::lock_guard lock(mutex_);
        if (const auto it = entries_.find(text); it != entries_.end()) {
            before = std::move(it->second);
            entries_.erase(it);
        }
        room = entries_.size() < kMaxEntries;
    }
    if (before && before->compare && before->text_digest != entry->text_digest &&
        nothing_changed(*state, *before, session)) {
        distrust(key, *state);
    }
    if (!room) return not_cached(key, fmt::format("{} catalogs are cached already", kMaxEntries));
    traces_.drop(text);
    if (!trace) return std::nullopt;
    if (auto unseen = unseen_reads(session, *trace); !unseen.empty())
        return not_cached(key, "it has reads that cannot be checked again", std::move(unseen));
    // The answers of the store at compile time.
    std::map<std::uint64_t, std::string> store_answers;
    auto facts = std::make_shared<std::vector<std::string>>();
    for (const auto& [item, answer] : trace->items()) {
        if (item.kind == Read::Fact) {
            facts->emplace_back(item.name);
        } else if (!answer.empty()) {
            store_answers.emplace(number_of(item), answer);
        }
    }
    entry->table = trace->table();
    entry->trace = trace;
    sort_reads(*entry);
    if (seen.size() > kMaxSeen) {
        return not_cached(
            key, fmt::format("it has contents of {} files, more than {}", seen.size(), kMaxSeen));
    }
    entry->seen = std::move(seen);
    if (!session.environment()->config_version().empty())
        entry->version = compiled.catalog->version;
    auto world = session.world();
    world.answer = [&](const Item& item) -> std::optional<std::string> {
        const auto it = store_answers.find(number_of(item));
        return it == store_answers.end() ? std::string() : it->second;
    };
    std::sort(facts->begin(), facts->end());
    entry->fingerprint = compiler::facts_fingerprint(world.facts, *facts);
    entry->since_ns = began_ns;
    entry->of_node = answers_of_node(world, entry->own);
    for (const auto& path : *facts)
        entry->fact_answers.push_back(
            number_of(compiler::answer_to(world, Item{Read::Fact, path, {}})));
    for (const auto& item : entry->own)
        entry->own_answers.push_back(number_of(compiler::answer_to(world, item)));
    {
        const std::lock_guard lock(state->mutex);
        if (*state->distrusted) return not_cached(key, std::string(kDistrusted));
        if (state->environment != session.environment()) {
            state->environment = session.environment();
            state->revision = next_revision();
            state->answers.clear();
        }
        check_paths(*state, *entry, session.environment()->files(),
                    std::chrono::steady_clock::now());
        entry->world = inputs_of(*state, world, *trace);
        entry->revision = state->revision;
    }
    BUNRAKU_ASSERT(entry->fact_answers.size() == facts->size());
    BUNRAKU_ASSERT(entry->own_answers.size() == entry->own.size());
    constexpr std::string_view kChanged = "files changed while it was compiled";
    if (!session.environment()->unchanged()) return not_cached(key, std::string(kChanged));
    // A file that changed during the compile may have been read before the change. Only its ctime
    // reveals this, because programs cannot set it. This check is last: a later change gives a file
    // a different stamp than the one recorded above.
    const auto& files = session.environment()->files();
    const auto changed = [&](std::string_view path) {
        const auto status = sys::disk().stat(files.place(std::string(path)));
        return status && status->ctime_ns > began_ns - sys::kTimesTick;
    };
    if (std::ranges::any_of(entry->paths->list, changed) ||
        std::ranges::any_of(entry->seen, changed, &SeenPath::path))
        return not_cached(key, std::string(kChanged));
    auto packed = http::gzip(json);
    if (secrets_) {
        auto sealed = secrets_->seal(packed, kCatalogSealContext);
        if (!sealed) {
            log_.log(base::Level::Warning, fmt::format("Could not cache the catalog of {}: {}",
                                                       key.node, sealed.error().message));
            return std::nullopt;
        }
        packed = std::move(*sealed);
    }
    entry->catalog = {.etag = codec::short_digest(json),
                      .digest = codec::short_digest(packed),
                      .facts = std::move(facts)};
    auto saved = sys::disk().make_directories(folder_, 0700);
    if (saved) saved = sys::disk().replace(file_of(text), packed, {.mode = 0600});
    if (!saved) {
        log_.log(base::Level::Warning, fmt::format("Could not cache the catalog of {}: {}",
                                                   key.node, saved.error().message));
        return std::nullopt;
    }
    BUNRAKU_ASSERT(!entry->catalog.etag.empty() && !entry->catalog.digest.empty() &&
                   entry->catalog.facts);
    remember(text, *entry);
    const auto out = entry->catalog;
    const std::lock_guard lock(mutex_);
    entries_[text] = std::move(entry);
    return out;
}

}  // namespace bunraku::server
