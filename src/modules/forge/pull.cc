// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/pull.h"

#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "core/base/civil_time.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/sys/signals.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;
using std::chrono::milliseconds;
using std::chrono::seconds;
using value::Value;

/// Maximum number of modules that a response with all dependencies may fetch.
constexpr std::size_t kMaxModules = 300;
constexpr std::size_t kMaxRemembered = 100000;
/// Per upstream: maximum number of concurrent requests, and of threads that wait for a result or
/// for a turn.
constexpr int kAtOnce = 4, kMostWaiting = 8;
/// How long negative results, failures, and the error "too many dependencies" are cached.
constexpr seconds kNegative{60}, kFailed{15}, kTooMany{600};
/// How long requests to an upstream pause after a timeout. Each further timeout doubles the pause,
/// up to the longest pause.
constexpr seconds kFirstPause{5}, kLongestPause{60};
/// Limits on the total time for a listing or a file, so that a slow transfer ends.
constexpr seconds kWholeListing{30}, kWholeFile{300};

/// Error code: the upstream does not have the module.
constexpr int kNothing = -404;
constexpr const char* kUpstreamPaused = "the upstream does not answer";
constexpr const char* kTooManyWaiting = "too many requests to the upstream are in progress";
/// Reports whether no request was sent, because the upstream is paused or too many threads are
/// waiting.
bool rejected_locally(const base::Error& error) {
    return error.code == static_cast<int>(PullFailure::Busy) &&
           (error.message == kUpstreamPaused || error.message == kTooManyWaiting);
}

/// Returns the options for requests to an upstream. Shortens the timeout if the upstream is
/// `doubtful`; `whole` limits the total time.
module::FeedOptions access_of(const ServiceOptions& options, std::string* upstream,
                              const std::string& ca_file, bool doubtful, seconds whole,
                              const Refresher& refresher) {
    module::FeedOptions out;
    out.client.ca_file = ca_file.empty() ? options.ca_file : ca_file;
    out.client.trust_store = options.trust_store;
    out.client.proxies = options.proxies;
    out.client.timeout = doubtful ? options.upstream_timeouts / 4 : options.upstream_timeouts;
    out.client.connect_timeout = out.client.timeout;
    out.client.stopped = [end = std::chrono::steady_clock::now() + whole, &refresher] {
        return sys::stop_signal() != 0 || refresher.ending() ||
               std::chrono::steady_clock::now() > end;
    };
    *upstream = module::take_credentials(*upstream, out.client);
    out.home = *upstream;
    return out;
}

/// Converts the failure of an upstream to the error for the client. The message does not contain
/// the upstream's address, because the address is confidential.
base::Error client_error(const base::Error& error) {
    switch (error.code) {
        case 0:
        case ECANCELED: return {"the upstream does not answer", 504};
        case 429:
        case 503: return {"the upstream is overloaded", 503};
        case 404: return {"the upstream does not have it", 404};
        default: return {"the upstream's response is not usable", 502};
    }
}

std::string base_url(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

/// Returns the key shared by all upstreams on one host.
std::string host_of(const std::string& upstream) {
    return upstream.substr(0, upstream.find('/', upstream.find("://") + 3));
}

std::string fragment_at(const Value& item, std::string_view key, const char* missing) {
    const Value* v = item.as_hash().find(key);
    return v ? value::to_json(*v) : missing;
}

/// Converts an upstream's description of a release to a record.
Result<RemoteRelease> describe(const Value& item) {
    if (!item.is_hash()) return failure("no release");
    const Value* metadata = item.as_hash().find("metadata");
    if (!metadata || !metadata->is_hash()) return failure("a release without metadata");
    RemoteRelease out;
    out.metadata = BUNRAKU_TRY(module::parse_metadata(value::to_json(*metadata)));
    out.md5 = base::lower(module::text_at(item, "file_md5"));
    out.sha256 = base::lower(module::text_at(item, "file_sha256"));
    const auto hex = [](const std::string& s, std::size_t n) {
        return s.empty() ||
               (s.size() == n && s.find_first_not_of("0123456789abcdef") == std::string::npos);
    };
    if ((out.md5.empty() && out.sha256.empty()) || !hex(out.md5, 32) || !hex(out.sha256, 64)) {
        return failure("a release without a checksum");
    }
    if (const Value* size = item.as_hash().find("file_size");
        size && size->is_integer() && size->as_integer() > 0) {
        out.size = static_cast<std::uint64_t>(size->as_integer());
    }
    const auto created = base::parse_iso_time(module::text_at(item, "created_at"),
                                              base::kZoneOptional | base::kBlankBeforeZone);
    out.created = created ? created->seconds() : static_cast<std::int64_t>(std::time(nullptr));
    const auto set = [&](Fragment f, std::string text) {
        out.fragments[static_cast<std::size_t>(f)] = std::move(text);
    };
    set(Fragment::Metadata, out.metadata.json);
    set(Fragment::Tasks, fragment_at(item, "tasks", "[]"));
    set(Fragment::Plans, fragment_at(item, "plans", "[]"));
    set(Fragment::PlanDetails, "[]");
    set(Fragment::Readme, fragment_at(item, "readme", "null"));
    set(Fragment::Changelog, fragment_at(item, "changelog", "null"));
    set(Fragment::License, fragment_at(item, "license", "null"));
    set(Fragment::Reference, fragment_at(item, "reference", "null"));
    const Value* tasks = item.as_hash().find("tasks");
    const Value* plans = item.as_hash().find("plans");
    out.has_tasks = tasks && tasks->is_array() && !tasks->as_array().empty();
    out.has_plans = plans && plans->is_array() && !plans->as_array().empty();
    return out;
}

}  // namespace

Result<void> Upstreams::ask(const std::string& upstream, const std::string& key, bool patient,
                            const Work& work) {
    const base::Error silent{kUpstreamPaused, static_cast<int>(PullFailure::Busy)};
    const base::Error busy{kTooManyWaiting, static_cast<int>(PullFailure::Busy)};
    std::unique_lock held(mutex_);
    Upstream& u = upstreams_[upstream];
    const auto wait = [&](const std::function<bool()>& ready) {
        if (!patient || u.waiting >= kMostWaiting) return false;
        ++u.waiting;
        const bool came = changed_.wait_for(held, kWholeListing, ready);
        --u.waiting;
        return came;
    };
    for (;;) {
        if (Clock::now() < u.closed_until) return std::unexpected(silent);
        if (auto it = u.flights.find(key); it != u.flights.end()) {
            const std::shared_ptr<Flight> flight = it->second;
            if (!wait([&] { return flight->done; })) return std::unexpected(busy);
            return flight->result;
        }
        if (u.asking < (u.silences > 0 ? 1 : kAtOnce)) break;
        // After a timeout, only one request tests the upstream.
        if (u.silences > 0) return std::unexpected(silent);
        const bool turn =
            wait([&] { return u.asking < kAtOnce || u.silences > 0 || u.flights.contains(key); });
        if (!turn) return std::unexpected(busy);
    }
    auto flight = std::make_shared<Flight>();
    u.flights[key] = flight;
    ++u.asking;
    held.unlock();
    Result<void> result;
    try {
        result = work();
    } catch (const std::exception& e) {
        result = failure(e.what(), static_cast<int>(PullFailure::Bad));
    }
    held.lock();
    --u.asking;
    u.flights.erase(key);
    const int code = result ? 0 : result.error().code;
    if (code == static_cast<int>(PullFailure::Silent) ||
        code == static_cast<int>(PullFailure::Busy)) {
        const auto pause = std::min(kFirstPause * (1 << std::min(u.silences, 5)), kLongestPause);
        // Concurrent requests that time out together count as one timeout.
        if (Clock::now() >= u.closed_until) {
            ++u.silences;
            u.closed_until = Clock::now() + pause;
        }
    } else {
        u.silences = 0;
        u.closed_until = {};
    }
    flight->done = true;
    flight->result = result;
    changed_.notify_all();
    return result;
}

bool Upstreams::doubtful(const std::string& upstream) {
    std::unique_lock held(mutex_);
    return upstreams_[upstream].silences > 0;
}

void PullMemory::store_result(const std::string& key, Statement statement, milliseconds valid_for) {
    const auto now = Clock::now();
    std::unique_lock held(mutex_);
    if (entries_.size() >= kMaxRemembered) {
        std::erase_if(entries_, [&](const auto& e) { return e.second.until < now; });
        // Clients may request any number of invented names, so results for existing modules have
        // priority.
        if (entries_.size() >= kMaxRemembered) {
            std::erase_if(entries_, [](const auto& e) { return !e.second.statement.found; });
        }
        if (entries_.size() >= kMaxRemembered) entries_.clear();
    }
    entries_[key] = {std::move(statement), now + valid_for};
}

std::optional<PullMemory::Statement> PullMemory::cached_result(const std::string& key,
                                                               milliseconds margin) {
    std::unique_lock held(mutex_);
    auto it = entries_.find(key);
    if (it == entries_.end() || it->second.until <= Clock::now() + margin) return std::nullopt;
    return it->second.statement;
}

bool ForgeService::knows(std::string_view repository, const module::ModuleName& module) {
    SnapshotPtr s = snapshot(repository);
    return s && s->module(module.slug());
}

bool ForgeService::is_current(std::string_view repository, const module::ModuleName& module,
                              bool insist, milliseconds margin) {
    const bool known = knows(repository, module);
    if (known && !insist) return true;
    auto statement = pull_->memory.cached_result(memory_key(repository, module.slug()), margin);
    return statement && (!statement->found || known);
}

/// Adds the releases of a module that one upstream has to the repository and publishes it. Returns
/// false if the upstream does not have the module.
Result<bool> ForgeService::ask_upstream(std::string_view repository,
                                        const module::ModuleName& module,
                                        const std::string& upstream, const std::string& ca_file,
                                        bool patient) {
    const std::string shared = host_of(upstream);
    const std::string key = fmt::format("{} {} {}", repository, module.slug(), upstream);
    auto asked = pull_->upstreams.ask(shared, key, patient, [&]() -> Result<void> {
        std::string base = upstream;
        module::Fetcher fetcher(access_of(options_, &base, ca_file,
                                          pull_->upstreams.doubtful(shared), kWholeListing,
                                          pull_->refresher));
        std::vector<RemoteRelease> found;
        auto walked = module::walk_pages(
            fetcher, base, "/v3/releases?limit=100&module=" + module.slug(),
            [&](const Value& item) {
                auto release = describe(item);
                if (release && release->metadata.module.slug() == module.slug()) {
                    found.push_back(std::move(*release));
                }
                return found.size() < 5000;
            });
        if (!walked && walked.error().code != 404 && walked.error().code != 400) {
            return std::unexpected(client_error(walked.error()));
        }
        if (found.empty()) return failure("no such module", kNothing);
        std::vector<std::string> fresh;
        auto batch = BUNRAKU_TRY(forge_store_.begin(repository));
        const auto state = forge_store_.clean_state(repository);
        for (const RemoteRelease& r : found) {
            if (BUNRAKU_TRY(batch->store_remote(r))) fresh.push_back(r.metadata.slug());
        }
        BUNRAKU_TRY_VOID(batch->finish());
        if (fresh.empty() && knows(repository, module)) return {};
        return publish(repository, fresh.empty() ? std::nullopt : state, fresh, std::move(batch));
    });
    if (asked) return true;
    if (asked.error().code == kNothing) return false;
    return std::unexpected(asked.error());
}

/// Adds the releases of a module that the upstreams have to the repository and publishes it.
Result<void> ForgeService::pull_one(std::string_view repository, const module::ModuleName& module,
                                    Timeouts timeouts) {
    const std::string key = memory_key(repository, module.slug());
    if (auto statement = pull_->memory.cached_result(key, milliseconds(0))) {
        if (statement->error) return std::unexpected(*statement->error);
        if (!statement->found || knows(repository, module)) return {};
    }
    const auto config = config_of(repository);
    if (!config || config->upstreams.empty()) return {};
    // The name of a reserved module is never sent to an upstream, and no upstream may provide it.
    if (config->reserves(module)) return {};
    SnapshotPtr now = snapshot(repository);
    const SnapshotModule* known = now ? now->module(module.slug()) : nullptr;
    if (known && known->owned) return {};
    // A known module is answered immediately and refreshed in the background.
    if (known && timeouts == Timeouts::StaleWillDo) {
        pull_->refresher.want(std::string(repository), module);
        return {};
    }
    bool found = false;
    for (const std::string& url : config->upstreams) {
        auto got = ask_upstream(repository, module, base_url(url), config->ca_file,
                                timeouts != Timeouts::NobodyWaits);
        // An unavailable upstream might have the module, so the upstreams after it are not asked.
        if (!got) {
            // An error of the circuit breaker or of the waiting limit is not a result of the
            // upstream, so it is not cached.
            if (!rejected_locally(got.error())) {
                pull_->memory.store_result(key, {.found = false, .error = got.error()}, kFailed);
            }
            return std::unexpected(got.error());
        }
        if ((found = *got)) break;
    }
    const seconds good(options_.upstream_seconds);
    pull_->memory.store_result(key, {.found = found, .error = {}},
                               found ? good : std::min(good, kNegative));
    return {};
}

void Refresher::end() {
    {
        std::unique_lock held(mutex_);
        ending_ = true;
        queue_.clear();
    }
    wanted_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
}

void Refresher::want(const std::string& repository, const module::ModuleName& module) {
    constexpr std::size_t kMost = 1000, kThreads = 4;
    std::unique_lock held(mutex_);
    if (ending_ || queue_.size() >= kMost) return;
    if (!queued_.insert(repository + " " + module.slug()).second) return;
    queue_.emplace_back(repository, module);
    if (idle_ == 0 && threads_.size() < kThreads) threads_.emplace_back([this] { run(); });
    wanted_.notify_one();
}

void Refresher::run() {
    std::unique_lock held(mutex_);
    while (!ending_) {
        if (queue_.empty()) {
            ++idle_;
            wanted_.wait(held, [&] { return ending_ || !queue_.empty(); });
            --idle_;
            continue;
        }
        auto [repository, module] = std::move(queue_.front());
        queue_.pop_front();
        held.unlock();
        // No client waits for this result. pull_one() caches a failure.
        (void)service_.pull_one(repository, module, ForgeService::Timeouts::NobodyWaits);
        held.lock();
        queued_.erase(repository + " " + module.slug());
    }
}

Result<void> ForgeService::pull_module(std::string_view repository, const PullRequest& requested) {
    const module::ModuleName& module = requested.module;
    const auto ours = [&](const module::ModuleName& m) {
        return requested.ours && requested.ours(m);
    };
    // If the upstream does not answer, the known releases are used.
    if (!ours(module)) {
        auto done = pull_one(repository, module,
                             requested.insist ? Timeouts::FreshOnly : Timeouts::StaleWillDo);
        if (!done && (requested.insist || !knows(repository, module))) return done;
    }
    if (!requested.closure) return {};
    return pull_closure(repository, requested);
}

/// Fetches the dependencies of the module's newest release, recursively. Too many dependencies are
/// an error. It is cached for a while, because otherwise each request would fetch more of them.
Result<void> ForgeService::pull_closure(std::string_view repository, const PullRequest& requested) {
    const module::ModuleName& module = requested.module;
    const std::string key = memory_key(repository, module.slug() + " with all dependencies");
    const auto ours = [&](const module::ModuleName& m) {
        return requested.ours && requested.ours(m);
    };
    std::set<std::string> asked;
    for (bool more = true; more;) {
        more = false;
        SnapshotPtr s = snapshot(repository);
        const SnapshotModule* m = s ? s->module(module.slug()) : nullptr;
        if (!m || !m->live) return {};
        const auto missing = s->missing_of(s->releases()[m->newest]);
        const auto statement =
            missing.empty() ? std::nullopt : pull_->memory.cached_result(key, milliseconds(0));
        if (statement && statement->error) return std::unexpected(*statement->error);
        for (const std::string& name : missing) {
            if (!asked.insert(name).second) continue;
            if (asked.size() > kMaxModules || missing.size() > kMaxModules) {
                base::Error error;
                error.message = fmt::format(
                    "{} needs more than {} modules that are not in '{}' yet, which is the "
                    "limit of one answer; 'forge sync --with-dependencies' brings "
                    "them all",
                    module.slug(), kMaxModules, repository);
                error.code = static_cast<int>(PullFailure::Bad);
                pull_->memory.store_result(key, {.found = false, .error = error}, kTooMany);
                return std::unexpected(error);
            }
            auto parsed = module::parse_module_name(name);
            if (!parsed || ours(*parsed)) continue;
            BUNRAKU_TRY_VOID(pull_one(repository, *parsed, Timeouts::StaleWillDo));
            more |= knows(repository, *parsed);
        }
    }
    return {};
}

bool ForgeService::has_file(std::string_view repository, const Release& release) {
    const std::string place = forge_store_.snapshot_path(forge_store_.published(repository)) + "/" +
                              module::release_path(release.author, release.slug);
    return ::access(place.c_str(), F_OK) == 0;
}

Result<void> ForgeService::pull_file(std::string_view repository, const Release& release) {
    if (has_file(repository, release)) return {};
    const std::string slug(release.slug);
    const auto config = config_of(repository);
    if (!config) return failure("there is no such repository", 404);
    const std::string key = memory_key(repository, slug + ".tar.gz");
    const auto statement = pull_->memory.cached_result(key, milliseconds(0));
    const auto fetch = [&](const std::string& upstream) -> Result<void> {
        const std::string shared = host_of(upstream);
        std::string base = upstream;
        module::Offer offer;
        offer.name = *module::parse_release_name(slug);
        module::Fetcher fetcher(access_of(options_, &base, config->ca_file,
                                          pull_->upstreams.doubtful(shared), kWholeFile,
                                          pull_->refresher));
        offer.url = base + "/v3/files/" + slug + ".tar.gz";
        offer.sha256 = release.sha256;
        offer.md5 = release.md5;
        offer.size = release.size;
        auto bytes = module::fetch_offer(fetcher, offer);
        if (!bytes) return std::unexpected(client_error(bytes.error()));
        std::string signature;
        if (config->signatures.concerns(offer.name.module)) {
            auto file = fetcher.get(offer.url + std::string(module::kSignatureSuffix),
                                    module::kMaxSignature);
            if (!file && file.error().code != 404 && file.error().code != 400) {
                return std::unexpected(client_error(file.error()));
            }
            if (file) signature = std::move(*file);
        }
        auto batch = BUNRAKU_TRY(forge_store_.begin(repository));
        if (auto filled = batch->fill_remote(slug, *bytes, signature); !filled) {
            return failure(filled.error().message, static_cast<int>(PullFailure::Bad));
        }
        return batch->finish();
    };
    if (::access(forge_store_.unit_path(repository, slug).c_str(), F_OK) != 0) {
        if (statement && statement->error) return std::unexpected(*statement->error);
        // Any upstream that has the described bytes is acceptable.
        Result<void> got = failure("there is no upstream", static_cast<int>(PullFailure::NotThere));
        for (const std::string& url : config->upstreams) {
            const std::string upstream = base_url(url);
            got = pull_->upstreams.ask(host_of(upstream), key + " " + upstream, true,
                                       [&] { return fetch(upstream); });
            if (got) break;
        }
        if (!got) {
            if (!rejected_locally(got.error())) {
                pull_->memory.store_result(key, {.found = false, .error = got.error()}, kFailed);
            }
            return got;
        }
    }
    // Link the file into the tree that describes it. Readers see either the whole file or none.
    const std::string place = forge_store_.snapshot_path(forge_store_.published(repository)) + "/" +
                              module::release_path(release.author, release.slug);
    BUNRAKU_TRY_VOID(forge_store_.place_signature(repository, slug, place));
    if (::link(forge_store_.unit_path(repository, slug).c_str(), place.c_str()) != 0 &&
        errno != EEXIST) {
        return failure("cannot store " + slug, errno);
    }
    return {};
}

}  // namespace bunraku::forge
