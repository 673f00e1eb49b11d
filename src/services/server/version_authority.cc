// SPDX-License-Identifier: Apache-2.0
#include "services/server/version_authority.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/assert.h"
#include "core/sys/clock.h"
#include "services/server/version_journal.h"

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

/// A run under way.
struct UnderWay {
    std::shared_ptr<const std::string> version;
    Clock::time_point began;
    std::uint64_t transaction = 0;  ///< 0 until a request names it
    /// The node's last transactions. A repeated request of one of them does not begin a run.
    std::array<std::uint64_t, 2> last{};
    bool implied = false;
    bool written = false;  ///< true if it is in the journal

    bool knows(std::uint64_t number) const {
        return number != 0 && std::ranges::find(last, number) != last.end();
    }
    void remember(std::uint64_t number) {
        if (number == 0 || knows(number)) return;
        last = {number, last[0]};
    }
};

/// The runs under way in an environment.
struct EnvironmentRuns {
    std::unordered_map<std::string, UnderWay, TextHash, std::equal_to<>> runs;
    std::string base;   ///< empty until it is known
    bool seen = false;  ///< true if `base` is of this process
    /// The base before the server started, for runs that began earlier.
    std::string earlier;
    Clock::time_point earlier_until;
    std::set<std::string, std::less<>> begun;  ///< nodes whose run began after the start

    /// Returns the version of a run that begins now, or that began before the server was started.
    std::string first_version(const NodeRun& run, std::string_view version, Clock::time_point now) {
        if (earlier.empty() || run.recorded) return std::string(version);
        if (now >= earlier_until) {
            earlier.clear();
            begun.clear();
            return std::string(version);
        }
        const bool first = begun.emplace(run.node).second;
        return run.implied && first ? earlier : std::string(version);
    }
};

class LocalVersions final : public VersionAuthority {
public:
    LocalVersions(std::string file, base::LogSink& log, std::function<Clock::time_point()> now)
        : journal_(std::move(file)), log_(log), now_(std::move(now)) {
        restore();
    }

    void base(std::string_view environment, std::string_view version) override {
        const std::lock_guard lock(mutex_);
        auto& known = environment_of(environment);
        const bool first = !known.seen;
        known.seen = true;
        if (known.base == version) return;
        // The link moved while the server was stopped. Runs that it does not know had the base of
        // that time.
        if (first && !known.base.empty()) {
            known.earlier = known.base;
            known.earlier_until = now() + kLongestRun;
        }
        known.base = version;
        write();
    }

    base::Result<void> move_base(std::string_view environment, std::string_view version) override {
        const std::lock_guard lock(mutex_);
        auto& known = environment_of(environment);
        if (known.base == version) return {};
        const std::string before = std::exchange(known.base, version);
        if (auto written = try_write(); !written) {
            known.base = before;
            return written;
        }
        known.seen = true;
        return {};
    }

    std::optional<std::string> target(std::string_view, std::string_view) const override {
        return std::nullopt;
    }

    base::Result<std::string> begin(const NodeRun& run, std::string_view version) override {
        BUNRAKU_ASSERT(!run.node.empty() && !version.empty());
        const auto transaction = number_of(run.transaction);
        const std::lock_guard lock(mutex_);
        auto& known = environment_of(run.environment);
        auto it = known.runs.find(run.node);
        if (it != known.runs.end() && !ended(it->second) && it->second.knows(transaction))
            return std::string(*it->second.version);
        if (it == known.runs.end()) {
            if (known.runs.size() >= kMostRuns)
                std::erase_if(known.runs, [&](const auto& one) { return ended(one.second); });
            if (known.runs.size() >= kMostRuns) return std::string(version);
            it = known.runs.emplace(std::string(run.node), UnderWay{}).first;
        }
        auto& entry = it->second;
        forget_written(run, entry);
        entry.version = shared(known.first_version(run, version, now()));
        entry.began = now();
        entry.implied = run.implied && transaction == 0;
        entry.transaction = transaction;
        entry.remember(transaction);
        return std::string(*entry.version);
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
        const auto it = at->second.runs.find(run.node);
        if (it == at->second.runs.end() || it->second.transaction != transaction) return;
        forget_written(run, it->second);
        at->second.runs.erase(it);
    }

private:
    Clock::time_point now() const { return now_ ? now_() : Clock::now(); }

    bool ended(const UnderWay& entry) const {
        return now() - entry.began >= (entry.implied ? kLongestImpliedRun : kLongestRun);
    }

    EnvironmentRuns& environment_of(std::string_view name) {
        const auto it = environments_.find(name);
        if (it != environments_.end()) return it->second;
        return environments_.emplace(std::string(name), EnvironmentRuns{}).first->second;
    }

    UnderWay* find(std::string_view environment, std::string_view node) {
        const auto at = environments_.find(environment);
        if (at == environments_.end()) return nullptr;
        const auto it = at->second.runs.find(node);
        if (it == at->second.runs.end() || ended(it->second)) return nullptr;
        return &it->second;
    }

    /// Returns the text of a version, which all runs with it share.
    std::shared_ptr<const std::string> shared(std::string_view version) {
        if (newest_ && *newest_ == version) return newest_;
        newest_ = std::make_shared<const std::string>(version);
        return newest_;
    }

    void restore() {
        const auto content = journal_.read();
        const auto wall = sys::make_real_clock()->now_ns();
        for (const auto& [environment, version] : content.bases)
            environment_of(environment).base = version;
        for (const auto& run : content.runs) {
            // If the clock was set back, the run counts as one that began now.
            const std::chrono::nanoseconds age(std::max<std::int64_t>(0, wall - run.began_ns));
            if (age >= kLongestRun) continue;
            UnderWay entry;
            entry.version = shared(run.version);
            entry.began = now() - age;
            entry.transaction = run.transaction;
            entry.last = run.last;
            entry.written = true;
            environment_of(run.environment).runs.emplace(run.node, std::move(entry));
        }
    }

    void write() { check(try_write()); }

    /// Writes the bases, and the runs with other versions.
    base::Result<void> try_write() {
        VersionJournal::Content content;
        const auto wall = sys::make_real_clock()->now_ns();
        for (auto& [name, environment] : environments_) {
            if (!environment.base.empty()) content.bases[name] = environment.base;
            for (auto& [node, run] : environment.runs) {
                run.written = !ended(run) && *run.version != environment.base;
                if (!run.written) continue;
                const std::chrono::nanoseconds age = now() - run.began;
                content.runs.push_back({.environment = name,
                                        .node = node,
                                        .version = *run.version,
                                        .transaction = run.transaction,
                                        .last = run.last,
                                        .began_ns = wall - age.count()});
            }
        }
        return journal_.replace(content);
    }

    void forget_written(const NodeRun& run, UnderWay& entry) {
        if (!entry.written) return;
        entry.written = false;
        check(journal_.ended(run.environment, run.node));
    }

    void check(const base::Result<void>& written) {
        if (!written)
            log_.log(base::Level::Warning,
                     "Could not record the versions of runs: " + written.error().message);
    }

    const VersionJournal journal_;
    base::LogSink& log_;
    const std::function<Clock::time_point()> now_;
    std::mutex mutex_;
    std::map<std::string, EnvironmentRuns, std::less<>> environments_;
    std::shared_ptr<const std::string> newest_;
};

}  // namespace

std::shared_ptr<VersionAuthority> make_local_versions(
    std::string file, base::LogSink& log,
    std::function<std::chrono::steady_clock::time_point()> now) {
    return std::make_shared<LocalVersions>(std::move(file), log, std::move(now));
}

}  // namespace bunraku::server
