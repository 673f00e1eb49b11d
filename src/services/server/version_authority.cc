// SPDX-License-Identifier: Apache-2.0
#include "services/server/version_authority.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/base/assert.h"

namespace bunraku::server {

namespace {

using Clock = std::chrono::steady_clock;

/// Maximum number of runs under way in an environment. Beyond it, runs are not recorded.
constexpr std::size_t kMostRuns = 500'000;

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

/// Returns a number that identifies a transaction. 0 means none.
std::uint64_t number_of(std::string_view transaction) {
    if (transaction.empty()) return 0;
    return std::hash<std::string_view>{}(transaction) | 1;
}

class MemoryVersions final : public VersionAuthority {
public:
    explicit MemoryVersions(std::function<Clock::time_point()> now) : now_(std::move(now)) {}

    std::optional<std::string> target(std::string_view, std::string_view) const override {
        return std::nullopt;
    }

    base::Result<std::string> begin(const NodeRun& run, std::string_view version) override {
        BUNRAKU_ASSERT(!run.node.empty() && !version.empty());
        const auto transaction = number_of(run.transaction);
        const std::lock_guard lock(mutex_);
        auto& runs = runs_of(run.environment);
        auto it = runs.find(run.node);
        if (it != runs.end() && !ended(it->second) && it->second.knows(transaction))
            return std::string(*it->second.version);
        if (it == runs.end()) {
            if (runs.size() >= kMostRuns) drop_ended(runs);
            if (runs.size() >= kMostRuns) return std::string(version);
            it = runs.emplace(std::string(run.node), UnderWay{}).first;
        }
        auto& entry = it->second;
        entry.version = shared(version);
        entry.began = now();
        entry.implied = run.implied && transaction == 0;
        entry.transaction = transaction;
        entry.remember(transaction);
        return std::string(version);
    }

    base::Result<std::optional<std::string>> current(std::string_view environment,
                                                     std::string_view node) override {
        const std::lock_guard lock(mutex_);
        const auto* entry = find(environment, node);
        if (!entry) return std::nullopt;
        return std::optional(std::string(*entry->version));
    }

    void catalog(const NodeRun& run) override {
        const auto transaction = number_of(run.transaction);
        const std::lock_guard lock(mutex_);
        auto* entry = find(run.environment, run.node);
        if (!entry || transaction == 0) return;
        entry->transaction = transaction;
        entry->remember(transaction);
        entry->implied = false;
    }

    void idle(const NodeRun& run) override {
        const auto transaction = number_of(run.transaction);
        if (transaction == 0) return;
        const std::lock_guard lock(mutex_);
        const auto at = environments_.find(run.environment);
        if (at == environments_.end()) return;
        const auto it = at->second.find(run.node);
        if (it != at->second.end() && it->second.transaction == transaction) at->second.erase(it);
    }

private:
    struct UnderWay {
        std::shared_ptr<const std::string> version;
        Clock::time_point began;
        std::uint64_t transaction = 0;  ///< 0 until a request names it
        /// The last transactions of the node, so that a repeated request does not begin a run.
        std::array<std::uint64_t, 2> last{};
        bool implied = false;

        bool knows(std::uint64_t number) const {
            return number != 0 && std::ranges::find(last, number) != last.end();
        }
        void remember(std::uint64_t number) {
            if (number == 0 || knows(number)) return;
            last = {number, last[0]};
        }
    };
    using Runs = std::unordered_map<std::string, UnderWay, TextHash, std::equal_to<>>;

    Clock::time_point now() const { return now_ ? now_() : Clock::now(); }

    bool ended(const UnderWay& entry) const {
        return now() - entry.began >= (entry.implied ? kLongestImpliedRun : kLongestRun);
    }

    Runs& runs_of(std::string_view environment) {
        const auto it = environments_.find(environment);
        if (it != environments_.end()) return it->second;
        return environments_.emplace(std::string(environment), Runs{}).first->second;
    }

    UnderWay* find(std::string_view environment, std::string_view node) {
        const auto at = environments_.find(environment);
        if (at == environments_.end()) return nullptr;
        const auto it = at->second.find(node);
        if (it == at->second.end() || ended(it->second)) return nullptr;
        return &it->second;
    }

    void drop_ended(Runs& runs) const {
        std::erase_if(runs, [&](const auto& run) { return ended(run.second); });
    }

    /// Returns the text of a version, which all runs with it share.
    std::shared_ptr<const std::string> shared(std::string_view version) {
        if (newest_ && *newest_ == version) return newest_;
        newest_ = std::make_shared<const std::string>(version);
        return newest_;
    }

    const std::function<Clock::time_point()> now_;
    std::mutex mutex_;
    std::map<std::string, Runs, std::less<>> environments_;
    std::shared_ptr<const std::string> newest_;
};

}  // namespace

std::shared_ptr<VersionAuthority> make_memory_versions(
    std::function<std::chrono::steady_clock::time_point()> now) {
    return std::make_shared<MemoryVersions>(std::move(now));
}

}  // namespace bunraku::server
