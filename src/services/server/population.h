// SPDX-License-Identifier: Apache-2.0
// The population metrics of the store: numbers of nodes and resources, and of resources that are
// no longer declared.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/counters.h"
#include "core/sys/executor.h"
#include "store/engine/query_engine.h"

namespace bunraku::server {

/// Runs a task in the background, soon after each request. Requests that arrive while one is
/// scheduled are combined. The pause between two runs is at least kPause, and long enough that the
/// task takes at most a fiftieth of the time.
class BackgroundCount {
public:
    static constexpr sys::Duration kPause = std::chrono::seconds(1);
    BackgroundCount(sys::Executor& executor, std::function<void()> count)
        : executor_(executor), count_(std::move(count)) {}
    /// Thread-safe, and does not wait.
    void request();

private:
    sys::Executor& executor_;
    std::function<void()> count_;
    std::atomic<bool> scheduled_{false};  ///< true until the scheduled run has ended
    std::atomic<bool> asked_{false};      ///< requested since the run began
    std::atomic<sys::Duration::rep> pause_{sys::Duration(std::chrono::milliseconds(200)).count()};
};

/// Registers the metrics, and counts after each change of the store and after each read of a
/// metric. A read starts a count because other servers on the same database may have changed it.
/// An idle server whose metrics nobody reads counts nothing.
///
/// The numbers of nodes and of resources come from precomputed sets (docs/design/0260). The number
/// of distinct resources and that of undeclared ones need scans, and have their own pauses so that
/// the others do not wait for them.
class Population {
public:
    explicit Population(sys::Executor& executor);
    /// Registers the metrics and starts counting. Must be called once. The metrics refer to this
    /// object.
    void start(base::Counters& counters, std::shared_ptr<store::QueryEngine> engine);
    /// Notes that the store changed. Thread-safe, and does not wait.
    void changed();

private:
    void count_nodes_and_resources();
    void count_distinct();
    void count_undeclared();

    std::atomic<std::shared_ptr<store::QueryEngine>> engine_;
    std::atomic<std::int64_t> active_{0}, inactive_{0}, resources_{0}, distinct_{0};
    std::atomic<std::int64_t> undeclared_{0};
    BackgroundCount cheap_, scan_, undeclared_scan_;
};

}  // namespace bunraku::server
