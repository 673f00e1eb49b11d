#include "forge/pull.h"

#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "codec/digest.h"
#include "forge/feed.h"
#include "value/rich_data.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;
using value::Value;

/// A closure bigger than this is left to later questions.
constexpr int kMaxModules = 300;
constexpr std::int64_t kRetrySeconds = 15;
constexpr std::size_t kMaxRemembered = 100000;

FeedOptions access_of(const ServiceOptions& options) {
    FeedOptions out;
    out.client.ca_file = options.ca_file;
    out.client.timeout = std::chrono::milliseconds(30000);
    return out;
}

std::string base_url(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

std::string fragment_at(const Value& item, std::string_view key, const char* missing) {
    const Value* v = item.as_hash().find(key);
    return v ? value::to_json(*v) : missing;
}

/// An upstream's description as a record of our own.
Result<RemoteRelease> describe(const Value& item) {
    if (!item.is_hash()) return failure("no release");
    const Value* metadata = item.as_hash().find("metadata");
    if (!metadata || !metadata->is_hash()) return failure("a release without metadata");
    RemoteRelease out;
    out.metadata = BUNRAKU_TRY(parse_metadata(value::to_json(*metadata)));
    out.md5 = lower(text_at(item, "file_md5"));
    out.sha256 = lower(text_at(item, "file_sha256"));
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
    std::tm tm{};
    const std::string created(text_at(item, "created_at"));
    out.created = ::strptime(created.c_str(), "%Y-%m-%d %H:%M:%S", &tm)
                      ? static_cast<std::int64_t>(::timegm(&tm))
                      : static_cast<std::int64_t>(std::time(nullptr));
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

bool ForgeService::pull_one(std::string_view repository, const ModuleName& module) {
    const std::int64_t now = static_cast<std::int64_t>(std::time(nullptr));
    const std::string key = fmt::format("{} {}", repository, module.slug());
    auto& fresh = pull_->fresh_until;
    if (auto it = fresh.find(key); it != fresh.end() && it->second > now) return false;
    if (fresh.size() > kMaxRemembered) fresh.clear();
    const std::string base = base_url(depot_.config(repository).upstream);
    Fetcher fetcher(access_of(options_));
    std::vector<RemoteRelease> found;
    auto walked = walk_pages(fetcher, base, "/v3/releases?limit=100&module=" + module.slug(),
                             [&](const Value& item) {
                                 auto release = describe(item);
                                 if (release && release->metadata.module.slug() == module.slug()) {
                                     found.push_back(std::move(*release));
                                 }
                                 return found.size() < 5000;
                             });
    fresh[key] = now + (walked ? options_.upstream_seconds : kRetrySeconds);
    if (!walked || found.empty()) return false;
    auto batch = depot_.begin(repository);
    if (!batch) return false;
    bool changed = false;
    for (const RemoteRelease& r : found) {
        auto stored = (*batch)->store_remote(r);
        changed |= stored && *stored;
    }
    (void)(*batch)->finish();
    return changed;
}

void ForgeService::pull_module(std::string_view repository, const ModuleName& module,
                               bool closure) {
    std::unique_lock held(pull_->mutex);
    if (pull_one(repository, module)) (void)depot_.publish(repository);
    if (!closure) return;
    std::set<std::string> asked;
    int count = 0;
    for (bool more = true; more && count < kMaxModules;) {
        more = false;
        SnapshotPtr s = snapshot(repository);
        const SnapshotModule* m = s ? s->module(module.slug()) : nullptr;
        if (!m || !m->live) return;
        for (const std::string& name : s->missing_of(s->releases()[m->newest])) {
            if (!asked.insert(name).second || ++count > kMaxModules) continue;
            if (auto parsed = parse_module_name(name)) more |= pull_one(repository, *parsed);
        }
        if (more && !depot_.publish(repository)) return;
    }
}

Result<void> ForgeService::pull_file(std::string_view repository, const Release& release) {
    const auto place = [&] {
        return depot_.snapshot_path(depot_.published(repository)) + "/" +
               release_path(release.author, release.slug);
    };
    if (::access(place().c_str(), F_OK) == 0) return {};
    std::unique_lock held(pull_->mutex);
    if (::access(place().c_str(), F_OK) == 0) return {};
    const std::string slug(release.slug);
    const std::string base = base_url(depot_.config(repository).upstream);
    if (::access(depot_.unit_path(repository, slug).c_str(), F_OK) != 0) {
        Offer offer;
        offer.name = *parse_release_name(slug);
        offer.url = base + "/v3/files/" + slug + ".tar.gz";
        offer.sha256 = release.sha256;
        offer.md5 = release.md5;
        offer.size = release.size;
        Fetcher fetcher(access_of(options_));
        const std::string bytes = BUNRAKU_TRY(fetch_offer(fetcher, offer));
        auto batch = BUNRAKU_TRY(depot_.begin(repository));
        BUNRAKU_TRY_VOID(batch->fill_remote(slug, bytes));
        BUNRAKU_TRY_VOID(batch->finish());
    }
    // The file joins the tree that describes it: readers see it whole or not at all.
    if (::link(depot_.unit_path(repository, slug).c_str(), place().c_str()) != 0 &&
        errno != EEXIST) {
        return failure("cannot keep " + slug, errno);
    }
    return {};
}

}  // namespace bunraku::forge
