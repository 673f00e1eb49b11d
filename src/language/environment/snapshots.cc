// SPDX-License-Identifier: Apache-2.0
#include "language/environment/snapshots.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "language/environment/conf.h"

namespace bunraku::environment {

/// A log sink that passes each warning on once only.
class Snapshots::Once final : public base::LogSink {
public:
    Once(Snapshots& owner, base::LogSink& log) : owner_(owner), log_(log) {}
    using LogSink::log;
    bool enabled(base::Level level) const override { return log_.enabled(level); }
    void log(const base::Diagnostic& d) override {
        {
            std::lock_guard lock(owner_.mutex_);
            if (owner_.logged_.size() < 10'000 && !owner_.logged_.insert(d.message).second) return;
        }
        log_.log(d);
    }

private:
    Snapshots& owner_;
    base::LogSink& log_;
};

std::int64_t Snapshots::now() const {
    if (options_.now_seconds) return options_.now_seconds();
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::shared_ptr<Snapshots::Entry> Snapshots::entry(std::string_view name) {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(name);
    if (it == entries_.end())
        it = entries_.emplace(std::string(name), std::make_shared<Entry>()).first;
    BUNRAKU_ASSERT(it->first == name && it->second);
    return it->second;
}

base::Result<void> Snapshots::open(Entry& entry, std::string_view name, base::LogSink& log) {
    Spec spec = options_.spec;
    spec.name = name;
    Once once(*this, log);
    auto previous = entry.environment;
    if (!previous && options_.previous) previous = options_.previous(name);
    auto opened = BUNRAKU_TRY(Environment::open(spec, once, previous.get()));
    if (options_.directory_required && opened->directory().empty()) {
        return base::failure(
            fmt::format("Could not find a directory environment named '{}' anywhere in the path: "
                        "{}. Does the directory exist?",
                        name, fmt::join(spec.environmentpath, ":")),
            404);
    }
    const auto own = options_.own_timeouts ? opened->conf("environment_timeout") : std::nullopt;
    entry.ttl = BUNRAKU_TRY(parse_ttl(own.value_or(options_.timeout), "environment_timeout"));
    BUNRAKU_ASSERT(opened && (!entry.ttl || *entry.ttl >= 0));
    entry.environment = std::move(opened);
    std::lock_guard lock(mutex_);
    ++opened_;
    return {};
}

base::Result<std::shared_ptr<const Environment>> Snapshots::get(std::string_view name,
                                                                base::LogSink& log) {
    auto found = entry(name);
    std::unique_lock lock(found->mutex);
    while (auto known = found->environment) {
        // Files are checked only if the time to live has expired. A time of 0 has always expired.
        BUNRAKU_ASSERT(lock.owns_lock());
        const auto ttl = found->ttl;
        if (ttl && (*ttl == 0 || now() > found->touched + *ttl)) {
            // A stat may take long, so other threads must not wait for the lock.
            lock.unlock();
            const bool unchanged = known->unchanged();
            lock.lock();
            // Another thread may have reopened the environment in the meantime, but before the last
            // change. The loop checks it again.
            if (!unchanged && found->environment != known) continue;
            if (!unchanged) break;
        }
        if (ttl && *ttl > 0) found->touched = now();
        return known;
    }
    if (auto result = open(*found, name, log); !result) {
        found->environment = nullptr;
        std::lock_guard all(mutex_);
        if (auto it = entries_.find(name); it != entries_.end() && it->second == found)
            entries_.erase(it);
        return std::unexpected(std::move(result).error());
    }
    BUNRAKU_ASSERT(lock.owns_lock() && found->environment);
    if (found->ttl && *found->ttl > 0) found->touched = now();
    return found->environment;
}

std::shared_ptr<const Environment> Snapshots::known(std::string_view name) {
    const auto found = entry(name);
    const std::unique_lock lock(found->mutex, std::try_to_lock);
    return lock ? found->environment : nullptr;
}

void Snapshots::clear(std::string_view name) {
    std::lock_guard lock(mutex_);
    if (auto it = entries_.find(name); it != entries_.end()) entries_.erase(it);
}

void Snapshots::clear() {
    std::lock_guard lock(mutex_);
    entries_.clear();
}

std::vector<std::string> Snapshots::list() const {
    const auto& files = options_.spec.files ? options_.spec.files : disk_files();
    std::set<std::string> names;
    for (const auto& parent : options_.spec.environmentpath) {
        for (auto& name : files->list(parent)) {
            if (valid_environment_name(name) && files->stat(parent + "/" + name).directory)
                names.insert(std::move(name));
        }
    }
    return {names.begin(), names.end()};
}

std::uint64_t Snapshots::opened() const {
    std::lock_guard lock(mutex_);
    return opened_;
}

}  // namespace bunraku::environment
