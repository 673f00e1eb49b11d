// SPDX-License-Identifier: Apache-2.0
// Server-sent events: an open page learns of new runs without a reload.
#pragma once

#include <cstdint>
#include <functional>
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

/// The open streams of all pages. One timer serves them all; it runs only while there are streams.
/// Thread-safe.
class LiveEvents {
public:
    LiveEvents(FleetWatch& fleet, sys::Executor& aside, sys::Runtime& runtime);

    /// Returns the viewer of a stream now, or nullopt if its session has ended.
    using Identify = std::function<std::optional<Viewer>()>;
    /// Opens a stream for `viewer`. `last_id` is the id of the last event that the page received,
    /// or empty. Fails if there are too many streams.
    base::Result<std::shared_ptr<http::BodyStream>> open(const Viewer& viewer,
                                                         std::string_view last_id,
                                                         Identify identify);
    std::size_t size() const;

    static constexpr std::size_t kMost = 2000, kMostOfViewer = 32;
    static constexpr sys::Duration kPause = std::chrono::seconds(1);
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
        std::uint64_t seen = 0;  ///< number of the last run that was sent
        std::int64_t opened_ms = 0, sent_ms = 0;
    };
    void schedule();
    void tick();
    void serve(Subscriber& to, std::int64_t now_ms);
    std::string event_text(const Viewer& viewer, std::uint64_t after, std::uint64_t newest) const;
    std::string id_of(std::uint64_t number) const;

    FleetWatch& fleet_;
    sys::Executor& aside_;
    sys::Runtime& runtime_;
    const std::string process_;  ///< part of ids, because numbers restart with the process
    mutable std::mutex mutex_;   ///< protects the members below
    std::vector<std::shared_ptr<Subscriber>> all_;
    bool ticking_ = false;
};

}  // namespace bunraku::console
