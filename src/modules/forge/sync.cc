// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/sync.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "modules/module/trust.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

/// Maximum number of attempts if a feed is temporarily unavailable or does not complete its
/// response.
constexpr int kAttempts = 5;

/// A result handed over by the downloading threads.
struct Delivery {
    const module::Offer* offer;
    Result<std::string> bytes;
    std::string signature;
};

/// Decides which archives' signatures are requested.
using WantsSignature = std::function<bool(const module::ModuleName&)>;

Delivery deliver(module::Fetcher& fetcher, const module::Offer& offer, bool with_signature) {
    Delivery out{&offer, module::fetch_offer(fetcher, offer), {}};
    if (!out.bytes || !with_signature) return out;
    const std::string suffix(module::kSignatureSuffix);
    auto file = fetcher.get(offer.url + suffix, module::kMaxSignature);
    if (!file && file.error().code == 404 && !offer.other_url.empty()) {
        file = fetcher.get(offer.other_url + suffix, module::kMaxSignature);
    }
    if (file) {
        out.signature = std::move(*file);
    } else if (file.error().code != 404 && file.error().code != 400) {
        out.bytes = failure(fmt::format("{}: {}", offer.name.slug(), file.error().message));
    }
    return out;
}

class Downloads {
public:
    Downloads(const std::vector<const module::Offer*>& wanted, int parallel,
              const module::FeedOptions& access, WantsSignature signatures)
        : wanted_(wanted),
          signatures_(std::move(signatures)),
          parallel_(std::min<std::size_t>(static_cast<std::size_t>(std::clamp(parallel, 1, 32)),
                                          wanted.size())) {
        for (std::size_t i = 0; i < parallel_; ++i) {
            threads_.emplace_back([this, &access] { run(access); });
        }
    }
    ~Downloads() {
        {
            std::unique_lock held(mutex_);
            stop_ = true;
        }
        space_available_.notify_all();
        for (std::thread& t : threads_) t.join();
    }
    /// Returns the next finished download, or nullopt after the last one.
    std::optional<Delivery> next() {
        std::unique_lock held(mutex_);
        if (handed_ == wanted_.size()) return std::nullopt;
        ready_.wait(held, [&] { return !done_.empty(); });
        Delivery d = std::move(done_.front());
        done_.pop_front();
        ++handed_;
        space_available_.notify_one();
        return d;
    }

private:
    void run(const module::FeedOptions& access) {
        module::Fetcher fetcher(access);
        while (!stop_) {
            const std::size_t i = at_++;
            if (i >= wanted_.size()) return;
            Delivery d = deliver(fetcher, *wanted_[i], signatures_(wanted_[i]->name.module));
            std::unique_lock held(mutex_);
            // Memory is bounded: the downloads do not run far ahead of the storing thread.
            space_available_.wait(held, [&] { return done_.size() < parallel_ * 2 + 2 || stop_; });
            done_.push_back(std::move(d));
            ready_.notify_one();
        }
    }
    const std::vector<const module::Offer*>& wanted_;
    const WantsSignature signatures_;
    /// number of threads; running threads read it while others are being started
    const std::size_t parallel_;
    std::atomic<std::size_t> at_{0};
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::condition_variable ready_, space_available_;
    std::deque<Delivery> done_;
    std::size_t handed_ = 0;
    std::vector<std::thread> threads_;
};

Result<std::vector<module::Offer>> list(module::Fetcher& fetcher, const std::string& feed,
                                        const SyncOptions& options,
                                        const std::function<void(const std::string&)>& complain) {
    std::string base = feed;
    while (base.ends_with('/')) base.pop_back();
    if (!options.requests.empty()) {
        return offers_for(fetcher, base, options.requests, options.with_dependencies,
                          options.latest, complain);
    }
    std::vector<module::Offer> all =
        BUNRAKU_TRY(module::list_feed(fetcher, feed, options.queries, complain));
    if (options.latest > 0) all = newest_of_each(std::move(all), options.latest);
    if (!options.with_dependencies || options.queries.empty()) return all;
    // The dependencies of the found modules are included even if the search itself would not find
    // them.
    std::map<std::string, module::Offer> wanted;
    std::vector<SyncRequest> needed;
    for (module::Offer& offer : all) {
        for (const module::Dependency& d : offer.dependencies) {
            if (auto name = module::parse_module_name(d.name)) {
                needed.push_back({*name, d.requirement});
            }
        }
        const std::string slug = offer.name.slug();
        wanted.emplace(slug, std::move(offer));
    }
    for (module::Offer& offer : BUNRAKU_TRY(offers_for(fetcher, base, needed, true, 0, complain))) {
        const std::string slug = offer.name.slug();
        wanted.emplace(slug, std::move(offer));
    }
    std::vector<module::Offer> out;
    for (auto& [slug, offer] : wanted) out.push_back(std::move(offer));
    return out;
}

/// Restricts the offers to the archives in the feed's signed metadata, with the checksums given
/// there.
Result<void> hold_to_metadata(ForgeStore& forge_store, const std::string& feed,
                              const std::string& root, const module::FeedOptions& access,
                              std::vector<module::Offer>& offers,
                              const std::function<void(const std::string&)>& complain) {
    const std::string address = module::metadata_address(feed);
    if (address.empty()) {
        return failure(
            feed + " is not the address of a single repository, so its metadata cannot be found");
    }
    auto known =
        BUNRAKU_TRY(module::tuf_client_of(address, root, forge_store.root() + "/seen", access));
    if (auto fresh = known->refresh(); !fresh) {
        return failure(fmt::format("{} is not to be trusted: {}", feed, fresh.error().message));
    }
    Result<void> known_all;
    std::erase_if(offers, [&](module::Offer& offer) {
        const std::string slug = offer.name.slug();
        const auto found = known->target(module::release_path(offer.name.module.author, slug));
        if (!found && known_all) {
            known_all =
                failure(fmt::format("{} is not to be trusted: {}", feed, found.error().message));
        }
        if (!found) return true;
        const auto& target = *found;
        if (!target) {
            complain(fmt::format("arbitrary software: {} is not in targets.json", slug));
            return true;
        }
        offer.sha256 = target->sha256;
        offer.size = target->length;
        return false;
    });
    return known_all;
}

/// Uploads the releases of `downloads` until it ends or the run is stopped.
Result<void> store_downloads(ForgeStore& forge_store, const std::string& repository,
                             const SyncOptions& options, Downloads& downloads, std::size_t count,
                             const std::function<void(const std::string&)>& complain,
                             SyncResult& out) {
    // Holds the lock only for a few releases at a time, because other processes may need to upload.
    constexpr int kTogether = 16;
    std::unique_ptr<ForgeStore::Batch> batch;
    int stored = 0;
    for (std::uint64_t done = 1; auto delivery = downloads.next(); ++done) {
        if (options.stopped && options.stopped()) {
            out.stopped = true;
            break;
        }
        const std::string slug = delivery->offer->name.slug();
        if (!delivery->bytes) {
            complain(delivery->bytes.error().message);
        } else {
            if (!batch) batch = BUNRAKU_TRY(forge_store.begin(repository));
            auto kept = batch->upload(*delivery->bytes, slug + ".tar.gz", false,
                                      delivery->offer->created, delivery->signature);
            if (!kept) {
                complain(slug + ": " + kept.error().message);
            } else {
                ++out.fetched;
            }
            if (++stored % kTogether == 0) {
                BUNRAKU_TRY_VOID(batch->finish());
                batch.reset();
            }
        }
        if (options.progress) options.progress(done, count);
    }
    if (batch) BUNRAKU_TRY_VOID(batch->finish());
    return {};
}

/// Removes the releases that are not in `offered`, and returns their number.
Result<std::size_t> remove_others(ForgeStore& forge_store, const std::string& repository,
                                  const std::set<std::string>& offered) {
    std::size_t removed = 0;
    auto batch = BUNRAKU_TRY(forge_store.begin(repository));
    for (const Unit& unit : forge_store.units(repository)) {
        const std::string slug = unit.name.slug();
        if (offered.contains(slug)) continue;
        BUNRAKU_TRY_VOID(batch->erase(slug));
        ++removed;
    }
    BUNRAKU_TRY_VOID(batch->finish());
    return removed;
}

}  // namespace

Result<SyncResult> sync(ForgeStore& forge_store, const std::string& repository,
                        const SyncOptions& options) {
    if (!forge_store.exists(repository)) {
        return failure(fmt::format("there is no repository '{}'", repository), 404);
    }
    SyncResult out;
    const auto complain = [&](const std::string& text) {
        ++out.failed;
        if (options.warn) options.warn(text);
    };
    module::FeedOptions access = options.access;
    access.attempts = kAttempts;
    access.client.stopped = options.stopped;
    const std::string feed = module::take_credentials(options.feed, access.client);
    access.home = feed;
    module::Fetcher fetcher(access);
    auto listed = list(fetcher, feed, options, complain);
    if (options.stopped && options.stopped()) {
        out.stopped = true;
        return out;
    }
    std::vector<module::Offer> offers = BUNRAKU_TRY(listed);
    const module::SignatureRules rules = forge_store.config(repository).signatures;
    if (!options.root.empty()) {
        BUNRAKU_TRY_VOID(
            hold_to_metadata(forge_store, feed, options.root, access, offers, complain));
    }
    out.offered = offers.size();
    const bool clean = out.failed == 0;

    const std::vector<Unit> before = forge_store.units(repository);
    if (options.remove_missing && offers.empty() && !before.empty() && !options.force) {
        return failure(
            fmt::format("{} offers nothing, and so '{}' would lose all its releases: --force does "
                        "it",
                        module::shown_url(options.feed), repository));
    }
    std::set<std::string> have, offered;
    for (const Unit& unit : before) {
        if (!unit.remote) have.insert(unit.name.slug());
    }
    std::vector<const module::Offer*> wanted;
    for (const module::Offer& offer : offers) {
        const std::string slug = offer.name.slug();
        offered.insert(slug);
        if (have.contains(slug)) {
            ++out.present;
        } else {
            wanted.push_back(&offer);
        }
    }
    if (options.progress) options.progress(0, wanted.size());
    if (!wanted.empty()) {
        Downloads downloads(wanted, options.parallel, access, [&](const module::ModuleName& m) {
            return options.signatures || rules.concerns(m);
        });
        BUNRAKU_TRY_VOID(store_downloads(forge_store, repository, options, downloads, wanted.size(),
                                         complain, out));
    }
    // Only a completely read listing may cause removals.
    if (options.remove_missing && clean && !out.stopped)
        out.removed += BUNRAKU_TRY(remove_others(forge_store, repository, offered));
    return out;
}

}  // namespace bunraku::forge
