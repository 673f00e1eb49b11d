// SPDX-License-Identifier: Apache-2.0
// Server-sent events: an open page learns of new runs without a reload.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/executor.h"
#include "net/http/body_stream.h"
#include "services/console/fleet.h"

namespace bunraku::console {

/// What a stream reports besides runs.
enum class Follow : std::uint8_t { Runs, RunsAndRollouts };

/// Describes the state of the rollouts of each environment. A text changes whenever a page that
/// shows the rollouts would change.
using RolloutStamps = std::map<std::string, std::string, std::less<>>;

/// The open streams of all pages. One timer serves them all; it runs only while there are streams.
/// Another executor reads the store, so that the timer sends heartbeats even while the store is
/// slow. Thread-safe.
class LiveEvents {
public:
    /// `reads` runs tasks that read the store. `rollouts`, which may be empty, returns the current
    /// stamps, or nullopt if the store does not answer.
    LiveEvents(FleetWatch& fleet, sys::Executor& aside, sys::Executor& reads, sys::Runtime& runtime,
               std::function<std::optional<RolloutStamps>()> rollouts = {});

    /// Returns the viewer of a stream now, or nullopt if its session has ended.
    using Identify = std::function<std::optional<Viewer>()>;
    /// Opens a stream for `viewer`. `last_id` is the id of the last event that the page received,
    /// or empty. Fails if there are too many streams.
    base::Result<std::shared_ptr<http::BodyStream>> open(const Viewer& viewer,
                                                         std::string_view last_id,
                                                         Identify identify,
                                                         Follow follow = Follow::Runs);
    std::size_t size() const;

    static constexpr std::size_t kMost = 2000, kMostOfViewer = 32;
    static constexpr sys::Duration kPause = std::chrono::seconds(1);
    /// Reading the store takes at most 1 / kReadShare of the time.
    static constexpr std::int64_t kReadShare = 4;
    static constexpr std::int64_t kLongestReadPauseMs = 30'000;
    /// Rollouts are read less often than runs, because they have many members.
    static constexpr std::int64_t kRolloutsMs = 2000;
    /// A stream sends at least a comment in this time, and its session is checked.
    static constexpr std::int64_t kHeartbeatMs = 15'000;
    /// A page opens a new stream after this time, so that revoked certificates take effect.
    static constexpr std::int64_t kLongestMs = 15LL * 60 * 1000;
    /// If there are more new runs, an event contains only their number.
    static constexpr std::size_t kMostRuns = 100;

private:
    struct Subscriber {
        Viewer viewer;
        Identify identify;
        std::shared_ptr<http::BodyStream> stream;
        Follow follow = Follow::Runs;
        std::uint64_t seen = 0;  ///< number of the last run that was sent
        /// The last sent stamps of the rollouts that the viewer may see. A new stream gets an event
        /// at once, because something may have changed since its page was made.
        std::string rollouts = "unknown";
        std::int64_t opened_ms = 0, sent_ms = 0;
    };
    void schedule();
    void tick();
    /// Starts to read the store, unless that is under way or was done just now.
    void read_later();
    void read();
    void serve_all();
    void serve(Subscriber& to, std::int64_t now_ms);
    /// Returns what the subscriber may know of `rollouts_`.
    std::string visible_rollouts(const Subscriber& to) const;
    std::string event_text(const Viewer& viewer, std::uint64_t after, std::uint64_t newest) const;
    std::string id_of(std::uint64_t number) const;

    FleetWatch& fleet_;
    sys::Executor& aside_;
    sys::Executor& reads_;
    sys::Runtime& runtime_;
    const std::function<std::optional<RolloutStamps>()> read_rollouts_;
    const std::string process_;  ///< part of ids, because numbers restart with the process
    std::mutex serving_;         ///< held while subscribers are served; protects their members
    mutable std::mutex mutex_;   ///< protects the members below
    std::vector<std::shared_ptr<Subscriber>> all_;
    std::optional<RolloutStamps> rollouts_;  ///< nullopt until they were read
    bool ticking_ = false, reading_ = false;
    std::int64_t next_read_ms_ = 0, next_rollouts_ms_ = 0;
};

}  // namespace bunraku::console
